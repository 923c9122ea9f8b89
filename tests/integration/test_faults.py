"""The proxy between tests and the S3 server: it changes nothing but what a test asks for."""

from __future__ import annotations

import http.client
import io
import os
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

import obstore
import pyarrow as pa
import pytest
from deltalake import DeltaTable, write_deltalake
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError
from obstore.store import S3Store

from tests.integration.stores import aws_client, store

if TYPE_CHECKING:
    from tests.servers.faults.client import Faults
    from tests.servers.faults.rules import Kind
    from tests.servers.s3 import S3Server

Method = Literal["GET", "HEAD", "PUT"]
Body = bytes | Iterable[bytes]
ROWS = pa.table({"id": [1, 2]})


def asked(faults: Faults, method: Method, key: str = "a", body: Body = b"", **headers: str) -> tuple[int, bytes]:
    """Send one signed request through the proxy; give its status and all of its answer."""
    url = urlsplit(obstore.sign(store(faults.s3, faults.bucket), method, key, timedelta(minutes=1)))
    connection = http.client.HTTPConnection(url.netloc, timeout=20)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, f"{url.path}?{url.query}", body, named)
    answer = connection.getresponse()
    return answer.status, answer.read()


def content(s3: S3Server, bucket: str, key: str = "a") -> bytes:
    """What the server itself holds."""
    return bytes(obstore.get(store(s3, bucket), key).bytes())


def test_delta_rs_writes_and_reads_a_table_through_the_proxy(faults: Faults) -> None:
    uri, options = f"s3://{faults.bucket}/t", faults.s3.options()
    for _ in range(3):
        write_deltalake(uri, ROWS, mode="append", storage_options=options)

    assert DeltaTable(uri, storage_options=options).to_pyarrow_table().num_rows == 6


def test_a_large_upload_in_parts_arrives_whole(faults: Faults, s3: S3Server) -> None:
    sent = os.urandom(23_000_000)
    faults.add("pass", method="PUT", path="partNumber=", times=None)

    obstore.put(store(faults.s3, faults.bucket), "large", sent, chunk_size=5 << 20)

    assert content(s3, faults.bucket, "large") == sent
    assert bytes(obstore.get(store(faults.s3, faults.bucket), "large").bytes()) == sent
    assert [seen.happened for seen in faults.seen()] == ["passed 200"] * 5


@pytest.mark.parametrize(
    ("kind", "status", "code"),
    [
        ("500", 500, b"InternalError"),
        ("503", 503, b"SlowDown"),
        ("expired", 403, b"ExpiredToken"),
        ("expired-400", 400, b"ExpiredToken"),
        ("denied", 403, b"AccessDenied"),
        ("conflict", 409, b"ConditionalRequestConflict"),
    ],
)
def test_a_refusal_reads_as_s3_writes_it_and_the_server_is_not_asked(
    faults: Faults, s3: S3Server, kind: Kind, status: int, code: bytes
) -> None:
    faults.add(kind, method="PUT")

    assert asked(faults, "PUT", body=b"1" * 100_000)[0] == status
    with pytest.raises(FileNotFoundError):
        content(s3, faults.bucket)
    faults.add(kind, method="PUT")
    assert b"<Code>%s</Code>" % code in asked(faults, "PUT")[1]
    assert [seen.happened for seen in faults.seen()] == [f"answered {status}"] * 2
    assert asked(faults, "PUT")[0] == 200


def test_the_first_requests_pass_and_so_do_those_after_the_last(faults: Faults) -> None:
    faults.add("503", method="PUT|GET", path="/a", after=1, times=2)

    assert [asked(faults, "PUT")[0] for _ in range(4)] == [200, 503, 503, 200]


def test_a_rule_meets_only_what_it_names(faults: Faults) -> None:
    faults.add("500", method="PUT", path=r"_delta_log/\d+\.json", header="if-none-match", times=None)

    assert asked(faults, "PUT", "t/_delta_log/01.json")[0] == 200
    assert asked(faults, "PUT", "t/_delta_log/02.crc", If_None_Match="*")[0] == 200
    assert asked(faults, "GET", "t/_delta_log/01.json", If_None_Match='"x"')[0] == 200
    assert asked(faults, "PUT", "t/_delta_log/02.json", If_None_Match="*")[0] == 500


