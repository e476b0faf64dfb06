"""Writes stores of every kind with zarr-vectors 0.9.2 or 0.2.0, each with what went in and what the reference reads.

usage: zv_write.py FOLDER [NAME…]

FOLDER/NAME/store.zarrvectors   the store
FOLDER/NAME/data.json           {"writer": the call, "input": its arguments}, arrays as {dtype, shape, data}; the same every time
FOLDER/NAME/expected.json       what zv_dump.py says of the store (the reference's own answer, where it differs from the input)
FOLDER/index.json               [{"name", "kind", "version"}]
"""
import json
import os
import shutil
import sys
import warnings

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import zarr_vectors  # noqa: E402
from zarr_vectors.composite import add_geometry  # noqa: E402
from zarr_vectors.core import store as S  # noqa: E402
from zarr_vectors.headers.registry import HeaderRegistry  # noqa: E402
from zarr_vectors.multiresolution.coarsen import build_pyramid  # noqa: E402
from zarr_vectors.sharding.io import shard_store  # noqa: E402
from zarr_vectors.types.graphs import write_graph  # noqa: E402
from zarr_vectors.types.lines import write_lines  # noqa: E402
from zarr_vectors.types.meshes import write_mesh  # noqa: E402
from zarr_vectors.types.parametric import write_parametric_objects  # noqa: E402
from zarr_vectors.types.points import write_points  # noqa: E402
from zarr_vectors.types.polylines import write_polylines  # noqa: E402
from zv_dump import document, plain  # noqa: E402

VERSION = zarr_vectors.__version__
NEW = not VERSION.startswith("0.2.")  # 0.9: compressors, shards, sparse ids, fragment attributes, edits
CHUNK = (40.0, 40.0, 40.0)
CASES = {}


def case(kind, new_only=False):
    def register(make):
        if NEW or not new_only:
            CASES[make.__name__] = (kind, make)
        return make
    return register


def random(name):
    return np.random.default_rng(list(name.encode()))


class Store:
    """The path of one store, and what is written into it."""

    def __init__(self, path):
        self.path = path
        self.calls = []

    def write(self, writer, *args, **kwargs):
        self.calls.append({"writer": writer.__name__, "input": plain({**{str(k): a for k, a in enumerate(args)}, **kwargs})})
        return writer(self.path, *args, **kwargs)


def cloud(rng, n, ndim=3, low=0.0, high=100.0):
    return rng.uniform(low, high, (n, ndim)).astype(np.float32)


def walks(rng, count, ndim=3, longest=40):
    """Lines that wander through several chunks and come back; the first has one vertex, the second two."""
    out = []
    for k in range(count):
        n = k + 1 if k < 2 else int(rng.integers(3, longest))
        steps = rng.normal(0, 7, (n, ndim))
        out.append(np.clip(rng.uniform(10, 90, ndim) + np.cumsum(steps, 0), 0.5, 99.5).astype(np.float32))
    return out


def surface(rng, n, quads=False):
    """A wavy sheet of n × n cells across the volume."""
    x, y = np.meshgrid(np.linspace(1, 99, n + 1), np.linspace(1, 99, n + 1), indexing="ij")
    z = 50 + 30 * np.sin(x / 17) * np.cos(y / 23) + rng.normal(0, 0.5, x.shape)
    index = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    a, b, c, d = (v.ravel() for v in (index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]))
    faces = np.stack([a, b, c, d], 1) if quads else np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    return np.stack([x.ravel(), y.ravel(), z.ravel()], 1).astype(np.float32), faces.astype(np.int64)


def few(rng, n):
    return {"w": rng.normal(size=n).astype("f4"), "rgb": rng.integers(0, 256, (n, 3)).astype("u1")}


