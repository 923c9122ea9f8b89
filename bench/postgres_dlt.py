"""The same load by dlt, with ConnectorX, to Delta on a filesystem; runs in dlt's own environment.

python bench/postgres_dlt.py < PLACE
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from typing import Any
from urllib.parse import quote


def load(place: dict[str, Any]) -> float:
    """Load once, into a table that is then removed."""
    folder = f"{place['folder']}/dlt"
    os.environ["DESTINATION__FILESYSTEM__BUCKET_URL"] = f"file://{folder}/out"
    os.environ["RUNTIME__DLTHUB_TELEMETRY"] = "false"
    os.environ["DLT_DATA_DIR"] = f"{folder}/data"
    import dlt
    from dlt.sources.sql_database import sql_table

    login = f"{place['user']}:{quote(place['password'], safe='')}"
    url = f"postgresql://{login}@{place['host']}:{place['port']}/{place['database']}?sslmode=disable"
    pipeline = dlt.pipeline("bench", destination="filesystem", dataset_name="bench", pipelines_dir=f"{folder}/state")
    started = time.perf_counter()
    table = sql_table(url, table="orders", backend="connectorx", backend_kwargs={"return_type": "arrow"})
    pipeline.run(table, table_format="delta", write_disposition="replace")
    took = time.perf_counter() - started
    shutil.rmtree(folder)
    return took


# Not called main: `make bench` runs every file that has one.
if __name__ == "__main__":
    print(load(json.load(sys.stdin)))
