/** Samples: every streamline and point of one is in the file, byte for byte, and they come from all over it. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openBytes } from "../../../test/interchange.js";
import { concat } from "../../bytes/concat.js";
import { swapBytes } from "../../bytes/swap.js";
import type { Batch, VectorDataset } from "../../model/vectors.js";
import type { FileDataset } from "./dataset.js";
import { file as npy } from "./npy-table.js";
import { sampleOf } from "./sample.js";
import { file as tck } from "./tck.js";
import { file as trk } from "./trk.js";
import { encodeTrkHeader } from "./trk-header.js";

/** Numbers that are the same each time. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Made {
  readonly seed: number;
  readonly count: number;
  readonly longest: number;
  readonly scalars: number;
  readonly properties: number;
  readonly big: boolean;
}

/** Streamlines of many lengths, with zeros among their values, and some without vertices. */
function makeTrk({ seed, count, longest, scalars, properties, big }: Made): Uint8Array {
  const next = random(seed);
  const words: Uint8Array[] = [];
  for (let i = 0; i < count; i++) {
    const vertices = next() < 0.02 ? 0 : 1 + Math.floor(next() ** 3 * longest);
    const values = new Float32Array(vertices * (3 + scalars) + properties);
    for (let k = 0; k < values.length; k++) values[k] = next() < 0.1 ? 0 : Math.fround(next() * 200 - 20);
    words.push(new Uint8Array(Int32Array.of(vertices).buffer), new Uint8Array(values.buffer));
  }
  const header = {
    ...{ n_count: count, version: 2, dimensions: [99, 99, 99], voxel_size: [2, 2, 2], voxel_order: "RAS" },
    ...{ vox_to_ras: [2, 0, 0, -9, 0, 2, 0, 3, 0, 0, 2, 1, 0, 0, 0, 1], n_scalars: scalars, n_properties: properties },
  };
  const data = concat(words);
  return concat([encodeTrkHeader(header, big ? "big" : "little"), big ? swapBytes(data, 4) : data]);
}

/** The bytes of each object, as text; those without vertices are no matter. */
function textsOf({ positions, parts, vertexColumns, objectColumns, objects }: Batch): string[] {
  const own = (values: unknown, from: number, to: number) =>
    Buffer.from((values as Float32Array).slice(from, to).buffer).toString("latin1");
  return Array.from(parts.subarray(1), (end, part) => {
    const start = parts[part]!;
    const vertex = [...vertexColumns.values()].map(({ info, values }) =>
      own(values, start * info.channels, end * info.channels),
    );
    const row = objects[part]!;
    const object = [...objectColumns.values()].map(({ info, values }) =>
      own(values, row * info.channels, (row + 1) * info.channels),
    );
    return start === end ? "" : [own(positions, 3 * start, 3 * end), ...vertex, ...object].join("|");
  }).filter((text) => text !== "");
}

/** The places of what was sampled among all objects, by brute force. */
async function placesOf(dataset: FileDataset, sample: VectorDataset): Promise<number[]> {
  const all = new Map(textsOf(await dataset.select().read()).map((text, i) => [text, i]));
  const sampled = textsOf(await sample.select().read());
  expect(new Set(sampled).size).toBe(sampled.length);
  const missing = sampled.filter((text) => !all.has(text));
  expect(missing).toEqual([]);
  return sampled.map((text) => all.get(text)! / all.size);
}

