"""One measurement of a peer in a process of its own: peer.py OP PEER COUNT ENCODING FOLDER; prints one JSON object.

"inputs" writes what everybody works on (the values are slices of a pool of bytes that compress about as skeletons do):
ids.u64, offsets.u32, lengths.u32, pool.bin, sample.u64; and 10,000 skeletons of 50 to 400 vertices with a radius:
skeletons.bin, skeletons.u32 (their lengths). "uncache" makes the next read of a folder a cold one.
"""
import json
import os
import resource
import shutil
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../test/interop"))
from pc_sharded import cloudvolume_at, key, tensorstore_at, write_cloudvolume, write_tensorstore

POOL = 32 << 20


def inputs(folder, count):
    os.makedirs(folder, exist_ok=True)
    r = np.random.Generator(np.random.PCG64(12345 + count))
    ids = np.unique(r.integers(1, 2**48, size=int(count * 1.01), dtype=np.uint64))
    r.shuffle(ids)
    ids = ids[:count]
    lengths = r.integers(200, 1100 if count >= 10**6 else 2000, size=count)
    offsets = r.integers(0, POOL - 2048, size=count)
    r = np.random.Generator(np.random.PCG64(99))
    pool = r.integers(0, 256, size=POOL, dtype=np.uint8) & r.integers(0, 256, size=POOL, dtype=np.uint8) & 0x3F
    sample = ids[np.random.Generator(np.random.PCG64(7)).choice(count, 10000, replace=False)]
    for name, array in [
        ("offsets.u32", offsets.astype("<u4")),
        ("lengths.u32", lengths.astype("<u4")),
        ("pool.bin", pool),
        ("sample.u64", sample),
        ("ids.u64", ids),
    ]:
        array.tofile(os.path.join(folder, name))


def skeletons(folder):
    r = np.random.Generator(np.random.PCG64(5))
    lengths = []
    with open(os.path.join(folder, "skeletons.bin"), "wb") as out:
        for count in r.integers(50, 400, size=10000):
            vertices = np.cumsum(r.normal(0, 50, (count, 3)), axis=0).astype("<f4")
            edges = np.stack([np.arange(count - 1), np.arange(1, count)], axis=1).astype("<u4")
            radii = r.random(count).astype("<f4")
            head = np.array([count, count - 1], "<u4")
            lengths.append(sum(out.write(part.tobytes()) for part in (head, vertices, edges, radii)))
    np.array(lengths, "<u4").tofile(os.path.join(folder, "skeletons.u32"))


def column(folder, name, kind):
    return np.fromfile(os.path.join(folder, name), kind).tolist()


def values_of(folder):
    pool = open(os.path.join(folder, "pool.bin"), "rb").read()
    rows = zip(column(folder, "ids.u64", "<u8"), column(folder, "offsets.u32", "<u4"), column(folder, "lengths.u32", "<u4"))
    return {i: pool[o : o + n] for i, o, n in rows}


def sharding_for(count, encoding):
    return {
        "@type": "neuroglancer_uint64_sharded_v1",
        "hash": "murmurhash3_x86_128",
        "preshift_bits": 0,
        "minishard_bits": 6,
        "shard_bits": 4 if count >= 10**6 else 1,
        "minishard_index_encoding": "gzip",
        "data_encoding": encoding,
    }


def uncache(folder):
    for base, _, files in os.walk(folder):
        for name in files:
            fd = os.open(os.path.join(base, name), os.O_RDONLY)
            os.fsync(fd)
            os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(fd)


def usage():
    own = resource.getrusage(resource.RUSAGE_SELF)
    return time.perf_counter(), own.ru_utime + own.ru_stime, own.ru_maxrss * 1024


def tensorstore_values(kv, ids):
    import tensorstore as ts

    for start in range(0, len(ids), 20000):
        batch = ts.Batch()
        found = [kv.read(k, batch=batch) for k in ids[start : start + 20000]]
        batch.submit()
        for one in found:
            yield one.result().value


def main(op, peer, count, encoding, folder, source):
    sharding = sharding_for(count, encoding)
    result = {}
    if op == "decode":
        from cloudvolume import Skeleton

        lengths = column(source, "skeletons.u32", "<u4")
        data = open(os.path.join(source, "skeletons.bin"), "rb").read()
        attributes = [{"id": "radius", "data_type": "float32", "num_components": 1}]
        ends = np.cumsum(lengths)
        values = [data[end - length : end] for length, end in zip(lengths, ends)]
        before = usage()
        found = [Skeleton.from_precomputed(value, vertex_attributes=attributes) for value in values]
        result["count"] = sum(len(one.vertices) for one in found)
    elif op == "write":
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        values = values_of(source)
        write = {"tensorstore": write_tensorstore, "cloud-volume": write_cloudvolume}[peer]
        if peer == "tensorstore":
            import tensorstore  # noqa: F401
        before = usage()
        write(folder, sharding, values)
    else:
        uncache(folder)
        if peer == "tensorstore":
            kv = tensorstore_at(folder, sharding)
        else:
            reader = cloudvolume_at(folder, sharding)
            names = sorted(os.listdir(folder))
        before = usage()
        if op == "read":
            ids = column(source, "sample.u64", "<u8")
            before = usage()
            if peer == "tensorstore":
                found = sum(len(v) for v in tensorstore_values(kv, [key(i) for i in ids]))
            else:
                found = sum(len(v) for v in reader.get_data(ids).values())
            result["bytes"] = found
        elif op == "list":
            result["count"] = len(kv.list().result()) if peer == "tensorstore" else sum(len(reader.list_labels(n)) for n in names)
        else:
            if peer == "tensorstore":
                sizes = [len(v) for v in tensorstore_values(kv, kv.list().result())]
            else:
                sizes = [len(v) for n in names for v in reader.disassemble_shard(open(f"{folder}/{n}", "rb").read()).values()]
            result["count"], result["bytes"] = len(sizes), sum(sizes)
    after = usage()
    return {**result, "wall": after[0] - before[0], "cpu": after[1] - before[1], "memory": after[2] - before[2]}


if __name__ == "__main__":
    op, peer, count, encoding, folder, source = sys.argv[1:7]
    if op == "inputs":
        inputs(source, int(count))
        skeletons(source)
    elif op == "uncache":
        uncache(folder)
    else:
        print(json.dumps(main(op, peer, int(count), encoding, folder, source)))
