"""Skeletons and annotations, written and read by cloud-volume, tensorstore and Neuroglancer's Python.

pc_vectors.py write FOLDER    stores of every kind; prints what is in them
pc_vectors.py read JOBS.json  prints for each {"kind", "folder", "ids", ...} what each reader makes of it
64-bit ids are texts.
"""
import json
import os
import struct
import sys

import numpy as np
import tensorstore as ts
import neuroglancer
from cloudvolume import CloudVolume, Skeleton, from_cloudpath
from neuroglancer import write_annotations
from neuroglancer.read_precomputed_annotations import AnnotationReader

MURMUR = {"@type": "neuroglancer_uint64_sharded_v1", "hash": "murmurhash3_x86_128", "preshift_bits": 0, "minishard_bits": 2,
          "shard_bits": 1, "minishard_index_encoding": "gzip", "data_encoding": "gzip"}
IDS = [1, 17, 2**53 + 1, 2**63, 2**64 - 1]
SPACE = neuroglancer.CoordinateSpace(names=["x", "y", "z"], units=["m", "m", "m"], scales=[4e-9, 4e-9, 4e-8])
ATTRIBUTES = [{"id": "radius", "data_type": "float32", "num_components": 1},
              {"id": "kind", "data_type": "uint8", "num_components": 1}]
TYPES = {"point": 1, "line": 2, "axis_aligned_bounding_box": 2, "ellipsoid": 2, "polyline": 3}


def plain(value):
    if isinstance(value, np.ndarray):
        return [plain(one) for one in value.tolist()]
    return value.item() if isinstance(value, np.generic) else value


def sharded(folder, spec):
    return ts.KvStore.open({"driver": "neuroglancer_uint64_sharded", "metadata": spec,
                            "base": {"driver": "file", "path": folder + "/"}}).result()


def volume(folder, skeletons):
    info = CloudVolume.create_new_info(num_channels=1, layer_type="segmentation", data_type="uint64", encoding="raw",
                                       resolution=[4, 4, 40], voxel_offset=[0, 0, 0], chunk_size=[64, 64, 64],
                                       volume_size=[64, 64, 64], skeletons="skeletons")
    cv = CloudVolume("file://" + folder, info=info)
    cv.commit_info()
    if skeletons is not None:
        cv.skeleton.meta.info.update(skeletons)
        cv.skeleton.meta.commit_info()
    return cv


def drawn(rng, number):
    count = 2 + number
    return Skeleton(vertices=rng.integers(0, 4096, (count, 3)).astype(np.float32) / 4,
                    edges=np.array([[i, i + 1] for i in range(count - 1)], dtype=np.uint32),
                    radii=np.arange(count, dtype=np.float32) / 8, segid=IDS[number],
                    extra_attributes=ATTRIBUTES)


def write_skeletons(folder):
    told = {}
    for name in ("cv", "ts"):
        rng = np.random.default_rng(3)
        root = os.path.join(folder, f"skeletons_{name}")
        info = {"@type": "neuroglancer_skeletons", "transform": [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0],
                "vertex_attributes": ATTRIBUTES}
        cv = volume(root, info)
        skeletons = []
        for number in range(len(IDS)):
            skeleton = drawn(rng, number)
            skeleton.kind = np.arange(len(skeleton.vertices), dtype=np.uint8)
            skeletons.append(skeleton)
        target = os.path.join(root, "skeletons")
        if name == "cv":
            cv.skeleton.upload(skeletons)  # in files, compressed: their names end in .gz
        else:
            store = sharded(target, MURMUR)
            with ts.Transaction() as transaction:
                for skeleton in skeletons:
                    store.with_transaction(transaction)[struct.pack(">Q", int(skeleton.id))] = skeleton.to_precomputed()
            with open(os.path.join(target, "info"), "w") as file:
                json.dump(dict(info, sharding=MURMUR), file)
        told[name] = {str(one.id): {"vertices": plain(one.vertices.ravel()), "edges": plain(one.edges.ravel()),
                                    "radius": plain(one.radii), "kind": plain(one.kind)} for one in skeletons}
    return told


