"""A reader of the original Zarr format, written from its description: no release that still installs can open it.

Metadata is JSON in __zmeta__, chunks are blosc-1 files __zdata__/i.j.blosc of full chunk shape in C order, an absent file is
fill. The blosc container is decoded by numcodecs, which knows every inner codec of the format but snappy.
"""
import itertools
import json
import os

import numpy as np
from numcodecs import Blosc


def to_dtype(spec):
    if isinstance(spec, str):
        return np.dtype(spec)
    return np.dtype([(str(name), to_dtype(kind)) for name, kind in spec])


def read(path):
    with open(os.path.join(path, "__zmeta__")) as f:
        text = f.read()
    meta = json.loads(text)
    assert sorted(meta) == ["chunks", "clevel", "cname", "dtype", "fill_value", "shape", "shuffle"], sorted(meta)
    assert text == json.dumps(meta, indent=4, sort_keys=True), "the document is not what json.dump writes"
    dtype, shape, chunks = to_dtype(meta["dtype"]), tuple(meta["shape"]), tuple(meta["chunks"])
    out = np.zeros(shape, dtype)
    if meta["fill_value"] is not None:
        out[...] = np.array(meta["fill_value"]).astype(dtype) if dtype.kind != "S" else meta["fill_value"].encode("latin1")
    grid = [range((s + c - 1) // c) for s, c in zip(shape, chunks)]
    for at in itertools.product(*grid):
        file = os.path.join(path, "__zdata__", ".".join(map(str, at)) + ".blosc")
        if not os.path.exists(file):
            continue
        with open(file, "rb") as f:
            raw = f.read()
        assert raw[0] == 2, "blosc format version"
        data = bytes(Blosc().decode(raw))
        assert len(data) == int(np.prod(chunks)) * dtype.itemsize, "edge chunks are full size"
        chunk = np.frombuffer(data, dtype).reshape(chunks)
        where = tuple(slice(i * c, min((i + 1) * c, s)) for i, c, s in zip(at, chunks, shape))
        out[where] = chunk[tuple(slice(0, w.stop - w.start) for w in where)]
    return out
