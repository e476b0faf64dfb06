/** Coarser levels, and attributes of fragments: what is written comes back, and the validator has nothing to say. */
import { describe, expect, it } from "vitest";
import { scene } from "../../../../test/zarr-vectors-scenes.js";
import { InvalidInput, Unsupported } from "../../../errors.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import type { Columns } from "../../../model/vectors.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { zarrVectors } from "../index.js";
import type { VectorDescription } from "./description.js";
import { type BatchParts, createZarrVectors, type LevelDescription } from "./write.js";

const at = Prefix.of("a.zarrvectors");
const info = (name: string, size: 4 | 8): AttributeInfo => ({
  name,
  dtype: { kind: "int", size, endian: "little" },
  channels: 1,
});
const column = (name: string, values: Int32Array): Columns => new Map([[name, { info: info(name, 4), values }]]);

/** Paths with these ids, each of some vertices along the first axis. */
const paths = (ids: readonly bigint[], size: number, step: number): BatchParts => ({
  positions: Float32Array.from({ length: ids.length * size * 2 }, (_, i) =>
    i % 2 === 0 ? (Math.floor(i / 2) % size) * step : Math.floor(i / 2 / size),
  ),
  parts: Uint32Array.from({ length: ids.length + 1 }, (_, p) => p * size),
  objects: Int32Array.from(ids.keys()),
  ids: BigInt64Array.from(ids),
});

async function pyramid(
  description: Partial<VectorDescription> = {},
  coarse: Partial<LevelDescription> = {},
  ids: readonly bigint[] = [9n, 4n],
) {
  const store = memoryStore();
  const writer = await createZarrVectors(store, at, { geometry: "polylines", dims: 2, chunkShape: 8, ...description });
  await writer.add(paths([2n, 4n, 9n], 16, 1));
  const level = writer.level(1, { scale: 2, chunkScale: 2, sparsity: 0.5, method: "by hand", ...coarse });
  await level.add({ ...paths(ids, 8, 2), objectColumns: column("n", Int32Array.from(ids, Number)) });
  level.groups([[...ids]]);
  const dataset = await writer.commit();
  const findings: string[] = [];
  for await (const { severity, message } of zarrVectors.validate(store, at))
    if (severity === "error") findings.push(message);
  return { store, dataset, findings };
}
const json = async (store: ReturnType<typeof memoryStore>, path: string) =>
  JSON.parse(new TextDecoder().decode((await store.get(Key.join(at, path)))!));

describe("a coarser level", () => {
  it.each([{}, { chunkShape: "auto" }, { formatVersion: "0.7.0", ids: "preserve" }] as const)(
    "keeps the ids of level 0, with a row for each of them: %j",
    async (description) => {
      const { store, dataset, findings } = await pyramid(description);
      expect(findings).toEqual([]);
      const [fine, coarse] = dataset.levels;
      expect(coarse).toMatchObject({ level: 1, parent: 0, method: "by hand", sparsity: 0.5, vertices: 16 });
      expect(coarse!.chunkShape).toEqual(fine!.chunkShape!.map((size) => 2 * size));
      expect(coarse!.binShape).toEqual(fine!.binShape.map((size) => 2 * size));
      expect([...(await dataset.objectIds(1))]).toEqual([4n, 9n]);
      const rows = await Promise.all([0, 1].map(async (level) => (await dataset.source(level)).objects!.ids()));
      expect(rows[1]).toEqual(rows[0]);
      const { positions } = await dataset.select({ level: 1, object: [9n] }).read();
      expect([...positions]).toEqual(Array.from({ length: 8 }, (_, i) => [2 * i, 0]).flat());
      const { format_capabilities: capabilities } = (await json(store, "zarr.json")).attributes.zarr_vectors;
      expect(capabilities).toEqual(["preserved_object_ids"]);
      const said = (await json(store, "1/zarr.json")).attributes.zarr_vectors_level;
      expect(said).toMatchObject({ preserves_object_ids: true, inherited_num_objects: rows[0]!.length });
      expect([...(await dataset.groupMembers(0, 1))]).toEqual([9n, 4n]);
    },
  );

  it("may be numbered anew: level0_object_id says who is who", async () => {
    const { store, dataset, findings } = await pyramid({}, { renumber: true });
    expect(findings).toEqual([]);
    expect([...(await dataset.objectIds(1))]).toEqual([4n, 9n]);
    expect((await json(store, "1/object_index/zarr.json")).attributes.num_objects).toBe(2);
    expect((await json(store, "1/zarr.json")).attributes.zarr_vectors_level.preserves_object_ids).toBeUndefined();
    const { objectColumns } = await dataset.select({ level: 1, object: [9n] }).read();
    expect(objectColumns.get("n")!.values).toEqual(Int32Array.of(9));
  });

  it("has the new ids of level 0 where those are new", async () => {
    const { dataset, findings } = await pyramid({ ids: "dense" });
    expect(findings).toEqual([]);
    expect([...(await dataset.objectIds(1))]).toEqual([1n, 2n]);
    expect((await dataset.select({ level: 1, object: [2n] }).read()).objectColumns.get("n")!.values[0]).toBe(9);
  });

  it("shares vertices that several objects have", async () => {
    const store = memoryStore();
    const writer = await createZarrVectors(store, at, { geometry: "polylines", dims: 2, chunkShape: 8 });
    await writer.add(paths([1n, 2n], 16, 1));
    const same = paths([1n, 2n], 8, 2);
    const level = writer.level(1, { scale: 2, sharedFragments: "vertices" });
    await level.add({ ...same, positions: same.positions.map((v, i) => (i % 2 === 0 ? v : 0)) });
    const dataset = await writer.commit();
    expect(dataset.levels[1]!.vertices).toBe(8);
    expect((await dataset.select({ level: 1, object: [2n] }).read()).positions).toHaveLength(16);
    for await (const finding of zarrVectors.validate(store, at)) expect(finding.severity).not.toBe("error");
  });

  it.each([
    [{}, [7n], /the object 7, which level 0 has not/],
    [{ scale: 0 }, [4n], /scale of a level should be 2 numbers above 0/],
    [{ chunkScale: 1.5 }, [4n], /chunk scale of a level should be 2 whole numbers/],
    [{ sparsity: 0 }, [4n], /sparsity of a level/],
  ] as const)("is refused: %j", async (coarse, ids, why) => {
    await expect(pyramid({}, coarse, ids)).rejects.toThrow(InvalidInput);
    await expect(pyramid({}, coarse, ids)).rejects.toThrow(why);
  });
});

