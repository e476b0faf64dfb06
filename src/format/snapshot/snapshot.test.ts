/** Snapshots as datasets, Cubes with their particles, and selections that are written back. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fixtures } from "../../../test/fixtures.js";
import { Corrupt, InvalidInput, NotFound, OctavoError, Unsupported } from "../../errors.js";
import type { Finding } from "../../model/format.js";
import type { Positions, Query, VectorDataset } from "../../model/vectors.js";
import { open } from "../../node.js";
import { fileStore } from "../../store/file.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import { buildTree } from "../packed-tree/build.js";
import { encodeTree } from "../packed-tree/encode.js";
import { type CubeParticles, joinCubes, nearestInCubes, particlesInCubes } from "./cubes.js";
import type { SnapshotDataset } from "./dataset.js";
import { snapshot } from "./format.js";
import type { Numeric } from "./hdf5-file.js";
import { loadHdf5 } from "./hdf5-library.js";
import { writeHdf5 } from "./hdf5-write.js";
import { openCubes, openSnapshot } from "./open.js";
import { encodeSnapshot, numberedParticles, selectedParticles, writeSnapshot } from "./write.js";

const golden = fixtures("hdf5");
const trees = join(fixtures("packed-tree"), "cubes");
const folder = mkdtempSync(join(tmpdir(), "octavo-snapshot-"));
afterAll(() => rmSync(folder, { recursive: true }));

const opened = (name: string, at = golden) => open(join(at, name)) as Promise<SnapshotDataset>;
const floats = (path: string): Float64Array => new Float64Array(new Uint8Array(readFileSync(path)).buffer);
const gas = () => new Float32Array(new Uint8Array(readFileSync(join(golden, "snap_010.PartType0.f32"))).buffer);

async function found(dataset: VectorDataset, query: Query): Promise<string[]> {
  const { positions } = await dataset.select(query).read({ attributes: [] });
  return rowsOf(positions).sort();
}
const rowsOf = (positions: Positions): string[] =>
  Array.from({ length: positions.length / 3 }, (_, i) => positions.subarray(3 * i, 3 * i + 3).join());
const within = (positions: Positions, [x, y, z, r]: readonly number[]): string[] =>
  rowsOf(positions)
    .filter((_, i) => {
      const [dx, dy, dz] = [positions[3 * i]! - x!, positions[3 * i + 1]! - y!, positions[3 * i + 2]! - z!];
      return dx * dx + dy * dy + dz * dz <= r! * r!;
    })
    .sort();

describe("a snapshot of several files", () => {
  test("is found from any of them, with everything that it says of itself", async () => {
    const dataset = await opened("snap_010.1.hdf5");
    expect(dataset).toMatchObject({
      format: "snapshot",
      geometries: ["points"],
      bounds: { min: [0, 0, 0], max: [100, 100, 100] },
      attributes: {
        type: "PartType0",
        particles: { PartType0: 1000, PartType1: 500 },
        files: 3,
        box: 100,
        redshift: 1,
        scaleFactor: 0.5,
        h: 0.7,
        Header: { MassTable: [0, 0.5, 0, 0, 0, 0] },
      },
    });
    expect(dataset.axes[0]!.unit).toBe("3.085678e+21 cm a h^-1");
    expect(dataset.notes).toEqual([expect.stringContaining("there are also PartType1 (500)")]);
    const { vertex } = await dataset.schema();
    expect(vertex.map(({ name, channels }) => [name, channels])).toEqual([
      ["ParticleIDs", 1],
      ["Velocities", 3],
    ]);
  });

  test("has the particles of all, in their order, with their fields", async () => {
    const { positions, vertexColumns } = await (await opened("snap_010.0.hdf5")).select().read();
    expect(positions).toEqual(gas());
    expect(vertexColumns.get("ParticleIDs")!.values).toEqual(
      BigUint64Array.from({ length: 1000 }, (_, i) => 2n ** 60n + BigInt(i)),
    );
    expect(vertexColumns.get("Velocities")!.values).toEqual(Float32Array.from({ length: 3000 }, (_, i) => i));
  });

  test("answers as a test of every particle would", async () => {
    const [dataset, positions] = [await opened("snap_010.2.hdf5"), gas()];
    const place = fc.double({ min: -10, max: 110, noNaN: true });
    await fc.assert(
      fc.asyncProperty(fc.tuple(place, place, place, fc.double({ min: 0, max: 60, noNaN: true })), async (sphere) => {
        expect(await found(dataset, { sphere })).toEqual(within(positions, sphere));
      }),
      { numRuns: 15 },
    );
  });

  test("one that is missing, or does not agree, is an error", async () => {
    for (const i of [0, 1]) copyFileSync(join(golden, `snap_010.${i}.hdf5`), join(folder, `a.${i}.hdf5`));
    await expect(opened("a.0.hdf5", folder)).rejects.toThrow(NotFound);
    copyFileSync(join(golden, "snap_010.1.hdf5"), join(folder, "a.2.hdf5"));
    await expect(opened("a.0.hdf5", folder)).rejects.toThrow(/should have 1000 particles of PartType0, found 400/);
    copyFileSync(join(golden, "snap_010.1.hdf5"), join(folder, "alone.hdf5"));
    await expect(opened("alone.hdf5", folder)).rejects.toThrow(Unsupported);
  });
});

test("the type is chosen behind the address, by its group or by a word", async () => {
  const name = "snap_010.0.hdf5|snapshot:";
  expect((await opened(`${name}dm`)).attributes.type).toBe("PartType1");
  expect((await opened(`${name}PartType1`)).levels[0]!.vertices).toBe(500);
  await expect(opened(`${name}stars`)).rejects.toThrow(/has no particles of type stars; it has PartType0, PartType1/);
  await expect(opened(`${name}constructor`)).rejects.toThrow(InvalidInput);
});

test("SWIFT: units of fields, links beside groups, fields that cannot be read", async () => {
  const dataset = await opened("swift.hdf5");
  expect(dataset.axes[0]!.unit).toBe("3.08567758e+24 cm a");
  expect(dataset.attributes).toMatchObject({ scaleFactor: 0.5, h: 0.6777, particles: { PartType0: 50 } });
  expect((await dataset.schema()).vertex).toMatchObject([
    { name: "Densities", unit: "6.76e-31 cgs a^-3", description: "Co-moving mass densities of the particles" },
    { name: "ParticleIDs" },
  ]);
  expect(dataset.notes).toEqual([
    expect.stringContaining("/PartType0/Names is left out"),
    expect.stringContaining("Wrong"),
  ]);
});

test("fields of any size are read in pieces of at most 64 MB", async () => {
  const { module } = await loadHdf5();
  const dataset = await opened("wide.hdf5"); // 512 MB of spectra
  const source = await dataset.source(0);
  const { count } = await source.chunks();
  const all = Array.from({ length: count }, (_, chunk) => chunk);
  const slabs: number[] = [];
  for await (const { positions, vertexColumns } of source.tiles(all, {
    positions: true,
    vertex: ["Spectra"],
    fragment: [],
  })) {
    const spectra = vertexColumns.get("Spectra")!.values as Float64Array;
    slabs.push(spectra.byteLength);
    expect([positions[0], positions.at(-1), spectra[0], spectra.at(-1)]).toEqual([0.5, 0.5, 2, 2]);
  }
  expect(slabs.reduce((sum, bytes) => sum + bytes, 0)).toBe((2 ** 20 + 5) * 64 * 8);
  expect(Math.max(...slabs)).toBeLessThanOrEqual(64 << 20);
  expect(module.HEAPU8.length).toBeLessThan(128 << 20); // one slab, one chunk and the library
});

/** A snapshot that is written by hand, in memory. */
async function made(
  header: { readonly [name: string]: readonly number[] },
  positions: ArrayLike<number> = [1, 2, 3, 4, 5, 6],
  shape: readonly number[] = [positions.length / 3, 3],
): Promise<Store> {
  const store = memoryStore();
  const dtype: Numeric = { kind: "float", size: 8, endian: "little" };
  const bytes = writeHdf5(await loadHdf5(), "made", (output) => {
    output.group("/Header");
    for (const [name, values] of Object.entries(header))
      output.attribute("/Header", name, { shape: [values.length], dtype, values: Float64Array.from(values) });
    output.group("/PartType0");
    output.dataset("/PartType0/Coordinates", shape, dtype, Float64Array.from(positions));
  });
  await store.set(Key.of("made.hdf5"), bytes);
  return store;
}
const particles = (store: Store, type?: string) => openSnapshot(store, Key.of("made.hdf5"), { type });

