"""The peers' side of `npm run bench tree`: peer.py packingcubes|scipy FOLDER THREADS SET_COUNT...; one JSON object for each set.

Times are CPU seconds of all threads (process_time), the best of several, after everything was compiled: a build, and for queries the
mean of 200 places. packingcubes is asked from inside of its JIT. "wall" is by the clock. Answers are sums over what was found: of
numbers in the data that was given, for each place in ascending order.
"""
import gc
import hashlib
import json
import os
import sys
import time

engine, folder, threads, names = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
os.environ["NUMBA_NUM_THREADS"] = str(threads)
begun = time.perf_counter()
import numpy as np

RADII = (0.01, 0.05, 0.1)
K = 10


def load(name):
    return np.fromfile(os.path.join(folder, name + ".f64")).reshape(-1, 3)


def best(work, rounds):
    cpu = wall = float("inf")
    for _ in range(rounds):
        w, c = time.perf_counter(), time.process_time()
        value = work()
        cpu, wall = min(cpu, time.process_time() - c), min(wall, time.perf_counter() - w)
    return value, cpu, wall


def status(key):
    for line in open("/proc/self/status"):
        if line.startswith(key):
            return int(line.split()[1]) * 1024


def digest(lists):
    sums = hashlib.sha256()
    for one in lists:
        sums.update(np.asarray(one).astype("<u4").tobytes())
    return sums.hexdigest()


if engine == "packingcubes":
    import numba
    import packingcubes as pc
    from packingcubes.bounding_box import BoundingBox, BoundingSphere
    from packingcubes.packed_tree.packed_tree_numba import euclidean_distance_particle as distance

    @numba.njit
    def spheres(tree, data, places, r):
        n = 0
        for i in range(places.shape[0]):
            n += len(tree._get_particle_index_list_in_shape(data, BoundingSphere(places[i], r)))
        return n

    @numba.njit
    def boxes(tree, data, places, r):
        n = 0
        for i in range(places.shape[0]):
            p = places[i]
            box = np.array([p[0] - r, p[1] - r, p[2] - r, 2 * r, 2 * r, 2 * r])
            n += len(tree._get_particle_index_list_in_shape(data, BoundingBox(box)))
        return n

    @numba.njit
    def nearest(tree, data, places, k):
        s = 0.0
        for i in range(places.shape[0]):
            d, _ = tree.get_closest_particles(data, places[i], distance, 1e100, k, False, True)
            s += d[k - 1]
        return s

    def build(positions):
        data = pc.InMemory(positions=positions)
        return data, pc.PackedTree(dataset=data)

    def asked(data, tree, places, rounds):
        container, inner, out = data.data_container, tree._tree, {}
        index = np.asarray(data.index)
        found = lambda numbers: np.sort(index[np.asarray(numbers, dtype=np.int64)])
        for r in RADII:
            _, out[f"sphere {r}"], _ = best(lambda: spheres(inner, container, places, r), rounds)
            _, out[f"box {r}"], _ = best(lambda: boxes(inner, container, places, r), rounds)
            out[f"sphere {r} found"] = digest(
                found(tree.get_particle_index_list_in_sphere(data=container, center=p, radius=r, strict=True)) for p in places
            )
            out[f"box {r} found"] = digest(
                found(tree.get_particle_index_list_in_box(data=container, box=np.append(p - r, [2 * r] * 3), strict=True))
                for p in places
            )
        _, out["nearest"], _ = best(lambda: nearest(inner, container, places, K), rounds)
        out["nearest found"] = digest(
            index[tree.get_closest_particles(data=container, xyz=p, k=K, return_sorted=True)[1]] for p in places
        )
        return out

    started = time.perf_counter()
    small = np.random.default_rng(1).random((3000, 3))
    data, tree = build(small)
    asked(data, tree, small[:3].copy(), 1)
    cold = time.perf_counter() - begun
    for name in names:
        rounds = 3 if name.endswith("0000000") else 5
        cpu = wall = float("inf")
        for _ in range(rounds):
            positions = data = tree = None
            positions = load(name)
            gc.collect()
            open("/proc/self/clear_refs", "w").write("5")
            base, w, c = status("VmRSS"), time.perf_counter(), time.process_time()
            data, tree = build(positions)
            cpu, wall = min(cpu, time.process_time() - c), min(wall, time.perf_counter() - w)
            extra = status("VmHWM") - base
        packed = np.asarray(tree.packed_form)
        out = {"name": name, "build": cpu, "build wall": wall, "cold": cold, "memory": extra}
        out["tree"] = hashlib.sha256(packed.tobytes()[92:]).hexdigest()
        out["order"] = digest([data.index])
        print(json.dumps({**out, **asked(data, tree, load("singles_" + name), 5)}), flush=True)
else:
    from scipy.spatial import cKDTree

    for name in names:
        positions, places, batch = load(name), load("singles_" + name), load("batch_" + name)
        tree, cpu, wall = best(lambda: cKDTree(positions), 1)
        out = {"name": name, "build": cpu, "build wall": wall}
        for r in RADII:
            found, out[f"sphere {r}"], _ = best(lambda: [tree.query_ball_point(p, r) for p in places], 3)
            out[f"sphere {r} found"] = digest(np.sort(one) for one in found)
            _, out[f"count {r}"], _ = best(lambda: tree.query_ball_point(places, r, return_length=True), 3)
        found, out["nearest"], _ = best(lambda: [tree.query(p, k=K)[1] for p in places], 3)
        out["nearest found"] = digest(found)
        found, out["batch"], _ = best(lambda: tree.query(batch, k=K)[1], 3)
        out["batch found"] = digest(found)
        print(json.dumps(out), flush=True)
