"""zarr-python or tensorstore on the benchmark's array: peer.py zarr-python|tensorstore lz4|zstd write|read DATA OUT

Prints one JSON line. Writing and reading are separate processes, so that the peak of one does not hide in the other.
"""
import json
import os
import resource
import shutil
import sys
import time

import numpy as np

who, codec, what, data, out = sys.argv[1:6]
shape, chunk = (4096, 4096, 8), (256, 256, 8)

if who == "zarr-python":
    import zarr
    from zarr.codecs import BloscCodec

    def write(a):
        z = zarr.create_array(out, shape=shape, chunks=chunk, dtype="i4",
                              compressors=[BloscCodec(cname=codec, clevel=5, shuffle="shuffle", typesize=4)])
        z[...] = a

    def read():
        return zarr.open_array(out, mode="r")[...]
else:
    import tensorstore as ts

    spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": os.path.abspath(out) + "/"},
            "context": {"cache_pool": {"total_bytes_limit": 0}}}

    def write(a):
        meta = {"shape": list(shape), "data_type": "int32",
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(chunk)}},
                "codecs": [{"name": "bytes", "configuration": {"endian": "little"}},
                           {"name": "blosc", "configuration": {"cname": codec, "clevel": 5, "shuffle": "shuffle", "typesize": 4}}]}
        z = ts.open({**spec, "metadata": meta}, create=True).result()
        z[...] = a

    def read():
        return ts.open(spec).result().read().result()


def timed(f):
    wall, cpu = time.perf_counter(), time.process_time()
    result = f()
    return time.perf_counter() - wall, time.process_time() - cpu, result


if what == "write":
    a = np.fromfile(data, "<i4").reshape(shape)
    best = None
    for _ in range(2):
        shutil.rmtree(out, ignore_errors=True)
        wall, cpu, _r = timed(lambda: write(a))
        best = (wall, cpu) if best is None else (min(best[0], wall), min(best[1], cpu))
    stored = sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(out) for f in fs)
    print(json.dumps({"wall": best[0], "cpu": best[1], "stored": stored}))
else:
    best = None
    for k in range(3):
        wall, cpu, b = timed(read)
        best = (wall, cpu) if best is None else (min(best[0], wall), min(best[1], cpu))
        if k < 2:
            del b
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    equal = bool((b == np.memmap(data, "<i4", "r", shape=shape)).all())
    print(json.dumps({"wall": best[0], "cpu": best[1], "peak": peak, "equal": equal}))
