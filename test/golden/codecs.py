"""Writes codecs.json: what numcodecs and zarr-python make of small arrays, codec by codec and in v3 chains.

Run with numcodecs 0.16.6 and zarr 3.1.6: python codecs.py > codecs.json
"""

import base64
import json
import lzma
import sys

import numcodecs
import numpy as np
import zarr


def raw(buffer):
    return buffer.tobytes() if isinstance(buffer, np.ndarray) else bytes(buffer)


def text(buffer):
    return base64.b64encode(raw(buffer)).decode()


rng = np.random.default_rng(5)
data = {
    "text": np.frombuffer(b"the quick brown fox jumps over " * 20 + bytes(range(256)) + b"\0" * 300, "u1"),
    "empty": np.zeros(0, "u1"),
    "i4": (rng.integers(-50, 50, 40).cumsum() * 1000).astype("<i4"),
    ">i4": np.arange(-20, 2000, 77).astype(">i4"),
    "u1": rng.integers(0, 256, 33).astype("u1"),
    "i8": np.array([0, -1, 2**62, -(2**62), 5, 2**53 + 1], "<i8"),
    "u8": np.array([2**64 - 1, 0, 7], "<u8"),
    "f4": np.array([1.5, 0.1, -3e20, 7, 1e-3], "<f4"),
    "f8": np.linspace(-3.25, 99.125, 17).astype("<f8"),
    "bool": rng.integers(0, 2, 21).astype("?"),
    "nobool": np.zeros(0, "?"),
    "bool16": rng.integers(0, 2, 16).astype("?"),
}

cases = []


def add(config, key):
    codec = numcodecs.get_codec(dict(config))
    values = data[key]
    encoded = codec.encode(values)
    decoded = codec.decode(encoded)
    assert raw(decoded) == raw(values) or config["id"] in ("fixedscaleoffset", "delta"), config
    little = np.asarray(decoded, np.dtype(decoded.dtype).newbyteorder("<")) if isinstance(decoded, np.ndarray) else decoded
    cases.append({"codec": config, "dtype": values.dtype.str, "decoded": text(little), "encoded": text(encoded)})


for key in ("text", "empty", "i4"):
    for config in (
        {"id": "zlib", "level": 1},
        {"id": "zlib", "level": 9},
        {"id": "gzip", "level": 5},
        {"id": "zstd", "level": 0},
        {"id": "zstd", "level": 9, "checksum": True},
        {"id": "lz4", "acceleration": 1},
        {"id": "bz2", "level": 1},
        {"id": "bz2", "level": 9},
        {"id": "crc32"},
        {"id": "crc32", "location": "end"},
        {"id": "crc32c"},
        {"id": "crc32c", "location": "start"},
        {"id": "adler32"},
        {"id": "adler32", "location": "end"},
        {"id": "lzma", "format": 1, "check": -1, "preset": None, "filters": None},
        {"id": "lzma", "format": 1, "check": lzma.CHECK_NONE, "preset": 0, "filters": None},
        {"id": "lzma", "format": 1, "check": lzma.CHECK_CRC32, "preset": 0, "filters": None},
        {"id": "lzma", "format": 1, "check": lzma.CHECK_SHA256, "preset": 0, "filters": None},
        {"id": "lzma", "format": 2, "check": -1, "preset": 1, "filters": None},
        {"id": "lzma", "format": 3, "check": -1, "preset": None,
         "filters": [{"id": lzma.FILTER_DELTA, "dist": 4}, {"id": lzma.FILTER_LZMA2, "preset": 1}]},
        {"id": "lzma", "format": 3, "check": -1, "preset": None, "filters": [{"id": lzma.FILTER_LZMA2, "lc": 0, "lp": 2}]},
    ):
        if not (key == "empty" and config["id"] in ("lz4", "zstd")):
            add(config, key)
# Blosc where sizes do not divide each other: rests of elements and of blocks, bits that fill no byte, elements over 255 bytes.
for cname, shuffle, typesize, blocksize, size in (
    ("lz4", 1, 4, 0, 1201), ("lz4", 2, 4, 0, 1201), ("lz4", 2, 3, 0, 1157), ("lz4hc", 1, 8, 512, 1201), ("lz4hc", 2, 16, 0, 2051),
    ("blosclz", 1, 3, 400, 1201), ("blosclz", 2, 2, 130, 1201), ("zlib", 1, 4, 640, 1201), ("zlib", 2, 7, 0, 1201),
    ("zstd", 1, 4, 512, 1201), ("zstd", 2, 12, 200, 1201), ("lz4", 1, 17, 0, 1201), ("lz4", 1, 255, 0, 1201), ("lz4", 1, 300, 0, 1201),
    ("lz4", 2, 1, 0, 1201), ("lz4", 1, 4, 0, 127), ("blosclz", 1, 4, 0, 0),
):
    values = np.resize(data["i4"].view("u1"), size)
    encoded = numcodecs.blosc.compress(values, cname.encode(), 5, shuffle, blocksize, typesize)
    config = {"id": "blosc", "cname": cname, "clevel": 5, "shuffle": shuffle, "typesize": typesize, "blocksize": blocksize}
    cases.append({"codec": config, "dtype": "|u1", "decoded": text(values), "encoded": text(encoded)})
