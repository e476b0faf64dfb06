/** Streamlines without vertices are not lost on the way to a store, nor are their attributes. */
import { expect, it } from "vitest";
import { openBytes, paths, written } from "../../test/interchange.js";
import { file } from "../format/interchange/trx.js";
import { openZarrVectors } from "../format/zarr-vectors/index.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { convertVectors } from "./vectors.js";

it("objects without vertices are in the store, with their attributes", async () => {
  const info = { name: "w", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 } as const;
  const lines = [[], [1, 2, 3], [], [4, 5, 6, 7, 8, 9], []];
  const data = paths(lines, { object: [{ info, values: Float32Array.of(10, 11, 12, 13, 14) }] });
  const dataset = await openBytes(file, "a.trx", (await written(file, data)).bytes);
  expect([...(await dataset.objectIds())]).toEqual([1n, 3n]);
  expect([...(await dataset.select().read()).ids]).toEqual([1n, 3n]);
  const named = await dataset.select({ object: [2] }).read();
  expect([[...named.ids], [...named.objectColumns.get("w")!.values]]).toEqual([[2n], [12]]);
  const store = memoryStore();
  const report = await convertVectors(dataset, store, Prefix.root);
  expect(report).toMatchObject({ vertices: 3, losses: [] });
  const stored = await openZarrVectors(store, Prefix.root);
  const { ids, objectColumns } = await stored.select({ object: [0, 1, 2, 3, 4] }).read();
  expect(new Map(Array.from(ids, (id, row) => [id, objectColumns.get("w")!.values[row]]))).toEqual(
    new Map([10, 11, 12, 13, 14].map((value, id) => [BigInt(id), value])),
  );
});
