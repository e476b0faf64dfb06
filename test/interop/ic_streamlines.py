"""Streamlines by nibabel and trx-python: `write FOLDER` makes files, `read FILE…` says what is in them, as nibabel and trx-python see it."""
import gzip
import hashlib
import json
import sys
import warnings
import zipfile
from pathlib import Path

import nibabel as nib
import numpy as np
from nibabel.streamlines import ArraySequence, Tractogram, TrkFile, TckFile
from trx import trx_file_memmap as tmm

warnings.simplefilter("ignore")
rng = np.random.default_rng(7)


def streamlines(count, scale=60.0):
    lengths = rng.integers(1, 40, size=count)
    return [(rng.normal(size=(n, 3)) * scale + 20).astype(np.float32) for n in lengths]


AFFINES = {
    "ras": np.diag([2.0, 2.0, 2.0, 1.0]),
    "las": np.array([[-1.25, 0, 0, 90], [0, 1.25, 0, -126], [0, 0, 1.25, -72], [0, 0, 0, 1]]),
    "pir": np.array([[0, 0, 0.9, -80], [-0.9, 0, 0, 100], [0, -1.1, 0, 60], [0, 0, 0, 1]]),
    "oblique": nib.affines.from_matvec(
        nib.eulerangles.euler2mat(0.3, -0.2, 0.15) @ np.diag([0.9, 1.1, 1.3]), [-80.3, -110.7, -45.2]
    ),
}


def within(affine, count):
    """Streamlines inside of the image."""
    lengths = rng.integers(1, 40, size=count)
    return [nib.affines.apply_affine(affine, rng.random((n, 3)) * [90, 108, 76]).astype(np.float32) for n in lengths]


def trk(path, affine, order=None, attributes=True, count=50):
    lines = within(affine, count)
    t = Tractogram(lines, affine_to_rasmm=np.eye(4))
    if attributes:
        t.data_per_point["fa"] = ArraySequence([rng.random((len(s), 1), dtype=np.float32) for s in lines])
        t.data_per_point["rgb"] = ArraySequence([rng.random((len(s), 3), dtype=np.float32) for s in lines])
        t.data_per_streamline["w"] = rng.random((count, 1), dtype=np.float32)
        t.data_per_streamline["end"] = rng.random((count, 2), dtype=np.float32)
    header = {
        "voxel_to_rasmm": affine.astype(np.float32),
        "voxel_sizes": nib.affines.voxel_sizes(affine),
        "dimensions": np.array([91, 109, 77], np.int16),
        "voxel_order": order or "".join(nib.aff2axcodes(affine)),
    }
    TrkFile(t, header).save(str(path))


def changed(path, name, **fields):
    """A copy of a TRK with other values in its header."""
    from nibabel.streamlines.trk import header_2_dtype

    raw = bytearray(path.read_bytes())
    header = np.frombuffer(raw, header_2_dtype, count=1)
    for key, value in fields.items():
        header[key] = value
    path.with_name(name).write_bytes(raw)


def big_endian(path, name):
    from nibabel.streamlines.trk import header_2_dtype

    raw = path.read_bytes()
    header = np.frombuffer(raw, header_2_dtype, count=1)
    data = np.frombuffer(raw, "<u4", offset=1000).astype(">u4")
    path.with_name(name).write_bytes(header.astype(header_2_dtype.newbyteorder(">")).tobytes() + data.tobytes())


def trx(path, dtype, offsets, compression=zipfile.ZIP_STORED):
    lines = streamlines(40, 10)
    total = sum(map(len, lines))
    folder = path.with_suffix(".folder")
    for name in ("dpv", "dps", "groups", "dpg/left", "dpg/right"):
        (folder / name).mkdir(parents=True)
    np.concatenate(lines).astype(dtype).tofile(folder / f"positions.3.{np.dtype(dtype).name}")
    np.cumsum([0] + [len(s) for s in lines]).astype(offsets).tofile(folder / f"offsets.{np.dtype(offsets).name}")
    rng.random((total, 2), dtype=np.float32).tofile(folder / "dpv" / "two.2.float32")
    rng.integers(0, 255, total, dtype=np.uint8).tofile(folder / "dpv" / "byte.uint8")
    rng.integers(-(2**62), 2**62, 40, dtype=np.int64).tofile(folder / "dps" / "big.int64")
    rng.random(40).astype(np.float16).tofile(folder / "dps" / "half.float16")
    np.array([0, 5, 39], np.uint32).tofile(folder / "groups" / "left.uint32")
    np.array([1, 5], np.uint32).tofile(folder / "groups" / "right.uint32")
    np.array([0.5], np.float32).tofile(folder / "dpg" / "left" / "mean.float32")
    np.array([0.25], np.float32).tofile(folder / "dpg" / "right" / "mean.float32")
    header = {
        "DIMENSIONS": [91, 109, 77],
        "VOXEL_TO_RASMM": AFFINES["oblique"].astype(np.float32).tolist(),
        "NB_VERTICES": total,
        "NB_STREAMLINES": 40,
    }
    (folder / "header.json").write_text(json.dumps(header))
    tmm.zip_from_folder(str(folder), str(path), compression)


def write(folder):
    for name, affine in AFFINES.items():
        trk(folder / f"{name}.trk", affine)
        trk(folder / f"{name}-lps.trk", affine, "LPS", attributes=False)
    changed(folder / "las.trk", "uncounted.trk", nb_streamlines=0)
    changed(folder / "las.trk", "old.trk", version=1, voxel_order=b"")
    changed(folder / "las.trk", "unnamed.trk", scalar_name=b"", property_name=b"")
    big_endian(folder / "oblique.trk", "big.trk")
    TckFile(Tractogram(streamlines(50), affine_to_rasmm=np.eye(4)), {"method": "TensorDet"}).save(str(folder / "a.tck"))
    for name in ("las.trk", "a.tck"):
        (folder / f"packed-{name}.gz").write_bytes(gzip.compress((folder / name).read_bytes()))
    trx(folder / "half.trx", np.float16, np.uint32)
    trx(folder / "single.trx", np.float32, np.uint64)
    trx(folder / "double.trx", np.float64, np.uint64, zipfile.ZIP_DEFLATED)


def array(values):
    values = np.ascontiguousarray(values, dtype=np.asarray(values).dtype.newbyteorder("<"))
    return [values.dtype.name, values.size, hashlib.sha1(values.tobytes()).hexdigest()]


def read(path):
    if path.endswith(".trx"):
        t = tmm.load(path)
        lines, points, properties = t.streamlines, t.data_per_vertex, t.data_per_streamline
        points = {k: v._data for k, v in points.items()}
        groups = {k: np.asarray(v).tolist() for k, v in t.groups.items()}
        dpg = {g: {k: array(v) for k, v in d.items()} for g, d in t.data_per_group.items()}
    else:
        f = nib.streamlines.load(path)
        lines, groups, dpg = f.streamlines, {}, {}
        points = {k: v.get_data() for k, v in f.tractogram.data_per_point.items()}
        properties = dict(f.tractogram.data_per_streamline)
    data = lines._data if path.endswith(".trx") else lines.get_data()
    return {
        "positions": array(data),
        "lengths": [len(s) for s in lines],
        "vertex": {k: array(v) for k, v in points.items()},
        "object": {k: array(v) for k, v in properties.items()},
        "groups": groups,
        "dpg": dpg,
    }


if sys.argv[1] == "write":
    write(Path(sys.argv[2]))
else:
    print(json.dumps({Path(path).name: read(path) for path in sys.argv[2:]}))