add({"id": "shuffle", "elementsize": 4}, "i4")
add({"id": "delta", "dtype": "<i4"}, "i4")
add({"id": "delta", "dtype": "<i4", "astype": "<i8"}, "i4")
add({"id": "delta", "dtype": "<i4", "astype": "<i2"}, "i4")
add({"id": "delta", "dtype": "|u1"}, "u1")
add({"id": "delta", "dtype": "|u1", "astype": "<i4"}, "u1")
add({"id": "delta", "dtype": "<i8"}, "i8")
add({"id": "delta", "dtype": "<i8", "astype": "<i4"}, "i8")
add({"id": "delta", "dtype": "<u8"}, "u8")
add({"id": "delta", "dtype": "<f4"}, "f4")
add({"id": "delta", "dtype": "<f8", "astype": "<f4"}, "f8")
add({"id": "delta", "dtype": "<f4", "astype": "<f8"}, "f4")
add({"id": "delta", "dtype": "<f8", "astype": "<i4"}, "f8")
add({"id": "delta", "dtype": "<i4", "astype": "<f8"}, "i4")
add({"id": "delta", "dtype": ">i4"}, ">i4")
add({"id": "delta", "dtype": ">i4", "astype": ">i2"}, ">i4")
add({"id": "fixedscaleoffset", "scale": 3, "offset": 0.1, "dtype": ">f4", "astype": ">i2"}, "f8")
add({"id": "fixedscaleoffset", "scale": 10, "offset": 1000, "dtype": "<f8", "astype": "<u2"}, "f8")
add({"id": "fixedscaleoffset", "scale": 7, "offset": -3, "dtype": "<f4", "astype": "|i1"}, "f8")
add({"id": "fixedscaleoffset", "scale": 0.5, "offset": 3.25, "dtype": "<f8", "astype": "<f4"}, "f8")
add({"id": "packbits"}, "bool")
add({"id": "packbits"}, "bool16")
add({"id": "packbits"}, "nobool")

vlen = []
strings = np.array(["", "a", "łódź", "日本", "x" * 40, "🙂"], object)
vlen.append({"codec": {"id": "vlen-utf8"}, "values": list(strings), "encoded": text(numcodecs.VLenUTF8().encode(strings))})
vlen.append({"codec": {"id": "vlen-utf8"}, "values": [], "encoded": text(numcodecs.VLenUTF8().encode(strings[:0]))})
blobs = np.array([b"", b"\0\1", b"abc"], object)
vlen.append({"codec": {"id": "vlen-bytes"}, "values": [list(b) for b in blobs], "encoded": text(numcodecs.VLenBytes().encode(blobs))})
for dtype in ("<i4", ">i2", "<f8"):
    arrays = np.empty(3, object)
    arrays[:] = [np.array([1, -2, 3], dtype), np.zeros(0, dtype), np.array([7], dtype)]
    vlen.append({"codec": {"id": "vlen-array", "dtype": dtype}, "values": [a.tolist() for a in arrays],
                 "encoded": text(numcodecs.VLenArray(dtype).encode(arrays))})

little, crc = {"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}


def shard(chunk_shape, codecs, index=(little, crc), location="end"):
    return {"name": "sharding_indexed", "configuration": {"chunk_shape": chunk_shape, "codecs": list(codecs),
                                                          "index_codecs": list(index), "index_location": location}}


zstd = {"name": "zstd", "configuration": {"level": 3, "checksum": True}}
gzip = {"name": "gzip", "configuration": {"level": 6}}
big = {"name": "bytes", "configuration": {"endian": "big"}}
transpose = {"name": "transpose", "configuration": {"order": [1, 2, 0]}}
chains = []
for codecs in (
    [little], [big], [big, crc], [transpose, little], [transpose, big, zstd, crc], [little, gzip], [little, crc, gzip, crc],
    [shard([2, 3, 2], [little])],
    [shard([2, 3, 2], [big, zstd], location="start")],
    [shard([4, 3, 4], [transpose, little, gzip], index=[big])],
    [transpose, shard([2, 2, 2], [little, crc])],
    [shard([2, 3, 2], [little]), crc],
    [shard([4, 6, 2], [shard([2, 3, 1], [little, zstd], location="start")])],
):
    array = np.arange(4 * 6 * 4, dtype="<i2").reshape(4, 6, 4) - 20
    array[2:, :3, :2] = 9  # some inner chunks are nothing but fill
    store = zarr.storage.MemoryStore()
    made = zarr.Array.from_dict(zarr.storage.StorePath(store), {
        "zarr_format": 3, "node_type": "array", "shape": list(array.shape), "data_type": "int16",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(array.shape)}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 9, "codecs": codecs, "attributes": {}})
    made[...] = array
    chains.append({"codecs": codecs, "shape": list(array.shape), "decoded": text(array),
                   "encoded": text(store._store_dict["c/0/0/0"].to_bytes())})

origin = f"numcodecs {numcodecs.__version__}, zarr {zarr.__version__}, numpy {np.__version__}; made by codecs.py"
json.dump({"origin": origin, "cases": cases, "vlen": vlen, "chains": chains}, sys.stdout, indent=1)
