"""zarr-vectors-tools 0.3.0: `write FOLDER` makes files with nibabel and plyfile, `convert JSON` runs its command once for each list of arguments."""
import json
import sys
from pathlib import Path

import numpy as np


def write(folder):
    import nibabel as nib
    import plyfile
    from nibabel.streamlines import ArraySequence, Tractogram, TrkFile

    rng = np.random.default_rng(11)
    affine = np.array([[-1.25, 0, 0, 90], [0, 1.25, 0, -126], [0, 0, 1.25, -72], [0, 0, 0, 1]])
    lines = [nib.affines.apply_affine(affine, rng.random((n, 3)) * [90, 108, 76]).astype("f4") for n in rng.integers(2, 20, 20)]
    t = Tractogram(lines, affine_to_rasmm=np.eye(4))
    t.data_per_point["fa"] = ArraySequence([rng.random((len(s), 1), dtype=np.float32) for s in lines])
    t.data_per_streamline["w"] = rng.random((20, 1), dtype=np.float32)
    header = {"voxel_to_rasmm": affine.astype("f4"), "voxel_sizes": [1.25] * 3, "dimensions": np.array([91, 109, 77], "i2"), "voxel_order": "LAS"}
    TrkFile(t, header).save(str(folder / "a.trk"))
    places = (rng.random((60, 3)) * 100).astype("f4")
    rows = np.zeros(60, dtype=[("x", "f4"), ("y", "f4"), ("z", "f4"), ("heat", "f4")])
    for axis, name in enumerate("xyz"):
        rows[name] = places[:, axis]
    rows["heat"] = rng.random(60)
    plyfile.PlyData([plyfile.PlyElement.describe(rows, "vertex")]).write(folder / "points.ply")
    faces = np.zeros(40, dtype=[("vertex_indices", "i4", (3,))])
    faces["vertex_indices"] = [rng.choice(60, 3, replace=False) for _ in range(40)]
    plyfile.PlyData([plyfile.PlyElement.describe(rows, "vertex"), plyfile.PlyElement.describe(faces, "face")]).write(folder / "mesh.ply")
    with open(folder / "mesh.obj", "w") as out:
        out.writelines(f"v {x} {y} {z}\n" for x, y, z in places.tolist())
        out.writelines(f"f {a + 1} {b + 1} {c + 1}\n" for a, b, c in faces["vertex_indices"].tolist())
    with open(folder / "points.csv", "w") as out:
        out.write("x,y,z,heat\n")
        out.writelines(f"{x},{y},{z},{h}\n" for (x, y, z), h in zip(places.tolist(), rows["heat"].tolist()))
    with open(folder / "cell.swc", "w") as out:
        for i, (x, y, z) in enumerate(places.tolist()):
            out.write(f"{i + 1} {1 if i == 0 else 3} {x} {y} {z} 0.5 {-1 if i == 0 else int(rng.integers(0, i)) + 1}\n")


def convert(runs):
    from zarr_vectors_tools.cli import main

    for arguments in json.loads(runs):
        code = main(["convert", *arguments])
        if code:
            raise SystemExit(f"{arguments} ended with {code}")


write(Path(sys.argv[2])) if sys.argv[1] == "write" else convert(sys.argv[2])