def test_rules_end_with_their_test_and_reach_no_other_bucket(faults: Faults) -> None:
    other = replace(faults, bucket=faults.s3.bucket(f"{faults.bucket}-2"))
    with other:
        other.add("500", times=None)
        assert asked(faults, "PUT")[0] == 200
        assert asked(other, "PUT")[0] == 500

    assert asked(other, "PUT")[0] == 200
    assert faults.seen() == other.seen() == []


def test_a_fault_that_does_not_exist_is_refused(faults: Faults) -> None:
    with pytest.raises(ValueError, match="No fault is named '504'"):
        faults.add("504")  # type: ignore[arg-type]


def test_a_slow_answer_comes_late_and_whole(faults: Faults) -> None:
    asked(faults, "PUT", body=b"1" * 1000)
    faults.add("slow", seconds=0.3)
    faults.add("slow-body", seconds=0.3)

    for _ in range(2):
        begun = time.monotonic()
        assert asked(faults, "GET")[1] == b"1" * 1000
        assert time.monotonic() - begun > 0.3


def test_a_server_that_hangs_never_answers_and_does_nothing(faults: Faults, s3: S3Server) -> None:
    faults.add("hang", seconds=60)
    impatient = S3Store(
        faults.bucket,
        config=faults.s3.options(),  # type: ignore[arg-type]
        client_options={"timeout": "300ms"},
        retry_config={"max_retries": 0},
    )

    with pytest.raises(BaseError, match=r"timed out|timeout"):
        obstore.put(impatient, "a", b"1")
    with pytest.raises(FileNotFoundError):
        content(s3, faults.bucket)
    assert [seen.happened for seen in faults.seen()] == ["hung"]


def test_who_hangs_is_let_go_when_the_rules_are_cleared(faults: Faults) -> None:
    faults.add("hang", seconds=60)
    with ThreadPoolExecutor(1) as pool:
        hanging = pool.submit(asked, faults, "PUT")
        while not faults.seen():
            time.sleep(0.01)
        faults.clear()
        with pytest.raises(http.client.RemoteDisconnected):
            hanging.result(timeout=5)


def test_an_answer_that_is_cut_stops_in_the_middle(faults: Faults) -> None:
    asked(faults, "PUT", body=b"1" * 100_000)
    faults.add("cut", method="GET")

    with pytest.raises(http.client.IncompleteRead) as broken:
        asked(faults, "GET")
    assert len(broken.value.partial) == 50_000
    assert [seen.happened for seen in faults.seen()] == ["cut 200 after 50000 of 100000 bytes"]


def test_a_list_that_is_cut_is_no_shorter_list(faults: Faults) -> None:
    asked(faults, "PUT")
    faults.add("cut", method="GET")

    with pytest.raises(BaseError):
        obstore.list(store(faults.s3, faults.bucket)).collect()


def test_a_request_that_is_cut_leaves_nothing(faults: Faults, s3: S3Server) -> None:
    faults.add("cut-request", method="PUT")

    with pytest.raises(ConnectionError):
        asked(faults, "PUT", body=b"1" * 8_000_000)
    with pytest.raises(FileNotFoundError):
        content(s3, faults.bucket)
    assert [seen.happened for seen in faults.seen()] == ["cut after 4000000 of 8000000 bytes"]


def test_a_lost_acknowledgement_is_of_something_that_was_done(faults: Faults, s3: S3Server) -> None:
    faults.add("lost", method="PUT")

    with pytest.raises(http.client.RemoteDisconnected):
        asked(faults, "PUT", body=b"1")
    assert content(s3, faults.bucket) == b"1"
    assert [seen.happened for seen in faults.seen()] == ["lost 200"]


