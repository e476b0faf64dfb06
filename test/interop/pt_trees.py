"""Packed trees, built, loaded and asked by packingcubes: pt_trees.py JOBS.json

A job is {"positions": file of float64, "box": six numbers or null, "threshold", "write": file for the tree, "order": file for the
permutation, "load": file of a tree that was written elsewhere, "sorted": file of its particles in its order, "spheres": [[x, y, z, r]],
"boxes": [[x, y, z, dx, dy, dz]], "places": [[x, y, z]], "k"}. Prints for each job what the loaded tree answers: {"spheres": [[number]],
"boxes": [[number]], "slices": [[[start, stop, partial]]], "distances": [[distance]], "version"}.
"""
import json
import sys

import numpy as np
import packingcubes as pc


def dataset(file):
    return pc.InMemory(positions=np.fromfile(file).reshape(-1, 3))


def built(job):
    data = dataset(job["positions"])
    box = {} if job["box"] is None else {"bounding_box": np.array(job["box"])}
    tree = pc.PackedTree(dataset=data, particle_threshold=job["threshold"], **box)
    np.asarray(tree.packed_form).tofile(job["write"])
    np.asarray(data.index).astype("<u4").tofile(job["order"])


def asked(job):
    data = dataset(job["sorted"])
    tree = pc.PackedTree(source=np.fromfile(job["load"], dtype="<u4"))
    container = data.data_container
    numbers = lambda found: [int(i) for i in found]
    spheres = [dict(center=np.array(s[:3]), radius=s[3]) for s in job["spheres"]]
    return {
        "spheres": [
            numbers(tree.get_particle_index_list_in_sphere(data=container, strict=True, **sphere)) for sphere in spheres
        ],
        "boxes": [
            numbers(tree.get_particle_index_list_in_box(data=container, box=np.array(box), strict=True))
            for box in job["boxes"]
        ],
        "slices": [[numbers(one) for one in tree.get_particle_indices_in_sphere(**sphere)] for sphere in spheres],
        "distances": [
            [float(d) for d in tree.get_closest_particles(data=container, xyz=np.array(place), k=job["k"])[0]]
            for place in job["places"]
        ],
    }


out = []
for job in json.load(open(sys.argv[1])):
    built(job)
    out.append(asked(job))
print(json.dumps(out))
