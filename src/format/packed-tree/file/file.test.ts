import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { xxh3 } from "../../../bytes/hash/xxh3.js";
import { U64 } from "../../../bytes/u64.js";
import { Corrupt, InvalidInput, NotFound, OctavoError } from "../../../errors.js";
import type { Column } from "../../../model/attributes.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { buildTree } from "../build.js";
import { encodeTree } from "../encode.js";
import { joinParticles, type Particles } from "../particles.js";
import { openParticles } from "./dataset.js";
import { packedTree } from "./format.js";
import { joinSpans } from "./plan.js";
import { openParticleFile } from "./read.js";
import { writeParticles } from "./write.js";

const file = Key.of("some.ptree");
const little = { endian: "little" } as const;

/** Numbers from 0 to 1, the same in each run. */
function draw(count: number): Float64Array {
  let state = 7;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  });
}

const column = (name: string, values: Float32Array | Uint16Array, channels = 1): Column => ({
  info: {
    name,
    dtype:
      values instanceof Float32Array ? { kind: "float", size: 4, ...little } : { kind: "uint", size: 2, ...little },
    channels,
    unit: "K",
  },
  values,
});

async function written(positions: Float64Array | Float32Array, attributes: readonly Column[] = [], threshold = 50) {
  const store = memoryStore();
  const particles = await joinParticles(await buildTree(positions, { threshold, created: 5 }));
  await writeParticles(store, file, particles, { attributes, about: { BoxSize: 1 } });
  return { store, particles };
}

/** Particles with an attribute that tells their number before. */
async function many(count = 30_000) {
  const attributes = [
    column(
      "heat",
      Float32Array.from({ length: count }, (_, i) => i / 2),
    ),
    column(
      "pair",
      Uint16Array.from({ length: 2 * count }, (_, i) => i % 60_000),
      2,
    ),
  ];
  return written(draw(3 * count), attributes);
}

