"""zarr-vectors on the benchmark's inputs: peer.py INPUTS STORE KIND COUNT CASE

KIND and COUNT: points 1000000 | 4000000, streamlines 100000 | 25000, mesh 1000000 | 250000 (faces, about).
CASE: write, read, box (1 % of the volume), object (one, warm), objects (1,000), validate (level 5).
Prints one JSON line: {kind, count, case, wall, cpu, peak (MB), base (MB, before the case), …what was found}. One case per
process, timed after imports and, for write, after the inputs are in memory. 8 cells per axis; all else, zstd among it, is the
reference's own choice.
"""
import json
import os
import resource
import shutil
import sys
import time
import warnings

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import zarr_vectors as zv  # noqa: E402

inputs, store, kind, count, case = sys.argv[1:6]
count = int(count)
EDGE = 1000 * 0.01 ** (1 / 3)
# Of the mesh, whose vertices lie on a sphere, a box that its surface passes through; the second is for the warm run.
BOXES = [(800, 392, 392), (392, 800, 392)] if kind == "mesh" else [(300,) * 3, (500,) * 3]
BOXES = [(list(map(float, low)), [v + EDGE for v in low]) for low in BOXES]


def load(name):
    return np.load(os.path.join(inputs, name + ".npy"))


def hashed(counters, stream):
    """The same choice of objects as on the other side; see inputs.ts."""
    x = (np.asarray(counters, np.uint64) + np.uint64(stream * 0x9E3779B9)).astype(np.uint32)
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        x ^= x >> np.uint32(shift)
        x *= np.uint32(factor)
    return x ^ (x >> np.uint32(16))


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def timed(run):
    wall, cpu = time.perf_counter(), time.process_time()
    result = run()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}, result


def write():
    layout = zv.Layout(cells=8)
    schema = zv.Schema(bounds=([0.0] * 3, [1000.0] * 3), layout=layout,
                       kind={"points": "point_cloud", "streamlines": "streamline", "mesh": "mesh"}[kind])
    shutil.rmtree(store, ignore_errors=True)
    if kind == "points":
        positions, a0, a1 = (load(n)[:count].copy() for n in ("points_5m", "points_5m_a0", "points_5m_a1"))
        add = lambda to: to.add_points(positions, attributes={"a0": a0, "a1": a1}, layout=layout)  # noqa: E731
    elif kind == "streamlines":
        ends, vertices = load("streamlines_100k_offsets"), load("streamlines_100k_vertices")
        lines = [vertices[ends[i]:ends[i + 1]] for i in range(count)]
        add = lambda to: to.add_polylines(lines, streamlines=True, layout=layout)  # noqa: E731
    else:
        size = "1m" if count > 300_000 else "250k"
        vertices, faces = load(f"mesh_{size}_vertices"), load(f"mesh_{size}_faces").astype(np.int64)
        add = lambda to: to.add_mesh(vertices, faces, layout=layout)  # noqa: E731
    base = peak()
    times, _ = timed(lambda: add(zv.create(store, schema=schema)))
    sizes = [os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(store) for f in fs]
    return {**times, "base": base, "files": len(sizes), "bytes": sum(sizes)}


def found(result):
    faces = {"faces": len(result.faces)} if kind == "mesh" else {}
    return {"vertices": int(result.vertex_count), "parts": int(result.part_count), **faces}


def read():
    times, result = timed(lambda: zv.open(store).read())
    return {**times, **found(result)}


def box():
    data = []
    times, result = timed(lambda: data.append(zv.open(store)) or data[0].select(bbox=BOXES[0]).read())
    warm, _ = timed(lambda: data[0].select(bbox=BOXES[1]).read())
    return {**times, **found(result), "warm": warm}


def one():
    data = zv.open(store)
    cold, _ = timed(lambda: data.level(0).objects[count // 2])
    runs = [timed(lambda: data.level(0).objects[int(i)]) for i in hashed(np.arange(10), 31) % np.uint32(count)]
    best = {key: min(times[key] for times, _ in runs) for key in ("wall", "cpu")}
    return {**best, **found(runs[0][1]), "cold": cold}


def many():
    ids = [int(i) for i in np.unique(hashed(np.arange(1000), 30) % np.uint32(count))]
    times, result = timed(lambda: zv.open(store).level(0).objects[ids])
    return {**times, **found(result), "ids": len(ids)}


def validate():
    data = zv.open(store)
    times, result = timed(lambda: data.validate(level=5))
    return {**times, "ok": bool(result.ok), "errors": [str(e)[:200] for e in result.errors][:3]}


startup = time.process_time()
start = peak()
answer = {"write": write, "read": read, "box": box, "object": one, "objects": many, "validate": validate}[case]()
print(json.dumps({"kind": kind, "count": count, "case": case, "startup": startup, "base": start, **answer, "peak": peak()}))