def test_an_acknowledgement_that_is_held_back_is_of_something_that_was_done(faults: Faults, s3: S3Server) -> None:
    faults.add("held", method="PUT", seconds=60)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(asked, faults, "PUT", body=b"1")
        while [seen.happened for seen in faults.seen()] != ["held 200"]:
            time.sleep(0.01)
        assert content(s3, faults.bucket) == b"1"
        assert not waiting.done()
        faults.clear()
        with pytest.raises(http.client.RemoteDisconnected):
            waiting.result(timeout=5)


def test_a_lost_acknowledgement_can_read_as_a_failure(faults: Faults, s3: S3Server) -> None:
    faults.add("lost-500", method="PUT")

    assert asked(faults, "PUT", body=b"1")[0] == 500
    assert content(s3, faults.bucket) == b"1"


def test_a_refusal_is_not_lost(faults: Faults) -> None:
    asked(faults, "PUT")
    faults.add("lost", method="PUT")

    assert asked(faults, "PUT", If_None_Match="*")[0] == 412
    assert [seen.happened for seen in faults.seen()] == ["passed 412"]


def test_where_conditions_are_ignored_all_who_create_win(faults: Faults, s3: S3Server) -> None:
    through = store(faults.s3, faults.bucket)
    obstore.put(through, "a", b"0", mode="create")
    with pytest.raises(AlreadyExistsError):
        obstore.put(through, "a", b"1", mode="create")
    faults.add("ignore-condition", times=None)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda number: obstore.put(through, "a", str(number).encode(), mode="create"), range(1, 5)))
    assert content(s3, faults.bucket) in (b"1", b"2", b"3", b"4")


def test_the_reader_is_refused_as_s3_refuses(faults: Faults) -> None:
    reader = store(faults.s3, faults.bucket, faults.s3.reader)
    asked(faults, "PUT", body=b"1")

    with pytest.raises(PermissionDeniedError):
        obstore.put(reader, "a", b"2")
    with pytest.raises(PermissionDeniedError):
        obstore.delete(reader, "a")
    assert obstore.get(reader, "a").bytes() == b"1"


def test_one_connection_carries_many_requests(faults: Faults) -> None:
    methods: list[Method] = ["PUT", "HEAD", "GET", "GET", "HEAD"]
    through = store(faults.s3, faults.bucket)
    urls = [urlsplit(obstore.sign(through, method, "a", timedelta(minutes=1))) for method in methods]
    connection = http.client.HTTPConnection(urls[0].netloc)
    connection.connect()
    first, answers = connection.sock, []
    faults.add("503", after=2)
    for method, url in zip(methods, urls, strict=True):
        connection.request(method, f"{url.path}?{url.query}", b"1" if method == "PUT" else None)
        answer = connection.getresponse()
        answers.append((answer.status, answer.read()))

    assert connection.sock is first
    assert [status for status, _ in answers] == [200, 200, 503, 200, 200]
    assert [body for _, body in answers[3:]] == [b"1", b""]


def test_many_connections_are_served_at_once(faults: Faults) -> None:
    faults.add("slow", times=None, seconds=0.2)
    begun = time.monotonic()

    with ThreadPoolExecutor(20) as pool:
        assert {status for status, _ in pool.map(lambda n: asked(faults, "PUT", str(n)), range(20))} == {200}
    assert time.monotonic() - begun < 2


def test_a_body_in_chunks_arrives(faults: Faults, s3: S3Server) -> None:
    assert asked(faults, "PUT", body=[b"1" * 70_000, b"2" * 10])[0] == 200
    assert content(s3, faults.bucket) == b"1" * 70_000 + b"2" * 10


def test_a_client_that_waits_for_leave_to_send_is_served(faults: Faults, s3: S3Server) -> None:
    from botocore.exceptions import ClientError

    aws = aws_client(faults.s3)
    faults.add("503", method="PUT", header="expect: 100-continue")

    with pytest.raises(ClientError, match="SlowDown"):
        aws.put_object(Bucket=faults.bucket, Key="a", Body=b"1")
    aws.put_object(Bucket=faults.bucket, Key="a", Body=io.BytesIO(b"1" * 200_000))
    assert content(s3, faults.bucket) == b"1" * 200_000
    assert [seen.happened for seen in faults.seen()] == ["answered 503"]