describe("a file", () => {
  it("gives back tree, particles and order", async () => {
    const { store, particles } = await many();
    const opened = await openParticleFile(store, file);
    expect(opened.description.blocks[0]).toBeGreaterThan(60);
    expect(encodeTree(await opened.tree())).toEqual(encodeTree(particles.tree));
    const again: Particles = await opened.particles();
    expect(
      Buffer.compare(Buffer.from(again.positions.slice().buffer), Buffer.from(particles.positions.slice().buffer)),
    ).toBe(0);
    expect(Buffer.compare(Buffer.from(again.order!.slice().buffer), Buffer.from(particles.order!.slice().buffer))).toBe(
      0,
    );
  });

  it("begins as the table says, and ends with what describes it", async () => {
    const { store } = await written(Float64Array.of(0.25, 0.5, 0.75));
    const bytes = (await store.get(file))!;
    expect([...bytes.subarray(0, 12)]).toEqual([0x89, 0x50, 0x54, 0x52, 0x45, 0x45, 0x0d, 0x0a, 144, 0, 0, 0]);
    const view = new DataView(bytes.buffer, bytes.byteOffset + bytes.length - 32);
    const offset = Number(view.getBigUint64(0, true));
    expect([view.getUint32(12, true), view.getBigUint64(16, true)]).toEqual([
      64,
      xxh3(bytes.subarray(offset, bytes.length - 32)),
    ]);
    const text = new TextDecoder().decode(bytes.subarray(offset, offset + view.getUint32(8, true)));
    const json = JSON.parse(text);
    expect(json).toEqual({
      ptree: 1,
      count: 1,
      levels: [],
      blocks: [1, 0],
      pages: { offset: 216 },
      tree: {
        offset: 8,
        bytes: 164,
        xxh3: xxh3(bytes.subarray(8, 172)).toString(16).padStart(16, "0"),
        box: json.tree.box,
      },
      particles: { offset: 176, sample: 216, type: "float64" },
      attributes: [],
      about: { BoxSize: 1 },
    });
    expect([...new Float64Array(bytes.slice(176, 200).buffer)]).toEqual([0.25, 0.5, 0.75]);
    expect(U64.get(bytes, 204)).toBe(xxh3(bytes.subarray(176, 204)));
    // The table: the box of the only block and its particle, then the same of the page, with the checksum of the page.
    const page = bytes.slice(216, 216 + 16);
    expect([...new Uint16Array(page.buffer)]).toEqual([0, 0, 0, 65535, 65535, 65535, 1, 0]);
    const entry = bytes.slice(bytes.length - 32 - 64, bytes.length - 32);
    expect([...new Float64Array(entry.slice(0, 48).buffer)]).toEqual([0.25, 0.5, 0.75, 0.25, 0.5, 0.75]);
    expect([entry[48], U64.get(entry, 52)]).toEqual([1, xxh3(page)]);
  });

  it("may have no particles, and float32", async () => {
    const none = await openParticles((await written(new Float64Array())).store, file);
    expect((await none.select().read()).positions.length).toBe(0);
    expect((await none.file.particles()).count).toBe(0);
    const narrow = await openParticles((await written(Float32Array.from(draw(3000)))).store, file);
    expect((await narrow.select().read()).positions).toBeInstanceOf(Float32Array);
  });

  it("is found by its first bytes, opens as points, and answers with attributes", async () => {
    const { store, particles } = await many();
    const match = await packedTree.detect(store, Prefix.root, { file });
    expect(match).toMatchObject({ format: "packed-tree", summary: "octree over particles" });
    const dataset = await openParticles(store, file);
    expect(dataset).toMatchObject({ kind: "vectors", geometries: ["points"], attributes: { BoxSize: 1 } });
    expect((await dataset.schema()).vertex.map(({ name }) => name)).toEqual(["original", "heat", "pair"]);
    const batch = await dataset.select({ sphere: [0.5, 0.5, 0.5, 0.2] }).read();
    const original = batch.vertexColumns.get("original")!.values as Uint32Array;
    const heat = batch.vertexColumns.get("heat")!.values as Float32Array;
    const pair = batch.vertexColumns.get("pair")!.values as Uint16Array;
    const inside = Array.from({ length: particles.count }, (_, i) => i).filter((i) => {
      const [x, y, z] = particles.positions.subarray(3 * i, 3 * i + 3);
      return (x! - 0.5) ** 2 + (y! - 0.5) ** 2 + (z! - 0.5) ** 2 <= 0.04;
    });
    expect([...original].sort((a, b) => a - b)).toEqual(inside.map((i) => particles.order![i]!).sort((a, b) => a - b));
    for (const [i, number] of original.entries()) {
      expect(heat[i]).toBe(number / 2);
      expect([pair[2 * i], pair[2 * i + 1]]).toEqual([(2 * number) % 60_000, (2 * number + 1) % 60_000]);
    }
    const near = await dataset.select({ nearest: [0.1, 0.2, 0.3, 5] }).read();
    expect(near.positions.length).toBe(15);
  });

  it("costs one request to open and few to ask, as its plan says", async () => {
    const { store } = await many(200_000);
    let asked = 0;
    const get: typeof store.get = (...args) => {
      asked++;
      return store.get(...args);
    };
    const counted = { ...store, get };
    const dataset = await openParticles(counted, file);
    expect(asked).toBe(1);
    const part = dataset.select({ box: [0.1, 0.1, 0.1, 0.3, 0.3, 0.3] });
    const { requests, bytes } = await part.plan({ attributes: ["heat"] });
    const batch = await part.read({ attributes: ["heat"] });
    expect(asked - 1).toBe(requests);
    expect(requests).toBeLessThan(16);
    expect(bytes).toBeLessThan(20 * (batch.positions.byteLength + (4 * batch.positions.length) / 3));
  });
});