def write_points(folder):
    """By the released writer; with uint32 it misplaces values."""
    told = {}
    for kind, points in TYPES.items():
        for flawed in (False, True):
            rng = np.random.default_rng(5)
            types = ["uint8", "float32", "rgb", "int16", "rgba", "int8", "uint16", "int32"] + (["uint32"] if flawed else [])
            properties = [neuroglancer.AnnotationPropertySpec(id=f"p_{own}", type=own) for own in types]
            writer = write_annotations.AnnotationWriter(SPACE, kind, relationships=["seg", "pre and post"],
                                                        properties=properties)
            records = []
            for number, annotation in enumerate(IDS):
                geometry = (rng.integers(1, 4000, (points, 3)) / 4).astype(np.float32)
                values = {}
                for own in types:
                    if own in ("rgb", "rgba"):
                        values["p_" + own] = [int(v) for v in rng.integers(0, 256, len(own))]
                    elif own == "float32":
                        values["p_" + own] = float(rng.integers(-99, 99)) / 8
                    else:
                        limits = np.iinfo(own)
                        values["p_" + own] = int(rng.integers(limits.min, limits.max, endpoint=True))
                related = {"seg": [2**64 - 1 - number, 5][: number % 3], "pre and post": []}
                add = {"point": "add_point", "line": "add_line", "ellipsoid": "add_ellipsoid", "polyline": "add_polyline",
                       "axis_aligned_bounding_box": "add_axis_aligned_bounding_box"}[kind]
                arguments = [geometry] if kind == "polyline" else list(geometry)
                getattr(writer, add)(*arguments, id=annotation, **values, **related)
                records.append({"id": str(annotation), "points": plain(geometry.ravel()), "properties": values,
                                "related": {name: [str(own) for own in ids] for name, ids in related.items()}})
            name = f"{kind}{'_flawed' if flawed else ''}"
            writer.write(os.path.join(folder, name))
            told[name] = records
    return told


def read_skeletons(job):
    cv = CloudVolume("file://" + job["folder"])
    out = {}
    for text in job["ids"]:
        one = cv.skeleton.get(int(text))
        out[text] = {"vertices": plain(one.vertices.ravel()), "edges": plain(one.edges.ravel()),
                     **{name: plain(np.asarray(getattr(one, name)).ravel()) for name in job["attributes"]}}
    readers = {"cloud-volume": out}
    if job.get("sharding"):
        store = sharded(os.path.join(job["folder"], "skeletons"), job["sharding"])
        found = {str(struct.unpack(">Q", key)[0]): store[key].hex() for key in store.list().result()}
        readers["tensorstore"] = found
    return readers


def geometry_of(one):
    for names in (["point"], ["point_a", "point_b"], ["center", "radii"], ["points"]):
        if all(hasattr(one, name) for name in names):
            return plain(np.concatenate([np.asarray(getattr(one, name), dtype=np.float64).ravel() for name in names]))


def read_annotations(job):
    reader = AnnotationReader("file://" + job["folder"] + "/")
    named = [own.id for own in reader.properties]
    told = lambda one: {"points": geometry_of(one), "properties": dict(zip(named, [plain(v) for v in one.props]))}
    by_id = {}
    for text in job["ids"]:
        one = reader.by_id[int(text)]
        by_id[text] = {**told(one), "related": [[str(v) for v in ids] for ids in one.segments]}
    related = {f"{name} {text}": sorted(one.id for one in reader.relationships[name][int(text)])
               for name, text in job["related"]}
    cells = []
    for level in reader.spatial:
        shape = level.metadata["grid_shape"]
        cells.append([[list(cell), sorted(one.id for one in level[cell])] for cell in np.ndindex(*shape) if cell in level])
    out = {"neuroglancer": {"byId": by_id, "related": related, "cells": cells}}
    if job["type"] == "point":
        source = from_cloudpath("file://" + job["folder"])
        out["cloud-volume"] = {}
        for text in job["ids"]:
            one = source.get_by_id([int(text)])
            one = one[int(text)] if isinstance(one, dict) else one
            properties = {name: plain(np.asarray(value).ravel()) for name, value in one.properties.items()}
            out["cloud-volume"][text] = {"points": plain(np.asarray(one.geometry, dtype=np.float64).ravel()),
                                         "properties": properties}
    return out


if sys.argv[1] == "write":
    os.makedirs(sys.argv[2], exist_ok=True)
    print(json.dumps({"skeletons": write_skeletons(sys.argv[2]), "annotations": write_points(sys.argv[2])}))
else:
    with open(sys.argv[2]) as file:
        jobs = json.load(file)
    print(json.dumps([read_skeletons(job) if job["kind"] == "skeletons" else read_annotations(job) for job in jobs]))
