"""The peers' side of `npm run bench convert`: peer.py CASE ARGUMENTS…; prints one JSON object. Times are taken after imports.

inputs ARRAYS FOLDER          the files that everybody converts, from the .npy files of ../zarr-vectors/inputs.ts
zvtools ARGUMENTS…            the command itself
swc FILES… STORES             zvtools makes one store of each: it cannot put several into one
skeletons-read STORE FILE     zarr-vectors reads the streamlines of a store; what cloud-volume needs goes to FILE, untimed
skeletons-write FILE FOLDER   cloud-volume writes them into shards as the info in FOLDER says
extract FILE.trk OUT.trk WHAT nibabel, the box or the numbers of streamlines in the JSON file WHAT
"""
import contextlib
import json
import os
import resource
import sys
import time

import numpy as np

LINES = 100_000


def usage():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), used.ru_utime + used.ru_stime


def timed(work):
    wall, cpu = usage()
    result = work()
    wall_after, cpu_after = usage()
    return result, {"wall": wall_after - wall, "cpu": cpu_after - cpu}


def write_trk(path, vertices, offsets, count):
    import nibabel

    lines = [vertices[offsets[i] : offsets[i + 1]] for i in range(count)]
    tractogram = nibabel.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4))
    header = {"dimensions": [1000, 1000, 1000], "voxel_sizes": [1, 1, 1], "voxel_to_rasmm": np.eye(4), "voxel_order": "RAS"}
    nibabel.streamlines.save(tractogram, path, header=header)


def write_swc(folder, count):
    """Trees of 300 to 700 nodes, of which one in twenty begins a branch."""
    r = np.random.Generator(np.random.PCG64(17))
    os.makedirs(folder, exist_ok=True)
    for number in range(count):
        nodes = int(r.integers(300, 700))
        parents = np.arange(nodes)
        branches = np.flatnonzero(r.random(nodes) < 0.05)
        parents[branches] = (r.random(len(branches)) * np.maximum(branches, 1)).astype(int)
        steps = r.normal(0, 2, (nodes, 3))
        places = np.empty((nodes, 3))
        places[0] = 100 + 800 * r.random(3)
        for i in range(1, nodes):
            places[i] = np.clip(places[max(parents[i] - 1, 0)] + steps[i], 0.5, 999.5)
        radii = 0.1 + r.random(nodes)
        with open(os.path.join(folder, f"cell{number:04}.swc"), "w") as out:
            out.write("# a tree\n")
            for i in range(nodes):
                parent = -1 if i == 0 else max(int(parents[i]), 1)
                x, y, z = places[i]
                out.write(f"{i + 1} {1 if i == 0 else 3} {x:.3f} {y:.3f} {z:.3f} {radii[i]:.3f} {parent}\n")


def inputs(arrays, folder):
    import laspy
    from plyfile import PlyData, PlyElement

    load = lambda name: np.load(os.path.join(arrays, name))
    vertices, offsets = load("streamlines_100k_vertices.npy"), load("streamlines_100k_offsets.npy")
    for name, count in (("2k.trk", 2000), ("100k.trk", LINES)):
        write_trk(os.path.join(folder, name), vertices, offsets, count)
    write_swc(os.path.join(folder, "swc"), 1000)
    points, faces = load("mesh_1m_vertices.npy"), load("mesh_1m_faces.npy")
    with open(os.path.join(folder, "1m.obj"), "w") as out:
        out.writelines(f"v {x:.9g} {y:.9g} {z:.9g}\n" for x, y, z in points.tolist())
        out.writelines(f"f {a} {b} {c}\n" for a, b, c in (faces + 1).tolist())
    points, first, second = load("points_5m.npy"), load("points_5m_a0.npy"), load("points_5m_a1.npy")
    rows = np.empty(len(points), [(name, "<f4") for name in ("x", "y", "z", "a0", "a1")])
    for name, values in zip(rows.dtype.names, (*points.T, first, second)):
        rows[name] = values
    PlyData([PlyElement.describe(rows, "vertex")], byte_order="<").write(os.path.join(folder, "5m.ply"))
    header = laspy.LasHeader(point_format=0, version="1.2")
    header.scales, header.offsets = [0.001] * 3, [0] * 3
    las = laspy.LasData(header)
    las.x, las.y, las.z = (points[:, k].astype(float) for k in range(3))
    las.intensity = (first * 65535).astype(np.uint16)
    las.classification = (second / 10).astype(np.uint8)
    las.write(os.path.join(folder, "5m.las"))


def zvtools(*arguments):
    from zarr_vectors_tools.cli import main
    import zarr_vectors_tools.convert.ingest.las  # noqa: F401
    import zarr_vectors_tools.convert.ingest.obj  # noqa: F401
    import zarr_vectors_tools.convert.ingest.ply  # noqa: F401
    import zarr_vectors_tools.convert.ingest.trk_parallel  # noqa: F401
    import zarr_vectors_tools.multiresolution.coarsen  # noqa: F401

    def work():
        with contextlib.redirect_stdout(sys.stderr):
            code = main(list(arguments))
        if code:
            raise SystemExit(code)

    return timed(work)[1]


def swc(*files):
    from zarr_vectors_tools.convert.ingest.swc import ingest_swc

    *sources, folder = files
    return timed(lambda: [ingest_swc(file, os.path.join(folder, f"{i}"), (125.0, 125.0, 125.0)) for i, file in enumerate(sources)])[1]


def skeletons_read(store, file):
    from zarr_vectors.types.polylines import read_polylines

    lines, times = timed(lambda: [np.concatenate(pieces) for pieces in read_polylines(store)["polylines"]])
    np.savez(file, vertices=np.concatenate(lines), counts=[len(line) for line in lines])
    return times


def skeletons_write(file, folder):
    from cloudvolume import Skeleton
    from cloudvolume.datasource.precomputed.sharding import ShardingSpecification, synthesize_shard_files

    arrays = np.load(file)
    lines = np.split(arrays["vertices"].astype(np.float32), np.cumsum(arrays["counts"])[:-1])
    with open(os.path.join(folder, "info")) as source:
        spec = ShardingSpecification.from_dict(json.load(source)["sharding"])

    def work():
        values = {}
        for number, line in enumerate(lines):
            ends = np.arange(len(line), dtype=np.uint32)
            edges = np.stack([ends[:-1], ends[1:]], axis=1)
            skeleton = Skeleton(vertices=line, edges=edges, segid=number, extra_attributes=[])
            values[number] = skeleton.to_precomputed()
        for name, shard in synthesize_shard_files(spec, values).items():
            with open(os.path.join(folder, name), "wb") as out:
                out.write(shard)

    return timed(work)[1]


def extract(source, target, what):
    import nibabel

    with open(what) as file:
        query = json.load(file)

    def work():
        lines = nibabel.streamlines.load(source)
        if "object" in query:
            chosen = query["object"]
        else:
            low, high = np.array(query["box"][:3]), np.array(query["box"][3:])
            inside = ((lines.streamlines._data >= low) & (lines.streamlines._data <= high)).all(axis=1)
            chosen = np.flatnonzero(np.add.reduceat(inside, lines.streamlines._offsets))
        nibabel.streamlines.save(lines.tractogram[np.asarray(chosen)], target, header=lines.header)

    return timed(work)[1]


CASES = {
    "inputs": inputs,
    "zvtools": zvtools,
    "swc": swc,
    "skeletons-read": skeletons_read,
    "skeletons-write": skeletons_write,
    "extract": extract,
}
if __name__ == "__main__":
    answer = CASES[sys.argv[1]](*sys.argv[2:]) or {}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({**answer, "peak": peak}))
