/** COPC: levels, boxes that read only the nodes they meet, damage. What laspy says of such files is in the interop tests. */
import { describe, expect, it } from "vitest";
import { openBytes } from "../../../test/interchange.js";
import { OCTREE } from "../../../test/laz.js";
import { OctavoError } from "../../errors.js";
import { Key } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Store } from "../../store/types.js";
import { kindNamed } from "./kinds.js";
import { laz } from "./las.js";
import { openInterchange } from "./open.js";

const opened = () => openBytes(laz, "a.copc.laz", OCTREE);
const BOX = [10, 10, 10, 30, 40, 20];

describe("levels", () => {
  it("are depths of the octree, each a sample of the one before", async () => {
    const dataset = await opened();
    expect(dataset.version).toBe("COPC, LAZ 1.4, point format 7");
    expect(dataset.levels.map(({ level, vertices, binShape }) => [level, vertices, binShape[0]])).toEqual([
      [0, 60, 2],
      [1, 42, 4],
      [2, 5, 8],
    ]);
    const found: Set<number>[] = [];
    for (const { level } of dataset.levels) {
      const { vertexColumns } = await dataset.select({ level }).read();
      found.push(new Set(vertexColumns.get("intensity")!.values as Uint16Array));
    }
    expect(found.map(({ size }) => size)).toEqual([60, 42, 5]);
    expect([...found[2]!].every((own) => found[1]!.has(own))).toBe(true);
    expect([...found[0]!].sort((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, i) => i));
    expect(await dataset.select({ maxVertices: 50 }).level()).toBe(1);
    expect(await dataset.select({ resolution: 8 }).level()).toBe(2);
    await expect(dataset.select({ level: 3 }).read()).rejects.toThrow(/no level 3/);
  });
});

describe("a box", () => {
  it("is what all points say, from the nodes that it meets alone", async () => {
    const store = memoryStore();
    await store.set(Key.of("a.copc.laz"), OCTREE);
    const ranges: { readonly offset: number; readonly length: number }[] = [];
    const counting: Store = {
      ...store,
      get(key, options) {
        ranges.push(options?.range as (typeof ranges)[number]);
        return store.get(key, options);
      },
    };
    const dataset = await openInterchange(kindNamed("a.laz")!, counting, Key.of("a.copc.laz"));
    const { positions: all } = await (await opened()).select().read();
    const inside = Array.from({ length: 60 }, (_, i) => [...all.subarray(3 * i, 3 * i + 3)]).filter((place) =>
      place.every((at, axis) => at >= BOX[axis]! && at <= BOX[3 + axis]!),
    );
    const selection = dataset.select({ box: BOX });
    const plan = await selection.plan();
    expect(plan).toMatchObject({ requests: 6, exact: true });
    ranges.length = 0;
    const { positions } = await selection.read();
    expect(inside.length).toBe(4);
    expect([...positions].sort()).toEqual(inside.flat().sort());
    expect(ranges.length).toBe(plan.requests);
    expect(ranges.reduce((sum, { length }) => sum + length, 0)).toBe(plan.bytes);
    expect(await dataset.select({ box: BOX, level: 2 }).plan()).toMatchObject({ requests: 1 });
  });
});

describe("damage", () => {
  const attempt = async (bytes: Uint8Array): Promise<boolean> => {
    try {
      const dataset = await openBytes(laz, "a.copc.laz", bytes, { limits: { chunkBytes: 1 << 20 } });
      await dataset.select({ level: dataset.levels.length - 1 }).read(); // making a decoder takes longest
      return true;
    } catch (error) {
      expect(error).toBeInstanceOf(OctavoError);
      return false;
    }
  };

  it("every shorter file is an error", async () => {
    for (let length = 0; length < OCTREE.length; length += 97)
      expect(await attempt(OCTREE.slice(0, length)), `${length}`).toBe(false);
  });

  it("any other byte is read, or one of our errors", { timeout: 30_000 }, async () => {
    for (let at = 0; at < OCTREE.length; at += at > 400 && at < 500 ? 5 : 59) {
      const other = OCTREE.slice();
      other[at]! ^= 0xff;
      await attempt(other);
    }
  });

  const info = 375 + 54; // where the record of COPC is
  const damaged = (change: (view: DataView, pages: number) => void): Uint8Array => {
    const bytes = OCTREE.slice();
    const view = new DataView(bytes.buffer);
    change(view, Number(view.getBigUint64(info + 40, true)));
    return bytes;
  };
  it.each([
    ["no side", (view: DataView) => view.setFloat64(info + 24, 0, true), /an octree of side 0/],
    [
      "a page beyond the end",
      (view: DataView) => view.setBigUint64(info + 40, 1n << 40n, true),
      /a page of its octree/,
    ],
    [
      "half an entry",
      (view: DataView) => view.setBigUint64(info + 48, 33n, true),
      /a page of its octree at .* with 33/,
    ],
    ["a cube that is none", (view: DataView, page: number) => view.setInt32(page + 4, 7, true), /a node 0-7-0-0/],
    [
      "a node beyond the end",
      (view: DataView, page: number) => view.setInt32(page + 24, 1 << 30, true),
      /a node 0-0-0-0/,
    ],
    [
      "other points",
      (view: DataView, page: number) => view.setInt32(page + 28, 4, true),
      /60 points, but the nodes .* 59/,
    ],
    [
      "a page in itself",
      (view: DataView, page: number) => {
        view.setBigUint64(page + 16, BigInt(page), true);
        view.setInt32(page + 24, 32, true);
        view.setInt32(page + 28, -1, true);
      },
      /the page of its octree at \d+ twice/,
    ],
  ])("%s", async (_, change, message) => {
    await expect(openBytes(laz, "a.copc.laz", damaged(change))).rejects.toThrow(message);
  });
});
