"""What zarr-vectors 0.9.2 or 0.2.0 reads from a store, one line of JSON for each store.

usage: zv_dump.py STORE [QUERIES] [STORE [QUERIES]]…

QUERIES is a JSON object, so it starts with a brace: name -> arguments of the typed reader, for example
    {"box": {"bbox": [[0, 0, 0], [5, 5, 5]]}, "two": {"object_ids": [3, 7]}, "g": {"group_ids": [1], "level": 1}}

The document, with the keys of the fixtures' expected.json:
    {"dump": {root_metadata, axes, sid_ndim, levels: {"0": {metadata, chunk_keys, chunks: {"i.j.k": {vertices_by_fragment,
        vertex_fragments, link_fragments?, vertex_attributes?, fragment_attributes?}}, object_manifests, object_id_table?,
        object_present_mask?, object_index_meta, object_attributes?, groups?, group_attributes?, links?, link_attributes?,
        cross_chunk_links?, cross_chunk_link_attributes?}}},  (link attributes of 0.2.0, which has no reader for them: bytes)
     "typed": {"all": level 0, "levels": {"1": …}, "parametric"?, "composite"?, name of a query: its answer},
     "validate_level5": {ok, passed, warnings, errors}}
Arrays are {dtype, shape, data}; floats keep every bit, NaN and infinities are strings, integers beyond 2^53 {"int": "…"}.
Whatever the reference raises stands where its answer would: {"error": "Type: message"}.
"""
import dataclasses
import json
import math
import os
import sys
import warnings

warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
from zarr_vectors.core import arrays as A, store as S  # noqa: E402

MERGED_LINKS = hasattr(A, "read_links")  # 0.9: intra-chunk and cross-chunk links are one family


def plain(value):
    if isinstance(value, np.ndarray):
        return {"dtype": str(value.dtype), "shape": list(value.shape), "data": plain(value.tolist())}
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, bytes):
        return {"hex": value.hex()}
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) > 2**53:
        return {"int": str(value)}
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict):
        return {key_of(k): plain(v) for k, v in value.items()}
    if isinstance(value, range):
        return {"range": [value.start, value.stop]}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, (set, frozenset)):
        return sorted(plain(v) for v in value)
    if dataclasses.is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return value if value is None or isinstance(value, (bool, int, float, str)) else repr(value)


def key_of(key):
    return ".".join(map(str, key)) if isinstance(key, tuple) else str(key)


def answer(call, *args, **kwargs):
    try:
        return plain(call(*args, **kwargs))
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def failed(result):
    return isinstance(result, dict) and "error" in result


def segment(delta):
    return "0" if delta == 0 else f"{delta:+d}"


def names(level, family):
    """The members of a family as they lie on the disk: 0.2.0 writes groups without metadata and then does not list them."""
    folder = os.path.join(str(level.path), family)
    return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir()) if os.path.isdir(folder) else []


def deltas(level, family):
    return [int(name) for name in names(level, family)]


def attribute_arguments(level, path):
    """0.2.0 does not look the element type and the columns up by itself."""
    meta = level.read_array_meta(path) or {}
    shape = meta.get("row_shape")
    columns = (shape[0] if shape else 1) if shape is not None else len(meta.get("channel_names") or [None])
    return {"dtype": np.dtype(meta.get("dtype", "float32")), "ncols": columns}


def fragments(index):
    return [{"range": list(index.range(i))} if index.is_range(i) else {"explicit": [int(row) for row in index.indices(i)]}
            for i in range(index.num_fragments)]


def chunk(level, at, ndim, vertex_names, fragment_names):
    dtype = np.dtype((level.read_array_meta("vertices") or {}).get("dtype", "float32"))
    out = {"vertices_by_fragment": answer(A.read_chunk_vertices, level, at, dtype=dtype, ndim=ndim),
           "vertex_fragments": answer(lambda: fragments(A.read_vertex_fragment_index(level, at)))}
    links = answer(lambda: fragments(A.read_link_fragment_index(level, at)))
    if not failed(links):
        out["link_fragments"] = links
    for family, found, read in (("vertex_attributes", vertex_names, A.read_chunk_attributes),
                                ("fragment_attributes", fragment_names, getattr(A, "read_chunk_fragment_attributes", None))):
        if found:
            out[family] = {n: answer(lambda: read(level, n, at, **attribute_arguments(level, f"{family}/{n}"))) for n in found}
    return out


