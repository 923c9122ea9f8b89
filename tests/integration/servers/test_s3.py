"""The S3 server that other tests rely on: who may do what, and what a Delta log needs of it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING
from urllib.error import HTTPError
from urllib.request import urlopen

import obstore
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from obstore.exceptions import AlreadyExistsError, GenericError, PermissionDeniedError
from tests.integration.stores import aws_client, store
from tests.servers.s3 import Identity

if TYPE_CHECKING:
    from tests.servers.s3 import S3Server

ROWS = pa.table({"id": [1, 2]})


def test_delta_rs_writes_and_reads_a_table_on_the_server(s3: S3Server, bucket: str) -> None:
    uri = f"s3://{bucket}/t"
    for _ in range(2):
        write_deltalake(uri, ROWS, mode="append", storage_options=s3.options())

    table = DeltaTable(uri, storage_options=s3.options(s3.reader))
    assert table.version() == 1
    assert table.to_pyarrow_table().num_rows == 4


def test_two_credentials_see_the_same_objects(s3: S3Server, bucket: str) -> None:
    obstore.put(store(s3, bucket), "a", b"1")
    obstore.put(store(s3, bucket, s3.second), "a", b"2")

    assert obstore.get(store(s3, bucket), "a").bytes() == b"2"


@pytest.mark.parametrize("key", ["owner", "nobody"])
def test_a_wrong_secret_is_refused(s3: S3Server, bucket: str, key: str) -> None:
    with pytest.raises(PermissionDeniedError):
        obstore.put(store(s3, bucket, Identity(key, "wrong")), "a", b"")


def test_without_credentials_nothing_is_shown(s3: S3Server, bucket: str) -> None:
    obstore.put(store(s3, bucket), "a", b"")

    for path in (bucket, f"{bucket}/a"):
        with pytest.raises(HTTPError, match="403"):
            urlopen(f"{s3.endpoint}/{path}")


def test_the_reader_cannot_write(s3: S3Server, bucket: str) -> None:
    obstore.put(store(s3, bucket), "a", b"1")
    reader = store(s3, bucket, s3.reader)

    with pytest.raises(GenericError, match="501"):
        obstore.put(reader, "a", b"2")
    with pytest.raises(GenericError, match="501"):
        obstore.delete(reader, "a")
    assert obstore.get(reader, "a").bytes() == b"1"


def test_of_many_who_create_one_object_exactly_one_wins(s3: S3Server, bucket: str) -> None:
    both = [store(s3, bucket), store(s3, bucket, s3.second)]

    def create(number: int) -> int:
        try:
            obstore.put(both[number % 2], "commit", str(number).encode(), mode="create")
        except AlreadyExistsError:
            return 0
        return 1

    with ThreadPoolExecutor(16) as pool:
        assert sum(pool.map(create, range(16))) == 1


def test_an_upload_in_parts_does_not_replace_what_is_there_either(s3: S3Server, bucket: str) -> None:
    from botocore.exceptions import ClientError

    aws, where = aws_client(s3), {"Bucket": bucket, "Key": "commit"}
    obstore.put(store(s3, bucket), "commit", b"1")
    upload = aws.create_multipart_upload(**where)["UploadId"]
    tag = aws.upload_part(**where, UploadId=upload, PartNumber=1, Body=b"2")["ETag"]
    parts = {"Parts": [{"PartNumber": 1, "ETag": tag}]}

    with pytest.raises(ClientError, match="PreconditionFailed"):
        aws.complete_multipart_upload(**where, UploadId=upload, MultipartUpload=parts, IfNoneMatch="*")
    assert obstore.get(store(s3, bucket), "commit").bytes() == b"1"


def test_a_list_begins_after_the_key_it_is_given(s3: S3Server, bucket: str) -> None:
    here = store(s3, bucket)
    for number in (10, 9, 2, 1):
        obstore.put(here, f"log/{number:02}.json", b"")

    listed = obstore.list(here, "log/", offset="log/02.json").collect()
    assert [found["path"] for found in listed] == ["log/09.json", "log/10.json"]