describe("damage", () => {
  it("to any byte is noticed by validate, or changes nothing that is read", async () => {
    const { store, particles } = await written(draw(600), [column("heat", new Float32Array(200))], 10);
    const sound = (await store.get(file))!;
    const wanted = encodeTree(particles.tree);
    await fc.assert(
      fc.asyncProperty(fc.nat(sound.length - 1), fc.integer({ min: 1, max: 255 }), async (at, by) => {
        const bytes = sound.slice();
        bytes[at]! ^= by;
        const other = memoryStore();
        await other.set(file, bytes);
        const found = [];
        for await (const one of packedTree.validate(other, Prefix.root, { file })) found.push(one);
        if (found.some(({ severity }) => severity === "error")) return;
        // The first bytes and padding, of which there is no checksum.
        const opened = await openParticleFile(other, file);
        expect(encodeTree(await opened.tree())).toEqual(wanted);
        expect((await opened.particles()).positions).toEqual(particles.positions);
      }),
      { numRuns: 300 },
    );
  });

  it("of any kind gives one of Octavo's errors", async () => {
    const sound = (await (await written(draw(90))).store.get(file))!;
    await fc.assert(
      fc.asyncProperty(
        fc.nat(sound.length),
        fc.array(fc.tuple(fc.nat(sound.length - 1), fc.nat(255)), { maxLength: 3 }),
        async (length, changes) => {
          const bytes = sound.slice(0, length);
          for (const [at, value] of changes) if (at < length) bytes[at] = value;
          const store = memoryStore();
          await store.set(file, bytes);
          const error = await openParticleFile(store, file).then(
            (opened) =>
              opened.particles().then(
                () => undefined,
                (error: unknown) => error,
              ),
            (error: unknown) => error,
          );
          if (error !== undefined) expect(error).toBeInstanceOf(OctavoError);
        },
      ),
      { numRuns: 200 },
    );
  });

  it("and mistakes have their own errors", async () => {
    const { store, particles } = await many(3000);
    await expect(openParticleFile(store, Key.of("other.ptree"))).rejects.toThrow(NotFound);
    const bytes = (await store.get(file))!;
    bytes[20_000]! ^= 1;
    await store.set(file, bytes);
    await expect((await openParticleFile(store, file)).particles()).rejects.toThrow(Corrupt);
    const short = [column("heat", new Float32Array(2))];
    await expect(writeParticles(store, file, particles, { attributes: short })).rejects.toThrow(InvalidInput);
    const taken = [column("original", new Float32Array(3000))];
    await expect(writeParticles(store, file, particles, { attributes: taken })).rejects.toThrow(InvalidInput);
  });
});

it("requests join what is near, and then what is nearest, until they are few enough or half would be in vain", () => {
  const at = (offset: number) => ({ offset, length: 10 });
  expect(joinSpans([at(100), at(0), at(110)])).toEqual([{ offset: 0, length: 120 }]);
  const far = [0, 1e6, 3e6, 3.5e6].map(at);
  expect(joinSpans(far)).toEqual(far);
  expect(joinSpans(far, 2)).toEqual([
    { offset: 0, length: 1e6 + 10 },
    { offset: 3e6, length: 5e5 + 10 },
  ]);
  expect(joinSpans(far, 1)).toEqual([{ offset: 0, length: 3.5e6 + 10 }]);
  const many = Array.from({ length: 100 }, (_, i) => ({ offset: i * 300_000, length: 200_000 }));
  expect(joinSpans(many)).toHaveLength(1); // all gaps are equal, and half as wide as what is between them
  const rare = Array.from({ length: 100 }, (_, i) => ({ offset: i * i * 300_000, length: 200_000 }));
  const joined = joinSpans(rare);
  expect(joined.length).toBeGreaterThan(32);
  expect(joined.reduce((sum, { length }) => sum + length, 0)).toBeLessThanOrEqual(2 * 100 * 200_000);
});