def links(level, keys):
    """{links, link_attributes} and, from 0.2.0, {cross_chunk_links, cross_chunk_link_attributes}; only what is there."""
    out = {}
    for delta in deltas(level, "links"):
        at = segment(delta)
        if MERGED_LINKS:
            out.setdefault("links", {})[at] = {
                "offsets": A.list_link_offsets(level, delta),
                "family_meta": answer(level.read_array_meta, f"links/{at}"),
                "records": answer(A.read_links, level, delta=delta)}
        else:
            cells = {key_of(k): answer(A.read_chunk_links, level, k, delta=delta) for k in keys}
            out.setdefault("links", {})[at] = {k: v for k, v in cells.items() if not (failed(v) and "not found" in v["error"])}
    for name in names(level, "link_attributes"):
        for delta in deltas(level, f"link_attributes/{name}"):
            found = out.setdefault("link_attributes", {}).setdefault(name, {})
            if MERGED_LINKS:
                found[segment(delta)] = answer(A.read_link_attributes, level, name, delta=delta)
            else:
                path = f"link_attributes/{name}/{segment(delta)}"
                found[segment(delta)] = {k: answer(level.read_bytes, path, k) for k in names(level, path)}
    if not MERGED_LINKS:
        for delta in deltas(level, "cross_chunk_links"):
            out.setdefault("cross_chunk_links", {})[segment(delta)] = answer(A.read_cross_chunk_links, level, delta=delta)
        for name in names(level, "cross_chunk_link_attributes"):
            for delta in deltas(level, f"cross_chunk_link_attributes/{name}"):
                out.setdefault("cross_chunk_link_attributes", {}).setdefault(name, {})[segment(delta)] = answer(
                    A.read_cross_chunk_link_attributes, level, name, delta=delta)
    return out


def level_of(root, number, ndim):
    level = S.get_resolution_level(root, number)
    keys = A.list_chunk_keys(level)
    vertex_names, fragment_names = names(level, "vertex_attributes"), names(level, "fragment_attributes")
    out = {"metadata": answer(lambda: S.read_level_metadata(root, number).to_dict()), "chunk_keys": plain(keys),
           "chunks": {key_of(k): chunk(level, k, ndim, vertex_names, fragment_names) for k in keys},
           "object_manifests": answer(A.read_all_object_manifests, level)}
    if MERGED_LINKS:
        out["object_id_table"] = answer(A.read_object_id_table, level)
        out["object_present_mask"] = answer(A.object_present_mask, level)
    out["object_index_meta"] = answer(level.read_array_meta, "object_index")
    for name in names(level, "object_attributes"):
        out.setdefault("object_attributes", {})[name] = {
            "data": answer(A.read_object_attributes, level, name),
            "present_mask": answer(A.read_object_attribute_present_mask, level, name)}
    groups = answer(A.read_all_groupings, level)
    if not failed(groups):
        out["groups"] = groups
    for name in names(level, "group_attributes"):
        out.setdefault("group_attributes", {})[name] = answer(A.read_groupings_attributes, level, name)
    return {**out, **links(level, keys)}


def dump(root):
    meta = S.read_root_metadata(root)
    return {"root_metadata": answer(meta.to_dict), "axes": plain(meta.spatial_index_dims), "sid_ndim": meta.sid_ndim,
            "levels": {str(n): level_of(root, n, meta.sid_ndim) for n in S.list_resolution_levels(root)}}


def typed(path, root, queries):
    from zarr_vectors.composite import read_composite
    from zarr_vectors.types.graphs import read_graph
    from zarr_vectors.types.lines import read_lines
    from zarr_vectors.types.meshes import read_mesh
    from zarr_vectors.types.parametric import read_parametric_objects
    from zarr_vectors.types.points import read_points
    from zarr_vectors.types.polylines import read_polylines

    readers = {"point_cloud": read_points, "line": read_lines, "polyline": read_polylines, "streamline": read_polylines,
               "graph": read_graph, "skeleton": read_graph, "mesh": read_mesh}
    kinds = S.read_root_metadata(root).geometry_types
    out = {}
    if "parametric" in root:
        out["parametric"] = answer(read_parametric_objects, path)
    if S.list_resolution_levels(root) and "geometry_index" in S.get_resolution_level(root, 0):
        out["composite"] = answer(read_composite, path)
    elif kinds and kinds[0] in readers:
        read = readers[kinds[0]]
        out["all"] = answer(read, path)
        out["levels"] = {str(n): answer(read, path, level=n) for n in S.list_resolution_levels(root) if n > 0}
        for name, query in queries.items():
            out[name] = answer(read, path, **query)
    return out


def findings(path):
    from zarr_vectors.validate import validate

    try:
        result = validate(path, level=5)
        return {"ok": result.ok, "passed": plain(result.passed), "warnings": plain(result.warnings), "errors": plain(result.errors)}
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}"[:500]}


def document(path, queries):
    for query in queries.values():
        if "bbox" in query:
            query["bbox"] = tuple(np.asarray(corner, float) for corner in query["bbox"])
    root = S.open_store(path)
    return {"dump": dump(root), "typed": typed(path, root, queries), "validate_level5": findings(path)}


def main(args):
    while args:
        path = args.pop(0)
        queries = json.loads(args.pop(0)) if args and args[0].startswith("{") else {}
        print(json.dumps(document(path, queries), allow_nan=False))


if __name__ == "__main__":
    main(sys.argv[1:])
