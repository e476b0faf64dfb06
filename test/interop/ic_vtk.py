"""Polydata by VTK itself: `write FOLDER` makes files, `read FILE…` says what is in them, as VTK sees it."""
import json
import sys
from pathlib import Path

import numpy as np
import vtk
from vtk.util.numpy_support import numpy_to_vtk, vtk_to_numpy


def polydata(kind):
    rng = np.random.default_rng(3)
    points = vtk.vtkPoints()
    places = (rng.random((30, 3)) * 100).astype(np.float32)
    points.SetData(numpy_to_vtk(places, deep=True))
    cells = vtk.vtkCellArray()
    sizes = {"lines": [5, 2, 9, 14], "polys": [3] * 20, "verts": [1] * 30}[kind]
    start = 0
    for i, size in enumerate(sizes):
        cells.InsertNextCell(size)
        ids = range(start, start + size) if kind != "polys" else rng.choice(30, 3, replace=False)
        for place in ids:
            cells.InsertCellPoint(int(place))
        start += size
    data = vtk.vtkPolyData()
    data.SetPoints(points)
    {"lines": data.SetLines, "polys": data.SetPolys, "verts": data.SetVerts}[kind](cells)
    for name, values in (("heat", rng.random(30)), ("label", rng.integers(-9, 9, 30, dtype=np.int16)), ("dir", rng.random((30, 3), dtype=np.float32))):
        array = numpy_to_vtk(values, deep=True)
        array.SetName(name)
        data.GetPointData().AddArray(array)
    if kind != "verts":
        array = numpy_to_vtk(rng.random(len(sizes)), deep=True)
        array.SetName("w")
        data.GetCellData().AddArray(array)
    return data


def write(folder):
    for kind in ("lines", "polys", "verts"):
        data = polydata(kind)
        for name, text, version in (("bin", False, 42), ("text", True, 42), ("new", False, 51)):
            writer = vtk.vtkPolyDataWriter()
            writer.SetFileName(str(folder / f"{kind}-{name}.vtk"))
            writer.SetFileVersion(version)
            writer.SetFileTypeToASCII() if text else writer.SetFileTypeToBinary()
            writer.SetInputData(data)
            writer.Write()
        for name in ("ascii", "binary", "appended"):
            writer = vtk.vtkXMLPolyDataWriter()
            writer.SetFileName(str(folder / f"{kind}-{name}.vtp"))
            getattr(writer, f"SetDataModeTo{name.capitalize()}")()
            writer.SetInputData(data)
            writer.Write()


def told(path):
    reader = vtk.vtkXMLPolyDataReader() if path.suffix == ".vtp" else vtk.vtkPolyDataReader()
    if path.suffix == ".vtk":
        for all_of in ("Scalars", "Vectors", "Normals", "Tensors", "TCoords", "Fields", "ColorScalars"):
            getattr(reader, f"ReadAll{all_of}On")()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    cells = {}
    for name, array in (("lines", data.GetLines()), ("polys", data.GetPolys()), ("verts", data.GetVerts())):
        ids = vtk.vtkIdList()
        array.InitTraversal()
        rows = []
        while array.GetNextCell(ids):
            rows.append([ids.GetId(i) for i in range(ids.GetNumberOfIds())])
        cells[name] = rows
    arrays = lambda own: {own.GetArrayName(i): [str(vtk_to_numpy(own.GetArray(i)).dtype), vtk_to_numpy(own.GetArray(i)).reshape(-1).tolist()] for i in range(own.GetNumberOfArrays())}
    places = vtk_to_numpy(data.GetPoints().GetData())
    return {"points": [str(places.dtype), places.reshape(-1).tolist()], "cells": cells, "point": arrays(data.GetPointData()), "cell": arrays(data.GetCellData())}


if sys.argv[1] == "write":
    write(Path(sys.argv[2]))
else:
    print(json.dumps({Path(name).name: told(Path(name)) for name in sys.argv[2:]}))
