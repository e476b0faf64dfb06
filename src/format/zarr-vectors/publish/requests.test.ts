/** What a published store costs over HTTP, from a server that lists nothing. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { random } from "../../../../test/zarr-vectors-scenes.js";
import type { Column } from "../../../model/attributes.js";
import type { Query, VectorDataset } from "../../../model/vectors.js";
import { httpStore } from "../../../store/http.js";
import { Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { serveStore, type TestServer } from "../../../testing/http-server.js";
import { openZarrVectors, publishZarrVectors } from "../index.js";
import type { VectorDescription } from "../write/description.js";
import { type BatchParts, createZarrVectors } from "../write/write.js";

const SIDE = 1000;
const CHUNK = 125;
/** One hundredth of space. */
const box = [300, 300, 300, 516, 516, 516];

const column = (name: string, values: Float32Array): [string, Column] => [
  name,
  { info: { name, dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 }, values },
];

/** Points, each with two values. */
function points(count: number): BatchParts {
  const next = random(1);
  const values = (): Float32Array => Float32Array.from({ length: count }, next);
  return {
    positions: Float32Array.from({ length: 3 * count }, () => SIDE * next()),
    vertexColumns: new Map([column("a", values()), column("b", values())]),
  };
}

/** Paths of 75 steps that turn a little, some three chunks each. */
function streamlines(count: number): BatchParts {
  const next = random(2);
  const positions = new Float32Array(count * 75 * 3);
  for (let line = 0, at = 0; line < count; line++) {
    const place = [0, 1, 2].map(() => 100 + 800 * next());
    const heading = [0, 1, 2].map(() => next() - 0.5);
    for (let step = 0; step < 75; step++) {
      const length = Math.hypot(...heading);
      for (let axis = 0; axis < 3; axis++) {
        positions[at++] = place[axis]!;
        place[axis]! += (2 * heading[axis]!) / length;
        heading[axis] = heading[axis]! / length + 0.6 * (next() - 0.5);
      }
    }
  }
  return {
    positions,
    parts: Uint32Array.from({ length: count + 1 }, (_, i) => 75 * i),
    objects: Int32Array.from({ length: count }, (_, i) => i),
    ids: BigInt64Array.from({ length: count }, (_, i) => BigInt(i)),
  };
}

/** One surface, waved, of n × n squares. */
function mesh(n: number): BatchParts {
  const positions = new Float32Array((n + 1) ** 2 * 3);
  for (let i = 0, at = 0; i <= n; i++)
    for (let j = 0; j <= n; j++) {
      positions[at++] = (SIDE * i) / n;
      positions[at++] = (SIDE * j) / n;
      positions[at++] = 400 + 150 * Math.sin((9 * i) / n) * Math.cos((7 * j) / n);
    }
  const ends = new Uint32Array(n * n * 6);
  for (let i = 0, at = 0; i < n; i++)
    for (let j = 0; j < n; j++) {
      const q = i * (n + 1) + j;
      for (const end of [q, q + n + 1, q + n + 2, q, q + n + 2, q + 1]) ends[at++] = end;
    }
  return {
    positions,
    parts: Uint32Array.of(0, positions.length / 3),
    objects: Int32Array.of(0),
    ids: BigInt64Array.of(0n),
    links: { width: 3, ends, columns: new Map() },
  };
}

const kinds: { readonly [name: string]: readonly [VectorDescription, () => BatchParts] } = {
  points: [
    { geometry: "points", chunkShape: CHUNK, bounds: { min: [0, 0, 0], max: [SIDE, SIDE, SIDE] } },
    () => points(200_000),
  ],
  streamlines: [{ geometry: "streamlines", chunkShape: CHUNK }, () => streamlines(3000)],
  mesh: [{ geometry: "mesh", chunkShape: CHUNK }, () => mesh(100)],
};

let server: TestServer;
const store = memoryStore();
const sources = new Map<string, VectorDataset>();
beforeAll(async () => {
  for (const [name, [description, batch]] of Object.entries(kinds)) {
    const writer = await createZarrVectors(memoryStore(), Prefix.root, { dims: 3, ...description });
    await writer.add(batch());
    const source = await writer.commit();
    sources.set(name, source);
    await publishZarrVectors(source, store, Prefix.of(name));
  }
  server = await serveStore(store);
}, 120_000);
afterAll(() => server.close());

async function opened(name: string) {
  server.log.length = 0;
  const dataset = await openZarrVectors(httpStore(`${server.url}/${name}`));
  const asked = async (query?: Query): Promise<number> => {
    if (query !== undefined) expect((await dataset.select(query).read()).positions.length).toBeGreaterThan(0);
    return server.log.splice(0).length;
  };
  return { dataset, asked };
}

describe("requests over HTTP", () => {
  test.each(Object.keys(kinds))("opening %s is one", async (name) => {
    const { dataset, asked } = await opened(name);
    expect(await asked()).toBe(1);
    expect(dataset.levels).toEqual(sources.get(name)!.levels);
  });

  test("a first object is at most 6, the next at most 3", async () => {
    for (const first of [0, 2500]) {
      const { asked } = await opened("streamlines");
      await asked();
      expect(await asked({ object: [first] })).toBeLessThanOrEqual(6);
      for (let id = 37; id < 3000; id += 171)
        expect(await asked({ object: [id] }), `object ${id}`).toBeLessThanOrEqual(3);
    }
  });

  test.each(Object.keys(kinds))("a box of %s is at most 24, and the answer is that of the source", async (name) => {
    for (const clip of [false, true]) {
      const { dataset, asked } = await opened(name);
      await asked();
      expect(await asked({ box, clip })).toBeLessThanOrEqual(24);
      const [found, wanted] = await Promise.all(
        [dataset, sources.get(name)!].map((from) => from.select({ box, clip }).read()),
      );
      expect(found!.positions).toEqual(wanted!.positions);
      expect(found!.ids).toEqual(wanted!.ids);
    }
  });

  test("what is asked for again costs nothing", async () => {
    const { asked } = await opened("mesh");
    await asked({ box });
    expect(await asked({ box })).toBe(0);
  });
});
