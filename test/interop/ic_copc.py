"""COPC files: an octree of random points, each node a chunk of lazrs, and what laspy says of the file.

ic_copc.py POINTS FILE  writes the file, and prints as JSON what laspy reads of it: points by depth, and those in a box.
Nobody in Python writes COPC, so the records around the chunks are put together here; laspy must agree with them.
"""

import io
import json
import struct
import sys

import laspy
import lazrs
import numpy as np

COUNT, PATH = int(sys.argv[1]), sys.argv[2]
FORMAT, SIDE = 7, 64000  # the cube is 64 wide, in steps of 0.001
rng = np.random.default_rng(7)

points = np.zeros(COUNT, dtype=laspy.PointFormat(FORMAT).dtype())
places = np.floor(rng.random((COUNT, 3)) * SIDE).astype(np.int32)
points["X"], points["Y"], points["Z"] = places.T
points["intensity"] = np.arange(COUNT) % 65536
points["gps_time"] = np.arange(COUNT) * 0.5
points["red"] = places[:, 0] // 2
points["classification"] = rng.integers(0, 6, COUNT)
points["bit_fields"] = 0x11

nodes = {}
room = max(4, COUNT // 12)


def build(key, rows):
    depth = key[0] + 1
    nodes[key], rest = rows[:room], rows[room:]
    if len(rest) == 0:
        return
    cubes = np.minimum(places[rest] // (SIDE / 2**depth), 2**depth - 1).astype(int)
    for cube in sorted(set(map(tuple, cubes))):
        build((depth, *cube), rest[(cubes == cube).all(axis=1)])


build((0, 0, 0, 0), rng.permutation(COUNT))
order = sorted(nodes, key=lambda key: (key[1], key[0], key[2], key[3]))

vlr = lazrs.LazVlr.new_for_compression(FORMAT, 0, True)
record = bytes(vlr.record_data())
start = 375 + 54 + 160 + 54 + len(record)
out = io.BytesIO()
out.write(b"\0" * start)
compressor = lazrs.LasZipCompressor(out, vlr)
compressor.reserve_offset_to_chunk_table()
for key in order:
    compressor.compress_many(points[nodes[key]].tobytes())
    compressor.finish_current_chunk()
compressor.done()
out.seek(start)
entries, at = {}, start + 8
for key, (count, length) in zip(order, lazrs.read_chunk_table(out, vlr)):
    entries[key] = struct.pack("<4iQ2i", *key, at, length, count)
    at += length
end = out.seek(0, 2)


def above(key, depth):
    return (depth, *(part >> (key[0] - depth) for part in key[1:]))


# What is deeper than 1 is in pages of its own, one for each node of depth 2.
top = [entries[key] for key in order if key[0] < 2]
pages = {}
for key in order:
    if key[0] >= 2:
        pages.setdefault(above(key, 2), []).append(entries[key])
first, length = end + 60, 32 * (len(top) + len(pages))
at = first + length
for key, page in pages.items():
    top.append(struct.pack("<4iQ2i", *key, at, 32 * len(page), -1))
    at += 32 * len(page)
hierarchy = b"".join(top) + b"".join(b"".join(page) for page in pages.values())
info = struct.pack("<5d2Q2d", 32, 32, 32, 32, 8, first, length, 0, COUNT * 0.5) + b"\0" * 88

least, most = places.min(0) * 0.001, places.max(0) * 0.001
header = struct.pack("<4sHHIHH8sBB32s32s", b"LASF", 0, 17, 0, 0, 0, b"", 1, 4, b"", b"octavo test")
header += struct.pack("<HHHIIBH6I", 1, 2026, 375, start, 2, FORMAT | 128, 36, 0, 0, 0, 0, 0, 0)
header += struct.pack("<3d3d", 0.001, 0.001, 0.001, 0, 0, 0)
header += struct.pack("<6d", *(value for pair in zip(most, least) for value in pair))
header += struct.pack("<QQIQ15Q", 0, end, 1, COUNT, COUNT, *[0] * 14)


def short_record(user, number, data):
    return struct.pack("<H16sHH32s", 0, user, number, len(data), b"") + data


out.seek(0)
out.write(header + short_record(b"copc", 1, info) + short_record(b"laszip encoded", 22204, record))
out.seek(end)
out.write(struct.pack("<H16sHQ32s", 0, b"copc", 1000, len(hierarchy), b"") + hierarchy)
with open(PATH, "wb") as file:
    file.write(out.getvalue())

with laspy.CopcReader.open(PATH) as reader:
    deepest = max(key[0] for key in nodes)
    box = laspy.copc.Bounds(np.array([10.0, 10, 10]), np.array([30.0, 40, 20]))
    found = reader.query(bounds=box)
    print(
        json.dumps(
            {
                "levels": [len(reader.query(level=range(0, depth + 1))) for depth in range(deepest, -1, -1)],
                "box": sorted(float(time) for time in found.gps_time),
                "all": sorted(float(x) for x in reader.query().x),
            }
        )
    )
