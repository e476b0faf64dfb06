"""Edits a store with zarr-vectors 0.9.2 and says which files each edit touched.

usage: zv_edit.py STORE OPERATIONS

OPERATIONS is a JSON list; every element is an EditSession of its own: {"op", "level"? (0), "atomic"? (true, the reference's default), …}
    add_object      vertices, attrs? {name: values}
    remove_object   object (an unknown one is no error)
    edit_object     object, manifest [[chunk, fragment]…]
    add_vertex      pos, object?, position? (in the manifest), attrs?
    edit_vertex     object, index, pos?, attrs?
    remove_vertex   object, index
    add_fragment    chunk, vertices, attrs?
    edit_fragment   chunk, fragment, vertices
    split_fragment  chunk, fragment, rows [[row…], …]
    remove_fragment chunk, fragment
    add_link        endpoints [[chunk, row], [chunk, row]]
    remove_link     chunk, fragment, row, offsets?
    edit_attribute, add_attribute, remove_attribute   scope, name, value, and object | object, index | chunk, fragment
    batch           operations: several of the above in one session
and what the package offers beside sessions: vacuum, refresh (rebuilds the pyramid), owners (writes fragment_attributes/object_id).
Prints one JSON line for each element: {"result", "remap" (old object id -> new), "error"?,
    "files": {"added", "removed", "changed", "rewritten" (same bytes)}, "attributes": {"path of a zarr.json": [what changed]}}

What the reference's edits do to the files of a level (observed by hashes, streamlines with every attribute and the owner column):
- add_object: per touched chunk `vertices` and `vertex_fragments` cells; the row in `object_index/manifests` (its shape grows),
  `object_ids` (rewritten with zstd), `num_objects` and `num_present` of object_index; `fragments_tile` goes from the level.
  Not done: vertex attributes (attrs are dropped in silence, the cells stay short and the reference no longer reads them), rows
  of object attributes, links, `vertex_count`, `fragment_attributes/*`, bounds, coarse levels, the root.
- remove_object, atomic: the object stays; a new one with an empty manifest is appended. Not atomic: its manifest row is
  emptied and `num_present` falls; vertices and owner column stay as they are.
- every atomic edit of an object: a new object that shares fragments with the old one, which stays. edit_vertex and
  remove_vertex take the whole fragment for the vertex: a line of 39 vertices became one of 2 (or lost 38).
- edit_vertex, edit_fragment, not atomic: the `vertices` cell and `fragments_tile`; edit_vertex into another chunk also the
  manifest and vertex attributes (the whole fragment is emptied there, one vertex arrives here: 39 became 2 again).
- split_fragment: the fragment is emptied, two are appended. add_fragment, add_vertex without object: cells only.
- edit_attribute: one cell; of objects the whole array, recompressed. remove_attribute of an object: the sentinel.
- vacuum: ids are renumbered; manifests, object_ids, object_index and object attributes that have a row for every object are
  rewritten; groups and the owner column are not.
- a refused edit (outside the grid) has already dropped `fragments_tile`; add_link on a level without link arrays is refused.
- a second write_* into the store replaces vertices, fragments and the object index; links, attributes, groups and the owner
  column of the data before stay and are wrong.
Freshness of an owner column: none of them touches `fragment_attributes/object_id`, every one that changes a manifest rewrites
`object_index/zarr.json`, though perhaps with equal values (in-place manifest edits keep both counts) and, after the first
time, with equal bytes of the reference's own form (indented). Those that only append fragments leave the column short.
The reference itself trusts a column: after an atomic edit it no longer finds the second owner of a shared fragment.
"""
import hashlib
import json
import os
import sys
import warnings

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
from zarr_vectors.building import build_fragment_owner_index  # noqa: E402
from zarr_vectors.core import store as S  # noqa: E402
from zarr_vectors.ops.edit import EditSession  # noqa: E402
from zarr_vectors.ops.refresh import rebuild_pyramid_from_level  # noqa: E402
from zarr_vectors.ops.refs import AttributeRef, FragmentRef, LinkRef, ObjectRef, VertexRef  # noqa: E402
from zarr_vectors.ops.vacuum import vacuum  # noqa: E402
from zv_dump import plain  # noqa: E402


def snapshot(path):
    """{file: (hash, time of modification, content where it is metadata)}"""
    out = {}
    for folder, _, files in os.walk(path):
        for file in files:
            full = os.path.join(folder, file)
            with open(full, "rb") as data:
                content = data.read()
            out[os.path.relpath(full, path)] = (hashlib.sha256(content).hexdigest(), os.stat(full).st_mtime_ns,
                                                json.loads(content) if file == "zarr.json" else None)
    return out