test("particles that lie nowhere are an error that names the first, or left out", async () => {
  const store = await made({ BoxSize: [9] }, [1, 2, 3, 4, Number.NaN, 6, 7, 8, 9]);
  const message = "made.hdf5, particle 1 of PartType0, counted from 0: a vertex has the coordinate NaN";
  await expect((await particles(store)).select().read()).rejects.toThrow(message);
  const bad: string[] = [];
  const dataset = await openSnapshot(store, Key.of("made.hdf5"), { onBad: (error) => bad.push(error.message) });
  expect([...(await dataset.select().read()).positions]).toEqual([1, 2, 3, 7, 8, 9]);
  expect(dataset.levels[0]!.vertices).toBe(2);
  expect(bad).toEqual([expect.stringContaining(message)]);
});

test("boxes of 1, 3 and 6 numbers, and none", async () => {
  const bounds = async (box: readonly number[]) => (await particles(await made({ BoxSize: box }))).bounds;
  expect(await bounds([9])).toEqual({ min: [0, 0, 0], max: [9, 9, 9] });
  expect(await bounds([9, 8, 7])).toEqual({ min: [0, 0, 0], max: [9, 8, 7] });
  expect(await bounds([1, 1, 1, 9, 8, 7])).toEqual({ min: [1, 1, 1], max: [10, 9, 8] });
  expect(await bounds([0])).toEqual({ min: [1, 2, 3], max: [4, 5, 6] });
  await expect(bounds([1, 2])).rejects.toThrow(/a BoxSize of 1, 3 or 6 numbers, found 1, 2/);
});

