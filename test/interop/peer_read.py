"""Reads what Octavo wrote with zarr-python, tensorstore and the v0 reader, and says for each whether it is equal.

usage: peer_read.py FOLDER     FOLDER/manifest.json: [{"path", "npy" | "values", "version", "readers": [...]}]
                               "member" is the path inside a consolidated group, for that reader
prints one JSON row per store and reader: {"path", "reader", "equal", "detail"}
"""
import json
import os
import sys

import numpy as np

import v0_reader


def with_zarr(path, _row):
    import zarr
    return zarr.open_array(path, mode="r")[...]


def with_tensorstore(path, row):
    import tensorstore as ts
    driver = {2: "zarr", 3: "zarr3"}[row["version"]]
    kvstore = {"driver": "file", "path": os.path.abspath(path) + "/"}
    return ts.open({"driver": driver, "kvstore": kvstore}, read=True, open=True).result().read().result()


def with_consolidated(path, row):
    import zarr
    return zarr.open_consolidated(path.removesuffix(row["member"]), mode="r")[row["member"]][...]


READERS = {
    "zarr-python": with_zarr,
    "consolidated": with_consolidated,
    "tensorstore": with_tensorstore,
    "v0": lambda path, _row: v0_reader.read(path),
}


def same(got, expected):
    got = np.asarray(got)
    if got.shape != expected.shape:
        return f"shape {got.shape}, expected {expected.shape}"
    if expected.dtype == object or got.dtype.kind in "OT":
        left, right = [str(v) for v in got.ravel()], [str(v) for v in expected.ravel()]
        return "" if left == right else f"values {left[:4]}, expected {right[:4]}"
    if got.dtype.newbyteorder("<") != expected.dtype.newbyteorder("<"):
        return f"dtype {got.dtype}, expected {expected.dtype}"
    left = got.astype(expected.dtype).tobytes()
    if left != expected.tobytes():
        return f"{int((np.frombuffer(left, 'u1') != np.frombuffer(expected.tobytes(), 'u1')).sum())} bytes differ"
    return ""


def main(folder):
    with open(os.path.join(folder, "manifest.json")) as f:
        manifest = json.load(f)
    for row in manifest:
        path = os.path.join(folder, row["path"])
        if "npy" in row:
            expected = np.load(os.path.join(folder, row["npy"]), allow_pickle=False)
        else:
            expected = np.array(row["values"], dtype=object).reshape(row["shape"])
        for reader in row["readers"]:
            try:
                detail = same(READERS[reader](path, row), expected)
            except Exception as error:  # noqa: BLE001 - the row says what happened
                detail = f"{type(error).__name__}: {error}"[:300]
            print(json.dumps({"path": row["path"], "reader": reader, "equal": detail == "", "detail": detail}), flush=True)


main(sys.argv[1])
