/** What coarsening promises, by brute force: how far, what stays, and what stays joined. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import "../../test/properties.js";
import { random, scene } from "../../test/zarr-vectors-scenes.js";
import type { Batch, Geometry } from "../model/vectors.js";
import { coarseBatch, onlyObjects, thinned } from "./coarsen.js";
import { thinPoints } from "./points.js";

const seeds = fc.nat(1e9);

function batchOf(geometry: Geometry, seed: number, count = 6): Batch {
  const { positions, parts, objects, ids, links, vertexColumns, objectColumns } = scene(geometry, seed, count);
  return {
    level: 0,
    geometry,
    dims: 3,
    positions,
    parts: parts!,
    objects: objects!,
    ids: ids!,
    links,
    fragments: undefined,
    vertexColumns: vertexColumns!,
    objectColumns: objectColumns!,
    chunk: undefined,
  };
}

/** How far a vertex is from a polyline through others. */
function distance(positions: ArrayLike<number>, vertex: number, path: readonly number[]): number {
  const at = (v: number): number[] => [0, 1, 2].map((axis) => positions[3 * v + axis]!);
  const p = at(vertex);
  let least = Infinity;
  for (let i = 0; i + 1 < Math.max(2, path.length); i++) {
    const [a, b] = [at(path[i]!), at(path[Math.min(i + 1, path.length - 1)]!)];
    const side = b.map((value, axis) => value - a[axis]!);
    const length = side.reduce((sum, value) => sum + value * value, 0);
    const t = length === 0 ? 0 : side.reduce((sum, value, axis) => sum + value * (p[axis]! - a[axis]!), 0) / length;
    const q = a.map((value, axis) => value + Math.min(1, Math.max(0, t)) * side[axis]!);
    least = Math.min(least, Math.hypot(...q.map((value, axis) => value - p[axis]!)));
  }
  return least;
}

describe("paths", () => {
  it("keep their ends, and no vertex was further from what stays than allowed", async () => {
    await fc.assert(
      fc.asyncProperty(seeds, fc.double({ min: 0, max: 20, noNaN: true }), async (seed, allowed) => {
        const batch = batchOf("streamlines", seed);
        const { rows, error } = await thinned(batch, allowed);
        expect(error).toBeLessThanOrEqual(allowed);
        let worst = 0;
        for (let part = 0; part + 1 < batch.parts.length; part++) {
          const [from, to] = [batch.parts[part]!, batch.parts[part + 1]!];
          const path = [...rows].filter((row) => row >= from && row < to);
          expect([path[0], path.at(-1)]).toEqual([from, to - 1]);
          for (let vertex = from; vertex < to; vertex++)
            worst = Math.max(worst, distance(batch.positions, vertex, path));
        }
        expect(worst).toBeLessThanOrEqual(error + 1e-9);
      }),
    );
  });
  it("that are straight have two vertices left, with their own attributes", async () => {
    const batch = batchOf("polylines", 1, 1);
    const positions = Float32Array.from(batch.positions, (_, i) => Math.floor(i / 3));
    const straight = { ...batch, positions };
    const coarse = coarseBatch(straight, await thinned(straight, 1e-6));
    const last = positions.length / 3 - 1;
    expect([...coarse.parts]).toEqual([0, 2]);
    expect([...coarse.vertexColumns.get("uid")!.values]).toEqual([0, last]);
  });
});

/** Components, and rings: edges − vertices + components. */
function shapeOf(count: number, ends: Uint32Array) {
  const root = Array.from({ length: count }, (_, v) => v);
  const find = (v: number): number => (root[v] === v ? v : find(root[v]!));
  for (let i = 0; i < ends.length; i += 2) root[find(ends[i]!)] = find(ends[i + 1]!);
  const components = root.filter((own, v) => own === v).length;
  return { components, rings: ends.length / 2 - count + components };
}

describe.each(["graph", "skeletons"] as const)("%s", (geometry) => {
  it("stay as connected as they were, with every branch point and end", async () => {
    await fc.assert(
      fc.asyncProperty(seeds, fc.constantFrom(0, 1, 5, 1e9), async (seed, allowed) => {
        const batch = batchOf(geometry, seed);
        const { ends } = batch.links!;
        const coarse = await thinned(batch, allowed);
        const count = batch.positions.length / 3;
        expect(coarse.error).toBeLessThanOrEqual(allowed);
        expect(shapeOf(coarse.rows.length, coarse.links!.ends)).toEqual(shapeOf(count, ends));
        const degree = (list: Uint32Array, size: number): number[] => {
          const found = new Array<number>(size).fill(0);
          for (const end of list) found[end]!++;
          return found;
        };
        const [before, after] = [degree(ends, count), degree(coarse.links!.ends, coarse.rows.length)];
        for (const [vertex, own] of before.entries()) {
          const place = coarse.rows.indexOf(vertex);
          if (own !== 2) expect(after[place]).toBe(own);
          else if (place >= 0) expect(after[place]).toBe(2);
        }
        const pairs = Array.from({ length: coarse.links!.ends.length / 2 }, (_, i) => [
          ...coarse.links!.ends.subarray(2 * i, 2 * i + 2),
        ]);
        for (const [a, b] of pairs) if (!isLoop(ends)) expect(a).not.toBe(b);
      }),
    );
  });
});
const isLoop = (ends: Uint32Array): boolean => ends.some((end, i) => i % 2 === 0 && end === ends[i + 1]);