test("counts beyond 32 bits are put together, and compared with what is there", async () => {
  const store = await made({ NumPart_Total: [2, 0], NumPart_Total_HighWord: [1, 0] });
  await expect(particles(store)).rejects.toThrow(/should have 4294967298 particles of PartType0, found 2/);
  await expect(particles(await made({ NumPart_Total: [2, 3] }))).rejects.toThrow(
    /3 particles of PartType1, found none/,
  );
  await expect(particles(await made({ NumPart_ThisFile: [3] }))).rejects.toThrow(Corrupt);
  await expect(particles(await made({ NumPart_Total: [Number.NaN] }))).rejects.toThrow(Corrupt);
  await expect(particles(await made({ NumFilesPerSnapshot: [1e9] }))).rejects.toThrow(Corrupt);
  await expect(particles(await made({}, [1, 2, 3, 4], [2, 2]))).rejects.toThrow(/should be N × 3, found 2 × 2/);
  await expect(particles(await made({}, []))).rejects.toThrow(NotFound);
});

describe("what is written back", () => {
  test("is a snapshot of the selection alone, with units and header", async () => {
    const dataset = await opened("snap_010.0.hdf5");
    const sphere = [50, 50, 50, 30];
    const store = memoryStore();
    const chosen = await selectedParticles(dataset, { sphere });
    await writeSnapshot(store, Key.of("made.hdf5"), [chosen], dataset.snapshot);
    const mini = await particles(store);
    const expected = within(gas(), sphere);
    expect(expected.length).toBeGreaterThan(50);
    expect(await found(mini, {})).toEqual(expected);
    expect(mini.axes).toEqual(dataset.axes);
    expect(mini.attributes).toMatchObject({
      particles: { PartType0: expected.length },
      files: 1,
      Header: { HubbleParam: 0.7, NumPart_Total: [expected.length, 0, 0, 0, 0, 0], NumFilesPerSnapshot: 1 },
    });
    const columns = (await mini.select().read()).vertexColumns;
    expect(columns.get("ParticleIDs")!.values).toEqual(chosen.columns.get("ParticleIDs")!.values);
    expect(columns.get("Velocities")!.info.channels).toBe(3);
  });

  test("takes particles by their numbers, in any order, and twice", async () => {
    const dataset = await opened("snap_010.0.hdf5");
    const { positions, columns } = await numberedParticles(dataset, [999, 0, 500, 0], { attributes: ["ParticleIDs"] });
    const all = rowsOf(gas());
    expect(rowsOf(positions)).toEqual([999, 0, 500, 0].map((i) => all[i]));
    expect(columns.get("ParticleIDs")!.values).toEqual(BigUint64Array.from([999n, 0n, 500n, 0n], (i) => 2n ** 60n + i));
    await expect(numberedParticles(dataset, [1000])).rejects.toThrow(/from 0 up to 1000, found 1000/);
  });

  test("may be nothing", async () => {
    const dataset = await opened("swift.hdf5");
    const nothing = await selectedParticles(dataset, { sphere: [-99, 0, 0, 1] }, { attributes: [] });
    const store = memoryStore();
    await store.set(Key.of("made.hdf5"), await encodeSnapshot([nothing], dataset.snapshot));
    await expect(particles(store)).rejects.toThrow(/has no particles/);
  });
});