def columns(rng, n):
    """One attribute of every element type that a vertex can have."""
    out = {name: rng.integers(0, 100, n).astype(name)
           for name in ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")}
    out.update({name: rng.normal(size=n).astype(name) for name in ("float16", "float32", "float64")})
    out["rgb"] = rng.integers(0, 256, (n, 3)).astype(np.uint8)
    return out


@case("points")
def points_columns(store, rng):
    positions = cloud(rng, 150)
    store.write(write_points, positions, chunk_shape=CHUNK, bin_shape=(20.0, 20.0, 40.0), vertex_attributes=columns(rng, 150))


@case("points")
def points_bins(store, rng):
    store.write(write_points, cloud(rng, 200), chunk_shape=CHUNK, bin_shape=(20.0,) * 3, vertex_attributes=few(rng, 200))


@case("points")
def points_one_chunk(store, rng):
    store.write(write_points, cloud(rng, 50))


@case("points")
def points_2d_negative(store, rng):
    store.write(write_points, cloud(rng, 120, 2, -70, 30), chunk_shape=(20.0, 40.0), vertex_attributes={"t": rng.normal(size=120).astype("f4")})


@case("points")
def points_4d(store, rng):
    store.write(write_points, cloud(rng, 90, 4), chunk_shape=(50.0,) * 4)


@case("points", new_only=True)
def points_5d(store, rng):
    S.create_store(store.path, bounds=([0.0] * 5, [100.0] * 5), chunk_shape=(50.0,) * 5,
                   axes=[{"name": n, "type": "time" if n == "t" else "space"} for n in "twzyx"])
    store.write(write_points, cloud(rng, 60, 5), chunk_shape=(50.0,) * 5)


@case("points")
def points_float64(store, rng):
    store.write(write_points, rng.uniform(0, 100, (80, 3)), chunk_shape=CHUNK, dtype="float64")


@case("points")
def points_bounds(store, rng):
    store.write(write_points, cloud(rng, 80, 3, 10, 40), chunk_shape=CHUNK, bounds=([-50.0, 0.0, 0.0], [100.0, 100.0, 60.0]))


@case("points")
def points_objects(store, rng):
    ids = rng.integers(0, 12, 200).astype(np.int64)
    store.write(write_points, cloud(rng, 200), chunk_shape=CHUNK, object_ids=ids,
                vertex_attributes={"w": rng.normal(size=200).astype("f8")},
                object_attributes={"score": rng.normal(size=12).astype("f4"), "label": np.arange(12, dtype="u2"),
                                   "axis": rng.normal(size=(12, 3)).astype("f4")},
                groups={0: [0, 2, 4], 1: [1, 3], 2: list(range(5, 12))},
                group_attributes={"colour": rng.normal(size=(3, 3)).astype("f4"), "size": np.array([3, 2, 7], "i8")})


@case("points", new_only=True)
def points_sparse_ids(store, rng):
    names = np.array([5, 42, 2**40 + 1, 2**53 + 1, 2**62 + 3], np.int64)
    store.write(write_points, cloud(rng, 100), chunk_shape=CHUNK, object_ids=names[rng.integers(0, 5, 100)],
                object_attributes={"score": rng.normal(size=5).astype("f4")}, groups={0: [5, 2**53 + 1], 1: [42]})


@case("points")
def points_strings(store, rng):
    store.write(write_points, cloud(rng, 60), chunk_shape=CHUNK,
                vertex_attributes={"type": np.array(["soma", "axon", "é世"])[rng.integers(0, 3, 60)]})


@case("points")
def points_by_attribute(store, rng):
    store.write(write_points, cloud(rng, 90), chunk_shape=(50.0,) * 3, chunk_by_attribute="gene",
                vertex_attributes={"gene": rng.integers(2, 5, 90).astype("i4"), "w": rng.normal(size=90).astype("f4")})


@case("points")
def points_not_finite(store, rng):
    w = rng.normal(size=40).astype("f4")
    w[:3] = np.nan, np.inf, -np.inf
    store.write(write_points, cloud(rng, 40), chunk_shape=(50.0,) * 3, vertex_attributes={"w": w})


@case("points", new_only=True)
def points_zstd(store, rng):
    store.write(write_points, cloud(rng, 200), chunk_shape=CHUNK, vertex_attributes=few(rng, 200), compressor="zstd")


@case("points", new_only=True)
def points_blosc(store, rng):
    store.write(write_points, cloud(rng, 200), chunk_shape=CHUNK, vertex_attributes=few(rng, 200), compressor="blosc")


@case("points", new_only=True)
def points_gzip_crc(store, rng):
    store.write(write_points, cloud(rng, 200), chunk_shape=CHUNK,
                compressor=[{"name": "gzip", "configuration": {"level": 6}}, {"name": "crc32c"}])


@case("points", new_only=True)
def points_sharded(store, rng):
    store.write(write_points, cloud(rng, 200), chunk_shape=(20.0,) * 3, vertex_attributes=few(rng, 200), shard_shape=2)


@case("points")
def points_sharded_later(store, rng):
    store.write(write_points, cloud(rng, 200), chunk_shape=CHUNK, vertex_attributes={"w": rng.normal(size=200).astype("f4")})
    if NEW:
        shard_store(store.path, shard_shape=2)
    else:
        from zarr_vectors.sharding.layout import ShardLayout
        shard_store(store.path, ShardLayout.OCTREE, 8)


@case("lines")
def lines(store, rng):
    ends = cloud(rng, 80).reshape(40, 2, 3)
    ends[:10, 1] = np.clip(ends[:10, 0] + 1, 0, 99)
    store.write(write_lines, ends, chunk_shape=CHUNK, object_attributes={"w": rng.normal(size=40).astype("f4")})


@case("polylines")
def polylines_2d(store, rng):
    store.write(write_polylines, walks(rng, 15, 2), chunk_shape=CHUNK[:2], geometry_type="polyline")


def many_lines(rng, count=30):
    paths = walks(rng, count)
    return paths, dict(vertex_attributes={"fa": [rng.uniform(size=len(p)).astype("f4") for p in paths],
                                          "dir": [rng.normal(size=(len(p), 3)).astype("f4") for p in paths]},
                       object_attributes={"length": np.array([len(p) for p in paths], "i4")},
                       groups={0: list(range(0, count, 2)), 1: list(range(1, count, 2))},
                       group_attributes={"mean": np.array([0.25, 0.75], "f4")})


@case("streamlines")
def streamlines(store, rng):
    paths, more = many_lines(rng)
    store.write(write_polylines, paths, chunk_shape=CHUNK, **more)


@case("streamlines", new_only=True)
def streamlines_sharded_zstd(store, rng):
    paths, more = many_lines(rng)
    store.write(write_polylines, paths, chunk_shape=CHUNK, compressor="zstd", shard_shape=2, **more)


def tree(rng, n):
    return cloud(rng, n), np.stack([np.arange(1, n), [int(rng.integers(max(0, k - 4), k)) for k in range(1, n)]], 1).astype(np.int64)


@case("graph")
def graph(store, rng):
    edges = rng.integers(0, 60, (120, 2))
    edges = edges[edges[:, 0] != edges[:, 1]].astype(np.int64)
    store.write(write_graph, cloud(rng, 60), edges, chunk_shape=(50.0,) * 3,
                vertex_attributes={"degree": rng.integers(0, 9, 60).astype("u1")},
                link_attributes={"w": rng.normal(size=len(edges)).astype("f4"), "uv": rng.normal(size=(len(edges), 2)).astype("f8")})


@case("graph")
def graph_objects(store, rng):
    ids = np.repeat(np.arange(4), 15).astype(np.int64)
    edges = np.concatenate([rng.integers(15 * k, 15 * k + 15, (20, 2)) for k in range(4)])
    store.write(write_graph, cloud(rng, 60), edges[edges[:, 0] != edges[:, 1]].astype(np.int64), chunk_shape=(50.0,) * 3,
                object_ids=ids, object_attributes={"score": rng.normal(size=4).astype("f4")})


@case("skeleton")
def skeleton(store, rng):
    positions, edges = tree(rng, 70)
    store.write(write_graph, positions, edges, chunk_shape=CHUNK, kind="skeleton",
                vertex_attributes={"radius": rng.uniform(size=70).astype("f4")})


@case("mesh")
def mesh(store, rng):
    vertices, faces = surface(rng, 12)
    store.write(write_mesh, vertices, faces, chunk_shape=CHUNK,
                vertex_attributes={"normal": rng.normal(size=vertices.shape).astype("f4")})


@case("mesh")
def mesh_quads(store, rng):
    vertices, faces = surface(rng, 9, quads=True)
    store.write(write_mesh, vertices, faces, chunk_shape=(50.0,) * 3)


@case("mesh")
def mesh_objects(store, rng):
    a, f = surface(rng, 6)
    b, g = surface(rng, 5)
    ids = np.concatenate([np.zeros(len(a), np.int64), np.ones(len(b), np.int64)])
    store.write(write_mesh, np.concatenate([a, b]), np.concatenate([f, g + len(a)]), chunk_shape=(50.0,) * 3, object_ids=ids,
                object_attributes={"area": np.array([1.5, 2.5], "f4")})


@case("mesh")
def mesh_draco(store, rng):
    vertices, faces = surface(rng, 8)
    store.write(write_mesh, vertices, faces, chunk_shape=(50.0,) * 3, encoding="draco")


@case("parametric")
def parametric(store, rng):
    store.write(write_parametric_objects, [
        {"type": "plane", "coefficients": [1.0, 2.0, 3.0, 4.0], "name": "p"},
        {"type": "line", "coefficients": [1.0, 2.0, 3.0, 0.0, 0.0, 1.0]},
        {"type": "sphere", "coefficients": [5.0, 6.0, 7.0, 2.5], "name": "s"},
    ], create_new_store=True, object_attributes={"w": np.array([1, 2, 3], "f4")}, groups={0: [0, 2], 1: [1]})


@case("composite")
def composite(store, rng):
    store.write(write_points, cloud(rng, 40), chunk_shape=(50.0,) * 3)
    vertices, faces = surface(rng, 4)
    store.write(add_geometry, "mesh", positions=vertices, faces=faces)
    store.write(add_geometry, "streamline", polylines=walks(rng, 5))


@case("points")
def crs_headers(store, rng):
    axes = [{"name": n, "type": "space", "unit": "micrometer"} for n in "zyx"]
    S.create_store(store.path, bounds=([0.0] * 3, [100.0] * 3), chunk_shape=(50.0,) * 3, axes=axes, crs={"name": "EPSG:4978"})
    HeaderRegistry(store.path).add("trk", {"voxel_order": "RAS", "dims": [1, 2, 3]})
    store.write(write_points, cloud(rng, 30), chunk_shape=(50.0,) * 3)


PYRAMIDS = {
    "pyramid_points": (points_bins, dict(factors=[(2.0, 1.0), (2.0, 1.0)])),
    "pyramid_objects_sparse": (points_objects, dict(factors=[(2.0, 2.0), (2.0, 2.0)], sparsity_seed=3)),
    "pyramid_streamlines": (streamlines, dict(factors=[(2.0, 1.0), (2.0, 2.0)], sparsity_seed=3)),
    "pyramid_implicit_links": (streamlines, dict(factors=[(2.0, 1.0)], cross_level_storage="implicit")),
    "pyramid_no_links": (points_one_chunk, dict(factors=[(2.0, 1.0)], cross_level_storage="none")),
    "pyramid_chunks_scaled": (points_bins, dict(factors=[(2.0, 1.0), (2.0, 1.0)], chunk_scale_factors=[2, 4])),
    "pyramid_graph": (graph, dict(factors=[(2.0, 1.0)])),
    "pyramid_mesh": (mesh, dict(factors=[(2.0, 1.0)])),
}


def pyramid(base, options):
    def make(store, rng):
        base(store, rng)
        build_pyramid(store.path, **options)
    return make


for name, (base, options) in PYRAMIDS.items():
    CASES[name] = (CASES[base.__name__][0], pyramid(base, options))


@case("streamlines", new_only=True)
def streamlines_rechunked(store, rng):
    from zarr_vectors.rechunk import rechunk_spatial

    before = Store(store.path + ".before")
    streamlines(before, rng)
    store.calls = before.calls
    rechunk_spatial(before.path, store.path, (50.0,) * 3)
    shutil.rmtree(before.path)


@case("streamlines", new_only=True)
def streamlines_owners(store, rng):
    from zarr_vectors.building import build_fragment_owner_index

    streamlines(store, rng)
    build_fragment_owner_index(store.path)


@case("streamlines", new_only=True)
def streamlines_edited(store, rng):
    from zarr_vectors.ops.edit import EditSession

    streamlines(store, rng)
    with EditSession(S.open_store(store.path, mode="r+"), atomic=False) as edit:
        edit.add_object(level=0, vertices=walks(rng, 3)[2])
        edit.remove_object(4)


def main(folder, wanted):
    rows = []
    for name in wanted or CASES:
        kind, make = CASES[name]
        place = os.path.join(folder, name)
        shutil.rmtree(place, ignore_errors=True)
        os.makedirs(place)
        store = Store(os.path.join(place, "store.zarrvectors"))
        make(store, random(name))
        for file, content in (("data.json", store.calls), ("expected.json", document(store.path, {}))):
            with open(os.path.join(place, file), "w") as out:
                json.dump(content, out, allow_nan=False)
        rows.append({"name": name, "kind": kind, "version": VERSION})
    with open(os.path.join(folder, "index.json"), "w") as out:
        json.dump(rows, out)
    print(f"{len(rows)} stores")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