def differences(before, after, at=""):
    if isinstance(before, dict) and isinstance(after, dict):
        return [line for key in sorted({*before, *after})
                for line in differences(before.get(key), after.get(key), f"{at}.{key}" if at else key)]
    brief = lambda v: f"{len(v)} elements" if isinstance(v, list) and len(v) > 12 else json.dumps(v)  # noqa: E731
    return [] if before == after else [f"{at}: {brief(before)} -> {brief(after)}"]


def compare(before, after):
    both = [name for name in before if name in after]
    changed = sorted(name for name in both if before[name][0] != after[name][0])
    return {
        "files": {"added": sorted({*after} - {*before}), "removed": sorted({*before} - {*after}), "changed": changed,
                  "rewritten": sorted(n for n in both if before[n][0] == after[n][0] and before[n][1] != after[n][1])},
        "attributes": {n: differences(before[n][2], after[n][2]) for n in changed if after[n][2] is not None}}


def arrays(attrs):
    return {name: np.asarray(values) for name, values in attrs.items()} if attrs else None


def apply(edit, op):
    """One operation in an open session; what the session's method answers."""
    level, name = op.get("level", 0), op["op"]
    attrs = arrays(op.get("attrs"))
    vertex = lambda: VertexRef.from_object(edit.root, level=level, object_id=op["object"], vertex_index=op["index"])  # noqa: E731
    fragment = lambda: FragmentRef(level, tuple(op["chunk"]), op["fragment"])  # noqa: E731
    if name == "batch":
        return [apply(edit, one) for one in op["operations"]]
    if name == "add_object":
        return edit.add_object(level=level, vertices=op["vertices"], attrs=attrs)
    if name == "remove_object":
        return edit.remove_object(op["object"], level=level)
    if name == "edit_object":
        return edit.edit_object(op["object"], level=level, new_manifest=[(tuple(c), f) for c, f in op["manifest"]])
    if name == "add_vertex":
        return edit.add_vertex(level=level, pos=op["pos"], attrs=attrs, object_id=op.get("object"), manifest_position=op.get("position"))
    if name == "edit_vertex":
        return edit.edit_vertex(vertex(), new_pos=op.get("pos"), new_attrs=attrs)
    if name == "remove_vertex":
        return edit.remove_vertex(vertex())
    if name == "add_fragment":
        return edit.add_fragment(level=level, chunk=tuple(op["chunk"]), vertices=op["vertices"], attrs=attrs)
    if name == "edit_fragment":
        return edit.edit_fragment(fragment(), new_vertices=op["vertices"], new_attrs=attrs)
    if name == "split_fragment":
        return edit.split_fragment(fragment(), row_partition=[np.asarray(rows) for rows in op["rows"]])
    if name == "remove_fragment":
        return edit.remove_fragment(fragment())
    if name == "add_link":
        return edit.add_link(level=level, endpoints=[(tuple(c), row) for c, row in op["endpoints"]])
    if name == "remove_link":
        offsets = tuple(tuple(o) for o in op["offsets"]) if "offsets" in op else None
        return edit.remove_link(LinkRef(level, tuple(op["chunk"]), op["fragment"], op["row"], offsets=offsets))
    if name in ("edit_attribute", "add_attribute", "remove_attribute"):
        target = {"vertex": vertex, "fragment": fragment, "object": lambda: ObjectRef(level, op["object"])}[op["scope"]]()
        ref = AttributeRef(op["scope"], op["name"], target)
        return edit.remove_attribute(ref) if name == "remove_attribute" else getattr(edit, name)(ref, op["value"])
    raise ValueError(f"no operation {name}")


def run(path, op):
    root = S.open_store(path, mode="r+")
    level, name = op.get("level", 0), op["op"]
    if name == "vacuum":
        return {"result": plain(vacuum(root))}
    if name == "refresh":
        return {"result": plain(rebuild_pyramid_from_level(root, level))}
    if name == "owners":
        return {"result": build_fragment_owner_index(path)}
    with EditSession(root, atomic=op.get("atomic", True)) as edit:
        result = apply(edit, op)
    return {"result": plain(result), "remap": plain(edit.report.oid_remap)}


def main(path, operations):
    for op in operations:
        before = snapshot(path)
        try:
            answer = run(path, op)
        except Exception as error:  # noqa: BLE001
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps({"op": op["op"], **answer, **compare(before, snapshot(path))}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