describe("Cubes", () => {
  const original = floats(join(trees, "cubes_saved.pos.f64"));
  const order = new Uint32Array(new Uint8Array(readFileSync(join(trees, "cubes_saved.idx.u32"))).buffer);
  const sorted = Float64Array.from({ length: original.length }, (_, i) => original[3 * order[(i / 3) | 0]! + (i % 3)]!);
  let joined: CubeParticles;
  const cubesIn = (name: string, at: string) => openCubes(fileStore(at), Key.of(name));
  beforeAll(async () => {
    joined = await joinCubes(await cubesIn("cubes_saved.hdf5", trees), sorted, order);
  });

  test("both layouts give the same trees", async () => {
    const [now, before] = [await cubesIn("cubes_saved.hdf5", trees), await cubesIn("old_cubes.hdf5", golden)];
    expect(now).toMatchObject({ type: "PartType0", version: "0.6.7" });
    expect(before).toEqual({ ...now, version: undefined });
    const starts = new BigInt64Array(new Uint8Array(readFileSync(join(trees, "cubes_saved.cube_indices.i64"))).buffer);
    expect(now.starts).toEqual(Float64Array.of(...Array.from(starts, Number), 3000));
  });

  test("boxes, spheres and neighbours are those that brute force finds", () => {
    const place = fc.double({ min: -2, max: 12, noNaN: true });
    const distance = (i: number, at: readonly number[]) =>
      Math.hypot(...at.map((value, axis) => value - original[3 * i + axis]!));
    fc.assert(
      fc.property(fc.tuple(place, place, place), fc.double({ min: 0, max: 5, noNaN: true }), (at, radius) => {
        const all = Array.from({ length: 3000 }, (_, i) => i);
        const inside = Array.from(particlesInCubes(joined, { sphere: [...at, radius] }, { numbers: "original" }));
        const exact = all.filter(
          (i) => at.reduce((sum, value, axis) => sum + (value - original[3 * i + axis]!) ** 2, 0) <= radius ** 2,
        );
        expect(inside.sort((a, b) => a - b)).toEqual(exact);
        const box = [...at, ...at.map((value) => value + radius)];
        const boxed = Array.from(particlesInCubes(joined, { box }, { numbers: "original" })).sort((a, b) => a - b);
        expect(boxed).toEqual(
          all.filter((i) =>
            at.every((low, axis) => original[3 * i + axis]! >= low && original[3 * i + axis]! <= box[axis + 3]!),
          ),
        );
        const { distances, numbers } = nearestInCubes(joined, at, 5, { numbers: "original" });
        const nearest = all.sort((a, b) => distance(a, at) - distance(b, at)).slice(0, 5);
        expect(Array.from(numbers)).toEqual(nearest);
        for (const [i, own] of distances.entries()) expect(own).toBeCloseTo(distance(nearest[i]!, at), 10);
      }),
      { numRuns: 25 },
    );
  });

  test("open with the sorted file beside them, and find the 103 particles of which the reference finds 14", async () => {
    copyFileSync(join(trees, "snap_cubes.hdf5"), join(folder, "snap_cubes.hdf5"));
    await expect(opened("snap_cubes.hdf5", folder)).rejects.toThrow(
      /neither it nor snap_cubes_sorted.hdf5 nor snap_sorted.hdf5/,
    );
    copyFileSync(join(trees, "snapshot_sorted.hdf5"), join(folder, "snap_sorted.hdf5"));
    const dataset = await opened("snap_cubes.hdf5", folder);
    expect(dataset.attributes).toMatchObject({ type: "PartType0", cubes: 27, threshold: 50 });
    const { positions, vertexColumns } = await dataset.select({ sphere: [5, 5, 5, 2] }).read();
    expect(rowsOf(positions).sort()).toEqual(within(floats(join(trees, "cubes_saved.pos.f64")), [5, 5, 5, 2]));
    expect(positions.length / 3).toBe(103);
    const index = vertexColumns.get("index")!.values as BigInt64Array;
    expect(rowsOf(positions)).toEqual(Array.from(index, (i) => rowsOf(original)[Number(i)]));
    expect((await dataset.select({ sphere: [5, 5, 5, 0.5] }).count()).vertices).toBeLessThan(1000); // one cube of 27 or a few
  });

  test("that do not agree with themselves, or that a grid cannot have, are Corrupt", async () => {
    const dtype: Numeric = { kind: "uint", size: 4, endian: "little" };
    const { tree } = await buildTree(Float64Array.of(1, 1, 1, 2, 2, 2), { created: 0 });
    const words = new Uint32Array(encodeTree(tree).slice().buffer);
    const read = async (count: number, indices: readonly number[], name = "tree_0", values = words) => {
      const store = memoryStore();
      const bytes = writeHdf5(await loadHdf5(), "made", (output) => {
        for (const group of ["/cubes", "/cubes/PartType0"]) output.group(group);
        const one = { shape: [], dtype, values: Uint32Array.of(count) };
        output.attribute("/cubes/PartType0", "Number_of_cubes", one);
        output.dataset("/cubes/PartType0/indices", [indices.length], dtype, Uint32Array.from(indices));
        output.dataset(`/cubes/PartType0/${name}`, [values.length], dtype, values);
      });
      await store.set(Key.of("made.hdf5"), bytes);
      return openCubes(store, Key.of("made.hdf5"));
    };
    expect(await read(1, [0])).toMatchObject({ type: "PartType0", starts: Float64Array.of(0, 2) });
    await expect(read(32 ** 3 + 2, [0])).rejects.toThrow(/should have 0 to 32769 cubes, found 32770/);
    await expect(read(1, [1])).rejects.toThrow(/cube 0 of .* has 2 particles, and begins at 1/);
    await expect(read(1, [0, 2])).rejects.toThrow(/indices of .* should be 1 whole numbers/);
    await expect(read(1, [0], "tree_1")).rejects.toThrow(/should have \/cubes\/PartType0\/tree_0/);
    await expect(read(1, [0], "tree_0", words.with(36, 4))).rejects.toThrow(Corrupt);
    await expect(openCubes(fileStore(trees), Key.of("cubes_saved.hdf5"), { type: "dm" })).rejects.toThrow(
      /has no cubes of PartType1; it has PartType0/,
    );
  });

  test("particles in another order are noticed, by the trees and by the dataset", async () => {
    await expect(joinCubes(await cubesIn("cubes_saved.hdf5", trees), original)).rejects.toThrow(Corrupt);
    await expect(joinCubes(await cubesIn("cubes_saved.hdf5", trees), sorted.subarray(3))).rejects.toThrow(Corrupt);
    copyFileSync(join(trees, "cubes_saved.hdf5"), join(folder, "wrong.hdf5"));
    const store = fileStore(folder);
    await store.set(Key.of("wrong_sorted.hdf5"), await unsorted());
    const dataset = await opened("wrong.hdf5", folder);
    await expect(dataset.select({ sphere: [5, 5, 5, 2] }).read()).rejects.toThrow(/do not belong to their cubes/);
  });

  async function unsorted(): Promise<Uint8Array> {
    const dtype: Numeric = { kind: "float", size: 8, endian: "little" };
    return writeHdf5(await loadHdf5(), "made", (output) => {
      output.group("/PartType0");
      output.attribute("/PartType0", "use_sorted", {
        shape: [],
        dtype: { kind: "bool", size: 1 },
        values: Uint8Array.of(1),
      });
      output.dataset("/PartType0/Coordinates", [3000, 3], dtype, original);
    });
  }
});

