"""Surfaces with trimesh, plyfile and nibabel: `write FOLDER` makes files, `read FILE…` says what is in files, as JSON."""

import json
import sys
from pathlib import Path

import nibabel as nib
import numpy as np
import plyfile
import trimesh


def ball() -> trimesh.Trimesh:
    mesh = trimesh.creation.icosphere(subdivisions=2, radius=10.0)
    return trimesh.Trimesh(mesh.vertices.astype("<f4"), mesh.faces, process=False)


def write(folder: Path) -> None:
    mesh = ball()
    vertices = mesh.vertices.astype("<f4")
    mesh.export(folder / "trimesh.ply")
    mesh.export(folder / "trimesh-ascii.ply", encoding="ascii")
    mesh.export(folder / "trimesh.obj", digits=17)
    mesh.export(folder / "trimesh.stl")
    mesh.export(folder / "trimesh-ascii.stl", file_type="stl_ascii")
    scene = trimesh.Scene()
    scene.add_geometry(mesh, node_name="ball", geom_name="ball")
    scene.add_geometry(
        trimesh.creation.box(),
        node_name="box",
        geom_name="box",
        transform=trimesh.transformations.compose_matrix(translate=[5, 6, 7], angles=[0.1, 0.2, 0.3]),
    )
    scene.export(folder / "trimesh.glb")

    rows = np.zeros(len(vertices), dtype=[("x", "f4"), ("y", "f4"), ("z", "f4"), ("nx", "f4"), ("ny", "f4"), ("nz", "f4"), ("red", "u1"), ("green", "u1"), ("blue", "u1"), ("label", "i4"), ("heat", "f8")])
    for axis, name in enumerate("xyz"):
        rows[name] = vertices[:, axis]
        rows[f"n{name}"] = mesh.vertex_normals[:, axis]
    rows["red"] = np.arange(len(rows)) % 256
    rows["label"] = -np.arange(len(rows))
    rows["heat"] = np.linspace(0, 1, len(rows))
    faces = np.zeros(len(mesh.faces), dtype=[("vertex_indices", "i4", (3,)), ("area", "f4")])
    faces["vertex_indices"] = mesh.faces
    faces["area"] = mesh.area_faces
    elements = [plyfile.PlyElement.describe(rows, "vertex"), plyfile.PlyElement.describe(faces, "face")]
    for name, text, order in (("plyfile-big", False, ">"), ("plyfile-little", False, "<"), ("plyfile-ascii", True, "=")):
        plyfile.PlyData(elements, text=text, byte_order=order, comments=["of a ball"]).write(folder / f"{name}.ply")
    plyfile.PlyData([elements[0]], byte_order=">").write(folder / "plyfile-points.ply")

    points = nib.gifti.GiftiDataArray(vertices, intent="NIFTI_INTENT_POINTSET", datatype="NIFTI_TYPE_FLOAT32", coordsys=nib.gifti.GiftiCoordSystem(dataspace=1, xformspace=3, xform=np.diag([1, 2, 3, 1])))
    triangles = nib.gifti.GiftiDataArray(mesh.faces.astype("<i4"), intent="NIFTI_INTENT_TRIANGLE", datatype="NIFTI_TYPE_INT32")
    shape = nib.gifti.GiftiDataArray(rows["heat"].astype("<f4"), intent="NIFTI_INTENT_SHAPE", datatype="NIFTI_TYPE_FLOAT32", meta={"Name": "thickness"})
    for encoding in ("GIFTI_ENCODING_B64GZ", "GIFTI_ENCODING_B64BIN", "GIFTI_ENCODING_ASCII"):
        for array in (points, triangles, shape):
            array.encoding = nib.gifti.gifti.gifti_encoding_codes[encoding]
        nib.save(nib.gifti.GiftiImage(darrays=[points, triangles, shape]), folder / f"{encoding[-3:].lower()}.surf.gii")
    info = {"head": np.array([2, 0, 20], dtype=">i4"), "valid": "1  # volume info valid", "filename": "a.mgz", "volume": [256, 256, 256], "voxelsize": [1, 1, 1], "xras": [-1, 0, 0], "yras": [0, 0, -1], "zras": [0, 1, 0], "cras": [1.5, -2.5, 3]}
    nib.freesurfer.write_geometry(folder / "lh.pial", vertices, mesh.faces, create_stamp="created by peers", volume_info=info)


def said(vertices, faces, **more):
    flat = lambda values: np.asarray(values).reshape(-1).tolist()
    return {"positions": flat(np.asarray(vertices, dtype="f4")), "links": flat(faces), **{name: flat(values) for name, values in more.items()}}


def read(path: Path):
    if path.suffix == ".gii":
        image = nib.load(path)
        arrays = {array.intent: array.data for array in image.darrays}
        more = {"thickness": arrays[2005]} if 2005 in arrays else {}
        system = image.get_arrays_from_intent("NIFTI_INTENT_POINTSET")[0].coordsys
        return said(arrays[1008], arrays[1009], matrix=system.xform, spaces=[system.dataspace, system.xformspace], **more)
    if path.name.startswith("lh."):
        vertices, faces, info, stamp = nib.freesurfer.read_geometry(path, read_metadata=True, read_stamp=True)
        return {**said(vertices, faces, cras=info["cras"]), "stamp": stamp}
    if path.suffix == ".ply" and "trimesh" not in path.name:
        data = plyfile.PlyData.read(path)
        rows = data["vertex"].data
        more = {name: rows[name] for name in rows.dtype.names if name not in "xyz"}
        faces = [] if "face" not in data else np.vstack(data["face"].data["vertex_indices"])
        if "face" in data and "area" in data["face"].data.dtype.names:
            more["area"] = data["face"].data["area"]
        return said(np.column_stack([rows[name] for name in "xyz"]), faces, **more)
    if path.suffix in (".glb", ".gltf"):
        scene = trimesh.load_scene(path, process=False)
        out = {}
        for node in scene.graph.nodes_geometry:
            matrix, name = scene.graph[node]
            mesh = scene.geometry[name].copy()
            mesh.apply_transform(matrix)
            out[node] = said(mesh.vertices, mesh.faces)
        return out
    mesh = trimesh.load_mesh(path, process=False)
    return said(mesh.vertices, mesh.faces)


if sys.argv[1] == "write":
    write(Path(sys.argv[2]))
else:
    print(json.dumps({Path(name).name: read(Path(name)) for name in sys.argv[2:]}))
