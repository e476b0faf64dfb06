"""cloud-volume's side of `npm run bench compressed-segmentation`: labels.py RAW SIZE ROUNDS; chunks of 64³ in RAW, x fastest.

Prints {"encode": seconds, "decode": seconds, "bytes": [...]}: CPU of the best round over all chunks.
"""
import json
import sys
import time

import compressed_segmentation
import numpy as np

path, size, rounds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
dtype = np.uint64 if size == 8 else np.uint32
chunks = [np.asfortranarray(c.T) for c in np.fromfile(path, dtype).reshape(-1, 64, 64, 64)]


def best(work):
    times = []
    for _ in range(rounds):
        start = time.process_time()
        result = work()
        times.append(time.process_time() - start)
    return min(times), result


encode, encoded = best(lambda: [compressed_segmentation.compress(c, order="F") for c in chunks])
decode, decoded = best(lambda: [compressed_segmentation.decompress(e, (64, 64, 64), dtype, order="F") for e in encoded])
assert all((a == b).all() for a, b in zip(chunks, decoded))
with open(path + ".encoded", "wb") as out:
    for e in encoded:
        out.write(bytes(e))
print(json.dumps({"encode": encode, "decode": decode}))