describe("validate", () => {
  const findings = async (store: Store, name: string): Promise<readonly Finding[]> => {
    const all: Finding[] = [];
    for await (const finding of snapshot.validate(store, Prefix.root, { file: Key.of(name) })) all.push(finding);
    return all;
  };
  const rulesOf = async (store: Store, name: string) => (await findings(store, name)).map(({ rule }) => rule);

  test("has nothing to say of what is whole, and a rule for everything else", async () => {
    expect(await rulesOf(fileStore(golden), "snap_010.0.hdf5")).toEqual([]);
    expect(await rulesOf(fileStore(golden), "swift.hdf5")).toEqual(["snapshot/fields", "snapshot/fields"]);
    expect(await rulesOf(fileStore(golden), "links.hdf5")).toEqual(["snapshot/opens"]);
    const store = await made({ BoxSize: [5] }, [1, 2, 3, 4, 5, 6, 1, Number.NaN, 1]);
    expect(await findings(store, "made.hdf5")).toMatchObject([
      { rule: "snapshot/finite", message: "particle 2 lies at NaN along y" },
      { rule: "snapshot/in-box", message: "particle 1 lies at 6 along z, and the box goes from 0, 0, 0 to 5, 5, 5" },
    ]);
  });

  test("a damaged chunk is named", async () => {
    const bytes = new Uint8Array(readFileSync(join(golden, "snap_010.1.hdf5")));
    const store = memoryStore();
    for (const i of [0, 2])
      await store.set(Key.of(`a.${i}.hdf5`), new Uint8Array(readFileSync(join(golden, `snap_010.${i}.hdf5`))));
    let found: readonly string[] = [];
    for (let at = 6000; found.length === 0 && at < bytes.length; at += 500) {
      const damaged = bytes.slice().fill(0x55, at, at + 64);
      await store.set(Key.of("a.1.hdf5"), damaged);
      found = (await rulesOf(store, "a.1.hdf5")).filter((rule) => rule === "snapshot/rows-decode");
    }
    expect(found).toEqual(["snapshot/rows-decode"]);
  });
});

test("errors are Octavo's whatever the file is", async () => {
  for (const name of ["plain.hdf5", "links.hdf5", "nbit.hdf5", "secret.hdf5", "secret.bin", "make.py"])
    await expect(opened(name)).rejects.toBeInstanceOf(OctavoError);
});
