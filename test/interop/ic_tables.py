"""Tables and point clouds, written and read by the software that people have: pyarrow, laspy (lazrs), numpy.

    ic_tables.py write DIR     files of every kind
    ic_tables.py read FILE     what is in one, as JSON: numbers as text, so that 64 bits are exact
"""
import json
import sys

import laspy
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet as pq

N = 1000
RANDOM = np.random.default_rng(7)


def table():
    xyz = RANDOM.random(3 * N)
    return pa.table({
        "id": pa.array(np.arange(N, dtype=np.uint64) + np.uint64(2**63)),
        "pt_position": pa.FixedSizeListArray.from_arrays(pa.array(xyz), 3),
        "root": pa.array([864691135000000001 + i for i in range(N)], pa.int64()),
        "i8": pa.array([i % 256 - 128 for i in range(N)], pa.int8()),
        "u32": pa.array([2**32 - 1 - i for i in range(N)], pa.uint32()),
        "gap": pa.array([None if i % 3 == 0 else i for i in range(N)], pa.int32()),
        "f32": pa.array(RANDOM.random(N).astype("f4")),
        "flag": pa.array([i % 2 == 0 for i in range(N)]),
        "name": pa.array([f"é{i % 9}" for i in range(N)]),
        "kind": pa.array([f"k{i % 3}" for i in range(N)]).dictionary_encode(),
    })


def write(folder):
    t = table()
    for codec in ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]:
        for version in ["1.0", "2.0"]:
            pq.write_table(t, f"{folder}/{codec}-{version}.parquet", compression=codec, row_group_size=300, data_page_version=version)
    for codec in ["uncompressed", "lz4", "zstd"]:
        pa.feather.write_feather(t, f"{folder}/{codec}.feather", compression=codec, chunksize=300)
    with pa.OSFile(f"{folder}/stream.arrow", "wb") as sink, pa.ipc.new_stream(sink, t.schema) as writer:
        writer.write_table(t, max_chunksize=300)
    flat = t.drop_columns(["pt_position"])
    xyz = np.asarray(t["pt_position"].combine_chunks().flatten()).reshape(N, 3)
    for axis, name in enumerate("xyz"):
        flat = flat.append_column(name, pa.array(xyz[:, axis]))
    pa.csv.write_csv(flat, f"{folder}/flat.csv")
    np.save(f"{folder}/plain.npy", xyz)
    np.save(f"{folder}/fortran.npy", np.asfortranarray(xyz.astype("f4")))
    rows = np.zeros(N, dtype=[("x", ">f8"), ("y", "<f8"), ("z", "<f8"), ("id", "<u8"), ("rgb", "u1", (3,)), ("name", "U4")])
    for axis, name in enumerate("xyz"):
        rows[name] = xyz[:, axis]
    rows["id"] = np.asarray(t["id"])
    rows["rgb"] = np.arange(3 * N).reshape(N, 3) % 256
    rows["name"] = t["name"].to_pylist()
    np.save(f"{folder}/struct.npy", rows)
    np.savez(f"{folder}/plain.npz", positions=xyz, id=rows["id"], rgb=rows["rgb"], other=np.zeros(3))
    np.savez_compressed(f"{folder}/packed.npz", positions=xyz, id=rows["id"], rgb=rows["rgb"])
    for form in range(11):
        for version in ["1.2", "1.3", "1.4"]:
            if form > {"1.2": 3, "1.3": 5, "1.4": 10}[version]:
                continue
            las(f"{folder}/{form}-{version}.las", form, version, xyz)


def las(path, form, version, xyz):
    header = laspy.LasHeader(point_format=form, version=version)
    header.scales, header.offsets = [0.001, 0.001, 0.0005], [1000, 2000, -5]
    header.add_extra_dim(laspy.ExtraBytesParams("height", "float32"))
    header.add_extra_dim(laspy.ExtraBytesParams("triple", "3u2"))
    header.add_extra_dim(laspy.ExtraBytesParams("scaled", "int32", scales=np.array([0.01]), offsets=np.array([5.0])))
    data = laspy.LasData(header)
    data.x, data.y, data.z = 1000 + 100 * xyz[:, 0], 2000 + 50 * xyz[:, 1], xyz[:, 2]
    for d in data.point_format.dimensions:
        if d.name in ("X", "Y", "Z", "height", "triple", "scaled"):
            continue
        if d.kind.name == "BitField":
            data[d.name] = RANDOM.integers(0, 2**d.num_bits, N)
        elif d.kind.name == "FloatingPoint":
            data[d.name] = RANDOM.random(N)
        else:
            data[d.name] = RANDOM.integers(0, 100, N)
    data.height = RANDOM.random(N)
    data.triple = RANDOM.integers(0, 60000, (N, 3))
    data.scaled = 5 + np.round(RANDOM.random(N) * 100, 2)
    data.write(path)
    if form in (0, 1, 2, 3, 6, 7, 8):
        data.write(path.replace(".las", ".laz"))


def columns(path):
    if path.endswith((".las", ".laz")):
        data = laspy.read(path)
        out = {"x": np.asarray(data.x), "y": np.asarray(data.y), "z": np.asarray(data.z)}
        for d in data.point_format.dimensions:
            if d.name not in ("X", "Y", "Z"):
                out[d.name] = np.asarray(data[d.name])
        return out
    if path.endswith(".npy"):
        rows = np.load(path)
        if rows.dtype.names is None:
            return {"positions": rows}
        return {name: rows[name] for name in rows.dtype.names}
    if path.endswith(".npz"):
        with np.load(path) as arrays:
            return {name: arrays[name] for name in arrays.files}
    if path.endswith(".csv"):
        # Left to itself, pyarrow takes ids from 2^63 on for float64, and rounds them.
        t = pa.csv.read_csv(path, convert_options=pa.csv.ConvertOptions(column_types={"id": pa.uint64()}))
    elif path.endswith(".parquet"):
        t = pq.read_table(path)
    elif path.endswith("stream.arrow"):
        t = pa.ipc.open_stream(path).read_all()
    else:
        t = pa.feather.read_table(path)
    return {name: t[name].to_pylist() for name in t.column_names}


def plain(value):
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(v) for v in value]
    if value is None:
        return None
    if isinstance(value, (bool, np.bool_)):
        return int(value)
    if isinstance(value, (int, np.integer)):
        return str(value)
    if isinstance(value, (float, np.floating)):
        return float(value)
    return str(value)


if sys.argv[1] == "write":
    write(sys.argv[2])
else:
    print(json.dumps({name: plain(values) for name, values in columns(sys.argv[2]).items()}))
