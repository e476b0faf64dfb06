"""The Python calls of docs/moving-from-zarr-vectors-py.md, made with zarr-vectors 0.9.2; what each answers, as one JSON document.

usage: zv_moving.py FOLDER

FOLDER has cells, kinds, paths, lines, graph, surfaces and planes (.zarrvectors), as on the page; `made` and `edited` are stores
that Octavo has written and edited, read here as any other.
"""
import json
import sys
import warnings

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
import zarr_vectors as zv  # noqa: E402
from zarr_vectors.types.graphs import read_graph  # noqa: E402
from zarr_vectors.types.lines import read_lines  # noqa: E402
from zarr_vectors.types.meshes import read_mesh  # noqa: E402
from zarr_vectors.types.parametric import read_parametric_objects  # noqa: E402
from zarr_vectors.types.points import read_points  # noqa: E402
from zarr_vectors.types.polylines import read_polylines  # noqa: E402
from zarr_vectors.validate import validate  # noqa: E402
from zv_dump import plain  # noqa: E402


def at(name):
    return f"{sys.argv[1]}/{name}.zarrvectors"


def rows(array):
    """Positions without their order, which is nobody's promise."""
    return sorted(map(list, array.tolist()))


def lines_of(found):
    """A polyline comes in a piece for each fragment."""
    return [np.concatenate(line).tolist() for line in found["polylines"]]


cells, cells_open = at("cells"), zv.open(at("cells"))
level = cells_open.level(0)
box = ([0, 0, 0], [50, 50, 50])
kinds = read_points(at("kinds"), attribute_names=["kind"])
CALLS = {
    "ds.format_version": lambda: ".".join(map(str, cells_open.format_version)),
    "ds.axes": lambda: [axis["name"] for axis in cells_open.axes],
    "ds.levels": lambda: [cells_open.level(number).vertex_count for number in range(len(cells_open.levels))],
    "attribute_names": lambda: sorted(level.attribute_names("object")),
    "objects.ids": lambda: [[int(i) for i in cells_open.level(number).objects.ids()] for number in (0, 1)],
    "groups": lambda: sorted(int(i) for i in level.groups.by_id(1).members),
    "read_points": lambda: rows(read_points(cells)["positions"]),
    "read_points bbox": lambda: rows(read_points(cells, bbox=box)["positions"]),
    "read_points object_ids": lambda: rows(read_points(cells, object_ids=[3, 5])["positions"]),
    "read_points group_ids": lambda: rows(read_points(cells, group_ids=[1])["positions"]),
    "select near": lambda: rows(cells_open.select(near=((50.0, 50.0, 50.0), 20.0)).read().positions),
    "texts": lambda: sorted(str(text) for text in kinds["vertex_attributes"]["kind"]),
    "read_polylines": lambda: lines_of(read_polylines(at("paths"))),
    "read_polylines object_ids": lambda: lines_of(read_polylines(at("paths"), object_ids=[2])),
    "read_lines": lambda: sorted(pair.tolist() for pair in read_lines(at("lines"))["endpoints"]),
    "read_graph": lambda: len(read_graph(at("graph"))["edges"]),
    "read_mesh": lambda: len(read_mesh(at("surfaces"))["faces"]),
    "read_parametric_objects": lambda: [
        [o["type"], o["name"], [float(c) for c in o["coefficients"].values()] if isinstance(o["coefficients"], dict)
         else [float(c) for c in o["coefficients"]]] for o in read_parametric_objects(at("planes"))],
    "made": lambda: lines_of(read_polylines(at("made"), object_ids=[10, 11])),
    "edited": lambda: lines_of(read_polylines(at("edited"), object_ids=[10, 12])),
    "validate": lambda: {name: validate(at(name), level=5).ok for name in ("made", "edited", "upgraded")},
    "upgraded": lambda: len(read_polylines(at("upgraded"))["polylines"]),
}


def answer(call):
    try:
        return plain(call())
    except Exception as error:  # noqa: BLE001  what it raises stands where its answer would
        return {"error": f"{type(error).__name__}: {error}"}


print(json.dumps({name: answer(call) for name, call in CALLS.items()}))
