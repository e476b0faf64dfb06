"""Sharded values, written and read by tensorstore and cloud-volume: pc_sharded.py (write|read) PEER JOBS.json

A job is {"folder", "sharding"} and, to write, {"values": {id: hex}}, to read, {"ids": [id]}. Reading prints for each job
{"values": {id: hex or null}, "listed": [id]}. bench/precomputed/peer.py uses the two functions that open.
"""
import json
import os
import struct
import sys


def tensorstore_at(folder, sharding):
    import tensorstore as ts

    return ts.KvStore.open(
        {
            "driver": "neuroglancer_uint64_sharded",
            "metadata": sharding,
            "base": {"driver": "file", "path": folder + "/"},
            "context": {"cache_pool": {"total_bytes_limit": 10**9}, "file_io_sync": True},
        }
    ).result()


def cloudvolume_at(folder, sharding):
    from cloudfiles import CloudFiles
    from cloudvolume.datasource.precomputed.sharding import ShardingSpecification, ShardReader

    class Uncached:
        enabled = False

        def download_as(self, requests, progress=None):
            wanted = [{"path": r["path"], "start": r["start"], "end": r["end"]} for r in requests]
            found = CloudFiles("file://" + folder, progress=False).get(wanted)
            return {(f["path"], *f["byte_range"]): f["content"] for f in found}

    return ShardReader("file://" + folder, Uncached(), ShardingSpecification.from_dict(sharding), 10**6, 10**6)


def key(id):
    return struct.pack(">Q", id)


def write_tensorstore(folder, sharding, values):
    import tensorstore as ts

    transaction = ts.Transaction()
    target = tensorstore_at(folder, sharding).with_transaction(transaction)
    for id, value in values.items():
        target[key(id)] = value
    transaction.commit_sync()


def write_cloudvolume(folder, sharding, values):
    from cloudvolume.datasource.precomputed.sharding import ShardingSpecification, synthesize_shard_files

    for name, shard in synthesize_shard_files(ShardingSpecification.from_dict(sharding), values).items():
        with open(os.path.join(folder, name), "wb") as file:
            file.write(shard)


def read_tensorstore(folder, sharding, ids):
    kv = tensorstore_at(folder, sharding)
    values = {}
    for id in ids:
        found = kv.read(key(id)).result()
        values[id] = found.value if found.state == "value" else None
    return values, [struct.unpack(">Q", k)[0] for k in kv.list().result()]


def read_cloudvolume(folder, sharding, ids):
    reader = cloudvolume_at(folder, sharding)
    values = {id: reader.get_data(id) for id in ids}
    listed = [int(i) for name in sorted(os.listdir(folder)) if name.endswith(".shard") for i in reader.list_labels(name)]
    return values, listed


if __name__ == "__main__":
    what, peer, jobs = sys.argv[1], sys.argv[2], json.load(open(sys.argv[3]))
    results = []
    for job in jobs:
        folder, sharding = job["folder"], job["sharding"]
        if what == "write":
            os.makedirs(folder, exist_ok=True)
            values = {int(id): bytes.fromhex(value) for id, value in job["values"].items()}
            {"tensorstore": write_tensorstore, "cloud-volume": write_cloudvolume}[peer](folder, sharding, values)
            results.append(True)
        else:
            ids = [int(id) for id in job["ids"]]
            read = {"tensorstore": read_tensorstore, "cloud-volume": read_cloudvolume}[peer]
            values, listed = read(folder, sharding, ids)
            shown = {str(id): None if value is None else bytes(value).hex() for id, value in values.items()}
            results.append({"values": shown, "listed": [str(id) for id in listed]})
    print(json.dumps(results))