describe("points", () => {
  it("are one for each bin that had any, in it, and none is further than the bin is wide", () => {
    fc.assert(
      fc.property(seeds, fc.double({ min: 0.01, max: 2, noNaN: true }), (seed, size) => {
        const next = random(seed);
        const positions = Float64Array.from({ length: 600 }, () => 10 * next() - 5);
        const bin = [size, 2 * size, size];
        const { rows, bins, error } = thinPoints(positions, 3, [-5, -5, -5], bin);
        const cell = (point: number): string =>
          [0, 1, 2].map((axis) => Math.floor((positions[3 * point + axis]! + 5) / bin[axis]!)).join();
        const all = Array.from({ length: 200 }, (_, point) => cell(point));
        expect([...rows].map((row) => cell(row)).sort()).toEqual([...new Set(all)].sort());
        for (let point = 0; point < 200; point++) expect(cell(rows[bins[point]!]!)).toBe(all[point]);
        expect(error).toBeLessThanOrEqual(Math.hypot(...bin));
      }),
    );
  });
});

/** A sphere of triangles. */
function sphere(n: number): Batch {
  const positions = [0, 0, 1, 0, 0, -1];
  const faces: number[] = [];
  const at = (i: number, j: number): number => (i === 0 ? 0 : i === n ? 1 : 2 + (i - 1) * 2 * n + (j % (2 * n)));
  for (let i = 1; i < n; i++)
    for (let j = 0; j < 2 * n; j++) {
      const [theta, phi] = [(Math.PI * i) / n, (Math.PI * j) / n];
      positions.push(Math.sin(theta) * Math.cos(phi), Math.sin(theta) * Math.sin(phi), Math.cos(theta));
    }
  for (let i = 0; i < n; i++)
    for (let j = 0; j < 2 * n; j++) {
      if (i > 0) faces.push(at(i, j), at(i + 1, j), at(i, j + 1));
      if (i < n - 1) faces.push(at(i, j + 1), at(i + 1, j), at(i + 1, j + 1));
    }
  const info = { name: "face", dtype: { kind: "uint", size: 4, endian: "little" }, channels: 1 } as const;
  const values = Uint32Array.from({ length: faces.length / 3 }, (_, face) => face);
  return {
    ...batchOf("mesh", 1, 1),
    positions: Float32Array.from(positions),
    parts: Uint32Array.of(0, positions.length / 3),
    links: { width: 3, ends: Uint32Array.from(faces), columns: new Map([["face", { info, values }]]) },
    vertexColumns: new Map(),
  };
}

describe("meshes", () => {
  it.each([0.001, 0.01, 0.1])("move no further than %d, have fewer faces, and no hole", async (allowed) => {
    const batch = sphere(32);
    const { rows, links, error } = await thinned(batch, allowed);
    expect(error).toBeLessThanOrEqual(allowed);
    expect(links!.ends.length).toBeLessThan(batch.links!.ends.length / (allowed < 0.01 ? 1.1 : 4));
    const sides = new Map<string, number>();
    for (let at = 0; at < links!.ends.length; at += 3)
      for (let k = 0; k < 3; k++) {
        const [a, b] = [links!.ends[at + k]!, links!.ends[at + ((k + 1) % 3)]!];
        const side = a < b ? `${a} ${b}` : `${b} ${a}`;
        sides.set(side, (sides.get(side) ?? 0) + (a < b ? 1 : -1));
      }
    expect([...sides.values()].every((sum) => sum === 0)).toBe(true); // each edge there and back
    for (const [face, old] of links!.from.entries()) {
      const corners = Array.from(links!.ends.subarray(3 * face, 3 * face + 3), (end) => rows[end]!);
      expect(corners.some((end) => batch.links!.ends.subarray(3 * old, 3 * old + 3).includes(end))).toBe(true);
    }
  });
});

describe("objects that are left out", () => {
  it("take their vertices, links and attributes along, and nothing else", () => {
    const batch = batchOf("graph", 7);
    const few = onlyObjects(batch, (id) => id % 2n === 0n);
    expect([...few.ids]).toEqual([0n, 2n, 4n]);
    const uid = few.vertexColumns.get("uid")!.values as Int16Array;
    const expected = [0, 2, 4].flatMap((o) =>
      Array.from({ length: batch.parts[o + 1]! - batch.parts[o]! }, (_, i) => batch.parts[o]! + i),
    );
    expect([...uid]).toEqual(expected);
    const ends = [...few.links!.ends].map((end) => uid[end]);
    const before = [...batch.links!.ends];
    const kept = Array.from({ length: before.length / 2 }, (_, i) => before.slice(2 * i, 2 * i + 2)).filter((pair) =>
      pair.every((end) => expected.includes(end)),
    );
    expect(ends).toEqual(kept.flat());
    expect(few.objectColumns.get("score")!.values[1]).toBe(batch.objectColumns.get("score")!.values[2]);
  });
});
