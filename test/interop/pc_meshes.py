"""Meshes, written by cloud-volume and igneous, and read by cloud-volume.

pc_meshes.py write FOLDER     stores of every form; prints the meshes that cloud-volume reads from them
pc_meshes.py read JOBS.json   prints for each {"folder", "levels": {id: count}} the meshes that cloud-volume reads
64-bit ids are texts. A mesh is {"vertices", "faces"}, flat, for each level.
"""
import contextlib
import json
import os
import shutil
import sys

import igneous.task_creation as tc
import numpy as np
from cloudvolume import CloudVolume, Mesh
from taskqueue import LocalTaskQueue

IDS = [1, 5, 77, 2**53 + 1]


def plain(mesh):
    return {"vertices": [float(v) for v in mesh.vertices.ravel()], "faces": [int(v) for v in mesh.faces.ravel()]}


def read(folder, levels):
    """Without joining vertices, which would hide what is stored."""
    cv = CloudVolume("file://" + folder)
    out = {}
    for text, count in levels.items():
        label = int(text)
        if cv.mesh.meta.is_legacy():
            out[text] = [plain(cv.mesh.get(label, remove_duplicate_vertices=False))]
        else:
            found = [cv.mesh.get(label, lod=lod) for lod in range(count)]
            # What has no geometry is not in the answer.
            out[text] = [plain(one[label]) if label in one else {"vertices": [], "faces": []} for one in found]
    return out


def levels_of(folder):
    cv = CloudVolume("file://" + folder)
    if cv.mesh.meta.is_legacy():
        return {str(label): 1 for label in IDS}
    return {str(label): cv.mesh.get_manifest(label).num_lods for label in IDS}


def labels():
    grid = np.indices((64, 64, 64))
    out = np.zeros((64, 64, 64), dtype=np.uint64)
    for label, centre, radius in zip(IDS, [(20, 20, 20), (44, 40, 20), (30, 30, 48), (8, 52, 52)], [12, 10, 13, 5]):
        distance = sum((grid[axis] - centre[axis]) ** 2 for axis in range(3))
        out[distance < radius**2] = label
    return out


def run(tasks):
    queue = LocalTaskQueue(parallel=1, progress=False)
    queue.insert(tasks)
    queue.execute()


def volume(folder):
    CloudVolume.from_numpy(labels(), vol_path="file://" + folder, resolution=(4, 4, 40), chunk_size=(32, 32, 32),
                           layer_type="segmentation")
    return "file://" + folder


def write(root):
    told = {}
    for name, bits, sharded in (("igneous_10", 10, False), ("igneous_16", 16, False), ("igneous_sharded", 16, True)):
        folder = os.path.join(root, name)
        path = volume(folder)
        run(tc.create_meshing_tasks(path, mip=0, shape=(32, 32, 32), mesh_dir="mesh", sharded=sharded, compress=None,
                                    simplification=False, spatial_index=True))
        if sharded:
            run(tc.create_sharded_multires_mesh_tasks(path, num_lod=2, vertex_quantization_bits=bits, mesh_dir="mesh",
                                                      min_chunk_size=(8, 8, 8), progress=False))
        else:
            run(tc.create_mesh_manifest_tasks(path, magnitude=1, mesh_dir="mesh"))
            if bits == 10:
                shutil.copytree(folder, os.path.join(root, "igneous_legacy"))
            run(tc.create_unsharded_multires_mesh_tasks(path, num_lod=2, magnitude=1, mesh_dir="mesh",
                                                        vertex_quantization_bits=bits, min_chunk_size=(8, 8, 8)))
        told[name] = read(folder, levels_of(folder))
    told["igneous_legacy"] = read(os.path.join(root, "igneous_legacy"), {str(label): 1 for label in IDS})

    # cloud-volume's own upload: no info, and parts that are compressed and end in .gz.
    folder = os.path.join(root, "cloudvolume_legacy")
    path = volume(folder)
    cv = CloudVolume(path)
    cv.info["mesh"] = "mesh"
    cv.commit_info()
    cv = CloudVolume(path)
    rng = np.random.default_rng(3)
    cv.mesh.put([Mesh(rng.random((9, 3), dtype=np.float32) * 100, rng.integers(0, 9, (5, 3)).astype(np.uint32), segid=label)
                 for label in IDS], skip_delete=True)
    told["cloudvolume_legacy"] = read(folder, {str(label): 1 for label in IDS})
    return told


with contextlib.redirect_stdout(sys.stderr):
    if sys.argv[1] == "write":
        os.makedirs(sys.argv[2], exist_ok=True)
        answer = write(sys.argv[2])
    else:
        with open(sys.argv[2]) as file:
            answer = [read(job["folder"], job["levels"]) for job in json.load(file)]
print(json.dumps(answer))
