import { describe, expect, it } from "vitest";
import { scene } from "../../../../test/zarr-vectors-scenes.js";
import { InvalidInput, Unsupported } from "../../../errors.js";
import type { Geometry } from "../../../model/vectors.js";
import { pickRows } from "../../../query/columns.js";
import { isPrivate, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { VectorDescription } from "./description.js";
import { createZarrVectors } from "./write.js";

const NONE = new Float32Array();

async function written(
  description: Partial<VectorDescription> & { readonly geometry: Geometry },
  late: boolean,
  maxMemory?: number,
) {
  const store = memoryStore();
  const { positions, parts, objects, ids, links, vertexColumns, objectColumns } = scene(description.geometry, 5, 30);
  const given = { ...description, dims: 3, name: "late", links: late ? { late } : {} };
  const writer = await createZarrVectors(store, Prefix.root, given, { maxMemory });
  const vertices = { positions, parts: parts!, objects: objects!, ids: ids!, vertexColumns: vertexColumns! };
  if (!late) await writer.add({ ...vertices, links: links!, objectColumns: objectColumns! });
  else {
    await writer.add({ ...vertices, objectColumns: objectColumns! });
    const { width, ends, columns } = links!;
    const count = ends.length / width;
    for (const [from, to] of [
      [0, count >> 1],
      [count >> 1, count],
    ] as const) {
      const rows = Array.from({ length: to - from }, (_, i) => from + i);
      const own = { width, ends: ends.subarray(from * width, to * width), columns: pickRows(columns, rows) };
      await writer.add({ positions: NONE, links: own, late: true });
    }
  }
  await writer.commit();
  const found: Record<string, string> = {};
  for await (const { key } of store.list(Prefix.root))
    if (!isPrivate(key)) found[key] = Buffer.from((await store.get(key))!).toString("base64");
  return found;
}

describe("links that come after all vertices", () => {
  it.each([
    ["mesh", 20, undefined],
    ["mesh", "auto", undefined],
    ["mesh", 20, 1000],
    ["graph", 7, 1000],
  ] as const)("make the same %s in chunks of %s, with memory %s", async (geometry, chunkShape, memory) => {
    const expected = await written({ geometry, chunkShape }, false);
    expect(Object.keys(expected).length).toBeGreaterThan(5);
    expect(await written({ geometry, chunkShape }, true, memory)).toEqual(expected);
  });

  it("in format 0.7.0 as well", async () => {
    const old = { geometry: "mesh", chunkShape: 20, formatVersion: "0.7.0", ids: "preserve" } as const;
    expect(await written(old, true, 1000)).toEqual(await written(old, false));
  });

  it("name vertices that have come, in a store that was told", async () => {
    const links = { width: 3, ends: Uint32Array.of(0, 1, 2), columns: new Map() };
    const batch = { positions: NONE, links, late: true } as const;
    const plain = await createZarrVectors(memoryStore(), Prefix.root, { geometry: "mesh", dims: 3 });
    await expect(plain.add(batch)).rejects.toThrow(InvalidInput);
    const told = { geometry: "mesh", dims: 3, chunkShape: 4, links: { late: true } } as const;
    const writer = await createZarrVectors(memoryStore(), Prefix.root, told);
    await writer.add({ positions: new Float32Array(6), ids: BigInt64Array.of(0n) });
    await expect(writer.add(batch)).rejects.toThrow("a link names vertex 2 of 2 that have come");
    for (const wrong of [{ geometry: "skeletons" }, { geometry: "mesh", nonFinite: "drop" }] as const)
      await expect(
        createZarrVectors(memoryStore(), Prefix.root, { dims: 3, links: { late: true }, ...wrong }),
      ).rejects.toThrow(Unsupported);
  });
});