describe("attributes of fragments", () => {
  it.each(["points", "polylines", "skeletons", "mesh"] as const)("of %s go with every vertex", async (geometry) => {
    for (const options of [{}, { maxMemory: 1 << 10 }]) {
      const batch = scene(geometry, 5, 6, 3);
      const count = batch.positions.length / 3;
      const offsets = Uint32Array.from([
        0,
        ...Array.from({ length: Math.ceil(count / 7) }, (_, f) => Math.min(count, 7 * f + 7)),
      ]);
      const marks = Int32Array.from({ length: offsets.length - 1 }, (_, f) => 100 + f);
      const store = memoryStore();
      const writer = await createZarrVectors(store, at, { geometry, dims: 3 }, options);
      await writer.add({ ...batch, fragments: { offsets, columns: column("mark", marks) } });
      const dataset = await writer.commit();
      const told = (positions: ArrayLike<number>, fragments: { offsets: Uint32Array; columns: Columns }): string[] => {
        const values = fragments.columns.get("mark")!.values as Int32Array;
        return Array.from(values, (mark, f) =>
          Array.from({ length: fragments.offsets[f + 1]! - fragments.offsets[f]! }, (_, i) => {
            const from = (fragments.offsets[f]! + i) * 3;
            return `${mark} ${positions[from]} ${positions[from + 1]} ${positions[from + 2]}`;
          }),
        )
          .flat()
          .sort();
      };
      const found = await dataset.select().read();
      expect(told(found.positions, found.fragments!)).toEqual(
        told(batch.positions, { offsets, columns: column("mark", marks) }),
      );
      for await (const finding of zarrVectors.validate(store, at)) expect(finding.severity).not.toBe("error");
    }
  });

  it("are refused for bins, and where fragments are shared", async () => {
    const fragments = { offsets: Uint32Array.of(0, 1), columns: column("mark", Int32Array.of(1)) };
    const one = { positions: Float32Array.of(1, 2), fragments };
    const points = await createZarrVectors(memoryStore(), at, { geometry: "points", dims: 2, chunkShape: 8 });
    await expect(points.add(one)).rejects.toThrow(Unsupported);
    const shared = { geometry: "polylines", dims: 2, chunkShape: 8, sharedFragments: true } as const;
    await expect((await createZarrVectors(memoryStore(), at, shared)).add(one)).rejects.toThrow(Unsupported);
    const lines = await createZarrVectors(memoryStore(), at, { geometry: "polylines", dims: 2, chunkShape: 8 });
    const wrong = { ...one, fragments: { ...fragments, offsets: Uint32Array.of(0, 2) } };
    await expect(lines.add(wrong)).rejects.toThrow(/from vertex 0 to 1/);
  });
});
