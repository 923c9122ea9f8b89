from __future__ import annotations

import pytest

from deltaworks.errors import SetupError
from deltaworks.lake.folder import folder_at
from deltaworks.vault.storage import Sources, access_to

# Nothing listens on port 1, and nobody waits for it.
NOBODY = {
    "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
    "AWS_ACCESS_KEY_ID": "nobody",
    "AWS_SECRET_ACCESS_KEY": "nothing",
    "max_retries": "0",
}
ORDERS = "s3a://bucket/orders"


def test_storage_that_does_not_answer_is_named_with_the_cause() -> None:
    with pytest.raises(SetupError) as caught:
        folder_at(ORDERS, access_to(ORDERS, Sources(given=NOBODY))).names("_delta_log")

    assert str(caught.value) == "s3a://bucket/orders cannot be reached: Connection refused"


def test_storage_that_does_not_answer_is_not_taken_for_missing_files() -> None:
    with pytest.raises(SetupError, match="Connection refused"):
        folder_at(ORDERS, access_to(ORDERS, Sources(given=NOBODY))).missing(["a.parquet"])
