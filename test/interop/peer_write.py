"""Writes stores with zarr-python and tensorstore for Octavo to read, each with its answer.

usage: peer_write.py FOLDER
writes FOLDER/manifest.json: [{"path", "npy" | "values" + "shape", "writer"}]
"""
import json
import os
import sys
import warnings

import numpy as np
import numcodecs
import tensorstore as ts
import zarr
from zarr.codecs import (BloscCodec, BytesCodec, Crc32cCodec, GzipCodec, ShardingCodec, TransposeCodec, ZstdCodec)

warnings.filterwarnings("ignore")
folder = sys.argv[1]
rows = []
rng = np.random.default_rng(7)


def note(path, data, writer):
    if data.dtype == object or data.dtype.kind == "T":
        rows.append({"path": path, "values": [str(v) for v in data.ravel()], "shape": list(data.shape), "writer": writer})
    else:
        np.save(os.path.join(folder, path + ".npy"), data)
        rows.append({"path": path, "npy": path + ".npy", "writer": writer})


def sample(dtype, shape=(37, 29)):
    dtype = np.dtype(dtype)
    n = int(np.prod(shape))
    if dtype.kind == "b":
        return (rng.integers(0, 2, n) == 1).reshape(shape)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        wide = rng.integers(info.min, info.max, n, dtype=dtype.newbyteorder("="), endpoint=True)
        wide[: n // 2] = np.arange(n // 2) % 100
        return wide.astype(dtype).reshape(shape)
    if dtype.kind == "f":
        return (np.cumsum(rng.normal(size=n)).astype(dtype)).reshape(shape)
    if dtype.kind == "c":
        return (rng.normal(size=n) + 1j * rng.normal(size=n)).astype(dtype).reshape(shape)
    if dtype.kind in "mM":
        return rng.integers(-(10**9), 10**9, n).astype("i8").astype(dtype).reshape(shape)
    if dtype.kind == "S":
        return np.array([b"abcdefgh"[: k % 7] for k in range(n)], dtype).reshape(shape)
    if dtype.kind == "U":
        return np.array(["\u00e9\u4e16\U0001f600xyz"[: k % 6] for k in range(n)], dtype).reshape(shape)
    if dtype.kind == "V" and dtype.fields is None:
        return rng.integers(0, 256, n * dtype.itemsize, dtype="u1").view(dtype).reshape(shape)
    out = np.zeros(n, dtype)
    for name in dtype.names:
        out[name] = sample(dtype[name], (n,))
    return out.reshape(shape)


SIMPLE = ["b1", "i1", "u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f2", "<f4", "<f8", "<c8", "<c16"]
BIG = [">i2", ">u4", ">i8", ">f4", ">f8", ">c16", ">f2"]
ODD = ["<M8[ns]", "<m8[s]", ">M8[25us]", "S7", "<U5", ">U3", "V5", [("a", "<i4"), ("b", "<f8")], [("a", "u1"), ("b", "<f4"), ("c", "S3")]]


def write(path, data, writer, **options):
    try:
        array = zarr.create_array(os.path.join(folder, path), shape=data.shape, dtype=data.dtype, overwrite=True, **options)
        array[...] = data
    except Exception as error:  # noqa: BLE001
        print(f"skipped {path}: {type(error).__name__}: {error}"[:200], file=sys.stderr)
        return
    note(path, np.asarray(data), writer)


def main():
    os.makedirs(folder, exist_ok=True)
    for k, dtype in enumerate(SIMPLE + BIG + ODD):
        data = sample(dtype)
        write(f"v3_dtype_{k}", data, "zarr-python", chunks=(16, 16))
        write(f"v2_dtype_{k}", data, "zarr-python", chunks=(16, 16), zarr_format=2)
    data = sample("<i4", (50, 40, 6))
    for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd"):
        for shuffle in ("noshuffle", "shuffle", "bitshuffle"):
            for clevel in (0, 1, 5, 9):
                write(f"v3_blosc_{cname}_{shuffle}_{clevel}", data, "zarr-python", chunks=(25, 40, 6),
                      compressors=[BloscCodec(cname=cname, clevel=clevel, shuffle=shuffle, typesize=4)])
    for k, compressors in enumerate([None, [GzipCodec(level=6)], [ZstdCodec(level=3, checksum=True)], [ZstdCodec(level=-5)],
                                     [Crc32cCodec()], [GzipCodec(), Crc32cCodec()]]):
        write(f"v3_codec_{k}", data, "zarr-python", chunks=(17, 11, 4), compressors=compressors)
    write("v3_transpose", data, "zarr-python", chunks=(17, 11, 4), filters=[TransposeCodec(order=(2, 0, 1))])
    write("v3_big", data, "zarr-python", chunks=(17, 11, 4), serializer=BytesCodec(endian="big"))
    for where in ("start", "end"):
        inner = ShardingCodec(chunk_shape=(10, 10, 3), codecs=[BytesCodec(), ZstdCodec()], index_location=where)
        write(f"v3_shard_{where}", data, "zarr-python", chunks=(20, 20, 6), serializer=inner, compressors=None)
        nested = ShardingCodec(chunk_shape=(20, 20, 6), codecs=[inner], index_location=where)
        write(f"v3_nested_{where}", data, "zarr-python", chunks=(40, 40, 6), serializer=nested, compressors=None)
    write("v3_string", np.array(["", "a", "\u00e9\u4e16", "x" * 300] * 5, dtype=object).astype("T"), "zarr-python", chunks=(7,))
    write("v3_slash_v2keys", data, "zarr-python", chunks=(17, 11, 4), chunk_key_encoding={"name": "v2", "separator": "/"})
    write("v3_0d", np.array(42.5), "zarr-python", chunks=())
    write("v3_empty", np.zeros((0, 5), "f4"), "zarr-python", chunks=(4, 4))
    for k, compressor in enumerate([None, numcodecs.Zlib(5), numcodecs.GZip(5), numcodecs.BZ2(5), numcodecs.LZMA(preset=3), numcodecs.LZ4(),
                                    numcodecs.Zstd(3, checksum=True), numcodecs.Blosc("lz4", 5, -1), numcodecs.Blosc("zstd", 5, 2)]):
        write(f"v2_codec_{k}", data, "zarr-python", chunks=(17, 11, 4), compressors=compressor, zarr_format=2)
    for k, filters in enumerate([[numcodecs.Delta("<i4")], [numcodecs.Shuffle(4)], [numcodecs.CRC32()], [numcodecs.Adler32()],
                                 [numcodecs.Delta("<i4"), numcodecs.Shuffle(4), numcodecs.CRC32()]]):
        write(f"v2_filter_{k}", data, "zarr-python", chunks=(17, 11, 4), filters=filters, compressors=numcodecs.Zlib(1), zarr_format=2)
    write("v2_scale", np.round(sample("<f8"), 2), "zarr-python", chunks=(16, 16), compressors=None, zarr_format=2,
          filters=[numcodecs.FixedScaleOffset(offset=0, scale=100, dtype="<f8", astype="<i8")])
    write("v2_bits", sample("b1"), "zarr-python", chunks=(16, 16), filters=[numcodecs.PackBits()], zarr_format=2)
    write("v2_F", data, "zarr-python", chunks=(17, 11, 4), order="F", zarr_format=2)
    write("v2_slash", data, "zarr-python", chunks=(17, 11, 4), zarr_format=2, chunk_key_encoding={"name": "v2", "separator": "/"})
    for k, dtype in enumerate(["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "complex64", "complex128"]):
        values = sample(np.dtype(dtype))
        for driver, meta in (
            ("zarr", {"compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": -1}, "chunks": [16, 16]}),
            ("zarr3", {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [32, 32]}},
                       "codecs": [{"name": "sharding_indexed", "configuration": {"chunk_shape": [8, 16], "codecs": [
                           {"name": "bytes", "configuration": {"endian": "little"}}, {"name": "gzip", "configuration": {"level": 4}}]}}]})):
            path = f"ts_{driver}_{k}"
            array = ts.open({"driver": driver, "kvstore": {"driver": "file", "path": os.path.abspath(os.path.join(folder, path)) + "/"},
                             "metadata": meta}, dtype=dtype, shape=values.shape, create=True, delete_existing=True).result()
            array[...] = values
            note(path, values, "tensorstore")
    with open(os.path.join(folder, "manifest.json"), "w") as f:
        json.dump(rows, f)
    print(f"{len(rows)} stores")


main()