describe("TRK", () => {
  const made = fc.record({
    seed: fc.nat(),
    count: fc.integer({ min: 1, max: 1500 }),
    longest: fc.constantFrom(3, 60, 400),
    scalars: fc.nat(3),
    properties: fc.nat(3),
    big: fc.boolean(),
  });
  it("has only streamlines of the file", async () => {
    await fc.assert(
      fc.asyncProperty(made, async (own) => {
        const dataset = await openBytes(trk, "a.trk", makeTrk(own));
        await placesOf(dataset, await sampleOf(dataset));
      }),
      { numRuns: 40 },
    );
  });

  it("comes from all over a large file, and reads little of it", async () => {
    const bytes = makeTrk({ seed: 7, count: 40_000, longest: 120, scalars: 1, properties: 1, big: false });
    const dataset = await openBytes(trk, "a.trk", bytes);
    const sample = await sampleOf(dataset);
    const places = await placesOf(dataset, sample);
    const tenths = Array.from({ length: 10 }, (_, i) => places.filter((at) => Math.floor(at * 10) === i).length);
    expect(Math.min(...tenths)).toBeGreaterThan(0.8 * (places.length / 10));
    expect(places.length).toBeGreaterThan(1500);
    expect((await sample.describe()).vertices).toBeLessThan(300_000);
  });

  it("of numbers that look like counts has none rather than wrong ones", async () => {
    const bytes = makeTrk({ seed: 3, count: 3000, longest: 60, scalars: 1, properties: 0, big: false });
    const words = new Int32Array(bytes.buffer, 1000);
    for (let at = 0; at < words.length; ) {
      const count = words[at++]!;
      for (let i = 0; i < count; i++, at += 4) words[at + 3] = 1 + (i % 9); // whole numbers where floats should be
    }
    const dataset = await openBytes(trk, "a.trk", bytes);
    await placesOf(dataset, await sampleOf(dataset));
  });

  it("of a file that was cut off is what is whole", async () => {
    const whole = makeTrk({ seed: 5, count: 2000, longest: 60, scalars: 0, properties: 1, big: false });
    const dataset = await openBytes(trk, "a.trk", whole);
    const cut = await openBytes(trk, "b.trk", whole.slice(0, whole.length - 7));
    await placesOf(dataset, await sampleOf(cut));
  });
});

describe("TCK", () => {
  it.each(["Float32LE", "Float64BE"])("%s has only streamlines of the file, from all over it", async (type) => {
    const next = random(11);
    const rows: number[] = [];
    for (let i = 0; i < 15_000; i++) {
      const vertices = next() < 0.02 ? 0 : 1 + Math.floor(next() ** 3 * 90);
      for (let k = 0; k < 3 * vertices; k++) rows.push(Math.fround(next() * 200 - 100));
      rows.push(Number.NaN, Number.NaN, Number.NaN);
    }
    rows.push(...[1, 1, 1].map(() => Number.POSITIVE_INFINITY));
    const wide = type.startsWith("Float64");
    const plain = new Uint8Array((wide ? Float64Array.from(rows) : Float32Array.from(rows)).buffer);
    const head = `mrtrix tracks\ndatatype: ${type}\ncount: 15000\nfile: . 100\nEND\n`.padEnd(100, "\0");
    const data = type.endsWith("BE") ? swapBytes(plain, wide ? 8 : 4) : plain;
    const dataset = await openBytes(tck, "a.tck", concat([new TextEncoder().encode(head), data]));
    const sample = await sampleOf(dataset);
    const places = await placesOf(dataset, sample);
    const tenths = Array.from({ length: 10 }, (_, i) => places.filter((at) => Math.floor(at * 10) === i).length);
    expect(Math.min(...tenths)).toBeGreaterThan(0.8 * (places.length / 10));
    expect((await sample.describe()).vertices).toBeLessThan(300_000);
  });
});

it("points are taken evenly from pieces all over the file", async () => {
  const count = 1_500_000;
  const values = Float32Array.from({ length: 3 * count }, (_, i) => Math.floor(i / 3));
  const head = `${`{'descr': '<f4', 'fortran_order': False, 'shape': (${count}, 3), }`.padEnd(117)}\n`;
  const magic = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, 118, 0);
  const bytes = concat([magic, new TextEncoder().encode(head), new Uint8Array(values.buffer)]);
  const dataset = await openBytes(npy, "a.npy", bytes);
  const { positions } = await (await sampleOf(dataset)).select().read();
  expect(positions.length / 3).toBeGreaterThan(100_000);
  expect(positions.length / 3).toBeLessThan(400_000);
  const found = new Set(positions.filter((_, i) => i % 3 === 0));
  expect(found.size).toBe(positions.length / 3);
  const tenths = Array.from(
    { length: 10 },
    (_, i) => [...found].filter((x) => Math.floor((10 * x) / count) === i).length,
  );
  expect(Math.min(...tenths)).toBeGreaterThan(0.5 * (found.size / 10));
});
