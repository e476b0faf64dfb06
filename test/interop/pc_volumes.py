"""Volumes, written and read by tensorstore and cloud-volume.

pc_volumes.py write FOLDER        a volume for each encoding, element type and sharding; prints [{name, npy}]
pc_volumes.py read JOBS.json      prints for each {"folder"} what both read: {reader: path of .npy, or an error}
pc_volumes.py same JOBS.json      prints for each {"folder"} which chunk files tensorstore would write differently
pc_volumes.py coarser JOBS.json   prints for each {"folder"} which scales are not what tensorstore makes of the one before
Arrays are [x, y, z, channel].
"""
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import tensorstore as ts

rng = np.random.default_rng(7)
IDENTITY = {"@type": "neuroglancer_uint64_sharded_v1", "hash": "identity", "preshift_bits": 1, "minishard_bits": 1,
            "shard_bits": 2, "minishard_index_encoding": "gzip", "data_encoding": "gzip"}
MURMUR = dict(IDENTITY, hash="murmurhash3_x86_128", preshift_bits=0, minishard_bits=2, shard_bits=1, data_encoding="raw",
              minishard_index_encoding="raw")


def drawn(size, channels, dtype):
    """Labels in runs; of images, waves."""
    dtype = np.dtype(dtype)
    if dtype.itemsize >= 4 and dtype.kind == "u":
        labels = rng.integers(0, np.iinfo(dtype).max, 9, dtype=dtype)
        cells = rng.integers(0, 9, [-(-n // 5) for n in size] + [channels])
        for axis in range(3):
            cells = np.repeat(cells, 5, axis)
        return labels[cells[: size[0], : size[1], : size[2]]]
    x, y, z = np.mgrid[: size[0], : size[1], : size[2]]
    waves = np.stack([np.sin(x / (3 + c) + y / 5 + z / 7) for c in range(channels)], -1) + rng.normal(0, 0.05, [*size, channels])
    if dtype.kind == "f":
        return waves.astype(dtype)
    info = np.iinfo(dtype)
    return np.clip((waves + 1.2) / 2.4 * (info.max - info.min) + info.min, info.min, info.max).astype(dtype)


def opened(folder, scale=0, **more):
    return ts.open({"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": str(folder) + "/"},
                    "scale_index": scale}, **more).result()


def write_tensorstore(folder, array, offset, encoding, extra, sharding):
    volume = {"type": "segmentation" if encoding == "compressed_segmentation" else "image", "data_type": array.dtype.name,
              "num_channels": array.shape[3]}
    scale = {"size": list(array.shape[:3]), "voxel_offset": offset, "resolution": [4, 4, 40], "chunk_size": [8, 7, 6],
             "encoding": encoding, **extra, **({"sharding": sharding} if sharding else {})}
    store = ts.open({"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": str(folder) + "/"},
                     "multiscale_metadata": volume, "scale_metadata": scale}, create=True).result()
    transaction = ts.Transaction()
    store.with_transaction(transaction).write(array).result()
    transaction.commit_sync()
    return opened(folder).read().result()


def write_cloudvolume(folder, array, offset, encoding, extra, compress):
    from cloudvolume import CloudVolume

    info = CloudVolume.create_new_info(
        num_channels=array.shape[3], layer_type="segmentation" if array.dtype.itemsize >= 4 else "image",
        data_type=array.dtype.name, encoding=encoding, resolution=[4, 4, 40], voxel_offset=offset,
        volume_size=list(array.shape[:3]), chunk_size=[8, 7, 6])
    info["scales"][0].update(extra)
    volume = CloudVolume("file://" + str(folder), info=info, compress=compress, bounded=True, progress=False)
    volume.commit_info()
    volume[:] = array
    if encoding == "jpeg" and array.shape[3] == 3:
        # cloud-volume 12.15.2 takes the colours of a pixel for voxels in a row; tensorstore reads what it wrote.
        return opened(folder).read().result() if compress is False else None
    return np.asarray(CloudVolume("file://" + str(folder), progress=False)[:])


def write(folder):
    rows = []
    block = {"compressed_segmentation_block_size": [4, 3, 2]}
    kinds = [("raw", {}, d, c) for d in ["uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "float32"] for c in [1, 2]]
    kinds += [("compressed_segmentation", block, d, c) for d in ["uint32", "uint64"] for c in [1, 3]]
    kinds += [("png", {}, d, c) for d in ["uint8", "uint16"] for c in [1, 2, 3, 4]]
    kinds += [("jpeg", {"jpeg_quality": 80}, "uint8", c) for c in [1, 3]]
    for encoding, extra, dtype, channels in kinds:
        array = drawn([21, 17, 13], channels, dtype)
        for how, sharding in [("files", None), ("identity", IDENTITY), ("murmur", MURMUR)]:
            name = f"ts_{encoding}_{dtype}x{channels}_{how}"
            rows.append((name, write_tensorstore(Path(folder) / name, array, [-3, 5, 40], encoding, extra, sharding)))
        if channels in (1, 3) or encoding == "raw":
            for compress in [False, "gzip"]:
                name = f"cv_{encoding}_{dtype}x{channels}_{compress or 'plain'}"
                try:
                    found = write_cloudvolume(Path(folder) / name, array, [-3, 5, 40], encoding, dict(extra), compress)
                    rows.append((name, rows[-1][1] if found is None else found))
                except Exception as error:  # what cloud-volume itself cannot write says nothing about us
                    print(name, type(error).__name__, str(error)[:100], file=sys.stderr)
    manifest = []
    for name, array in rows:
        np.save(Path(folder) / f"{name}.npy", np.ascontiguousarray(array))
        manifest.append({"name": name, "npy": f"{name}.npy"})
    return manifest


def read_cloudvolume(folder):
    from cloudvolume import CloudVolume

    return np.asarray(CloudVolume("file://" + folder, progress=False, fill_missing=True)[:])


def read(folder):
    found = {}
    for name, reader in [("tensorstore", lambda: opened(folder).read().result()), ("cloudvolume", lambda: read_cloudvolume(folder))]:
        try:
            path = f"{folder}.{name}.npy"
            np.save(path, np.ascontiguousarray(reader()))
            found[name] = path
        except Exception as error:
            found[name] = {"error": f"{type(error).__name__}: {str(error)[:300]}"}
    return found


def same(folder):
    """Chunks in files of their own that tensorstore writes with other bytes, or under another name."""
    info = json.loads((Path(folder) / "info").read_text())
    scale = info["scales"][0]
    with tempfile.TemporaryDirectory() as other:
        array = opened(folder).read().result()
        extra = {k: scale[k] for k in ["compressed_segmentation_block_size"] if k in scale}
        (chunk,) = scale["chunk_sizes"]
        spec = {"size": scale["size"], "voxel_offset": scale["voxel_offset"], "resolution": scale["resolution"],
                "chunk_size": chunk, "encoding": scale["encoding"], "key": scale["key"], **extra}
        volume = {k: info[k] for k in ["type", "data_type", "num_channels"]}
        ts.open({"driver": "neuroglancer_precomputed", "kvstore": {"driver": "file", "path": other + "/"},
                 "multiscale_metadata": volume, "scale_metadata": spec}, create=True).result().write(array).result()
        files = {p.name: p.read_bytes() for p in (Path(folder) / scale["key"]).iterdir() if p.is_file()}
        theirs = {p.name: p.read_bytes() for p in (Path(other) / scale["key"]).iterdir()}
        return {"chunks": len(theirs), "differ": sorted(n for n in files.keys() | theirs.keys() if files.get(n) != theirs.get(n))}


def coarser(folder):
    info = json.loads((Path(folder) / "info").read_text())
    method = "mode" if info["type"] == "segmentation" else "mean"
    differ = []
    for i in range(1, len(info["scales"])):
        factor = [round(b / a) for a, b in zip(info["scales"][i - 1]["resolution"], info["scales"][i]["resolution"])]
        theirs = ts.downsample(opened(folder, i - 1), [*factor, 1], method)
        ours = opened(folder, i)
        # Of floats tensorstore keeps its sums in 32 bits, so that the last bit may differ.
        equal = np.array_equal if ours.dtype.name != "float32" else lambda a, b: np.allclose(a, b, rtol=1e-6, atol=1e-3)
        if theirs.domain != ours.domain or not equal(theirs.read().result(), ours.read().result()):
            differ.append(f"scale {i}: {theirs.domain} {ours.domain}")
    return {"scales": len(info["scales"]), "differ": differ}


if __name__ == "__main__":
    verb, argument = sys.argv[1:]
    answer, sys.stdout = sys.stdout, sys.stderr  # cloud-volume prints its errors
    if verb == "write":
        os.makedirs(argument, exist_ok=True)
        print(json.dumps(write(argument)), file=answer)
    else:
        work = {"read": read, "same": same, "coarser": coarser}[verb]
        print(json.dumps([work(job["folder"]) for job in json.loads(Path(argument).read_text())]), file=answer)
