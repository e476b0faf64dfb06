import { expect, test } from "vitest";
import { Conflict, NotFound } from "../../../errors.js";
import { typed } from "../../../model/elements.js";
import type { Finding } from "../../../model/format.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { precomputed } from "../index.js";
import type { SegmentPropertiesDataset } from "./dataset.js";
import type { SegmentProperties } from "./properties.js";
import { openSegmentProperties } from "./read.js";
import { largeWarning, writeSegmentProperties } from "./write.js";

const table: SegmentProperties = {
  ids: BigUint64Array.of(2n ** 64n - 1n, 5n, 2n ** 53n + 1n),
  properties: [
    { id: "name", type: "label", values: ["a", "b", "c"] },
    { id: "kinds", type: "tags", tags: ["x", "y"], values: [[0, 1], [], [1]] },
    { id: "size", type: "number", dataType: "int16", description: "in voxels", values: Int16Array.of(1, -2, 3) },
  ],
};
const findings = async (store: Store): Promise<Finding[]> => {
  const found: Finding[] = [];
  for await (const one of precomputed.validate(store, Prefix.root)) found.push(one);
  return found;
};

test("a table is a group of arrays", async () => {
  const store = memoryStore();
  expect((await writeSegmentProperties(store, Prefix.root, table)).warnings).toEqual([]);
  expect(await openSegmentProperties(store)).toEqual(table);
  const dataset = (await precomputed.open(store, Prefix.root)) as SegmentPropertiesDataset;
  expect((await dataset.children())!.map(({ name }) => name)).toEqual(["ids", "name", "kinds", "size"]);
  const array = async (name: string) => {
    const found = await dataset.open(name);
    if (found.kind !== "array") throw new Error("not an array");
    return found;
  };
  expect(typed(await (await array("ids")).read())).toEqual(table.ids);
  expect((await (await array("name")).read([{ start: 2, step: -1 }])).data).toEqual(["c", "b", "a"]);
  expect((await (await array("kinds")).read()).data).toEqual(["x y", "", "y"]);
  const size = await array("size");
  expect(size.attributes).toEqual({ type: "number", description: "in voxels" });
  expect([...typed(await size.read([1]))]).toEqual([-2]);
  await expect(dataset.open("none")).rejects.toThrow(NotFound);
  expect(await findings(store)).toEqual([]);
  await expect(writeSegmentProperties(store, Prefix.root, table)).rejects.toThrow(Conflict);
  await writeSegmentProperties(store, Prefix.root, table, { overwrite: true });
});

test("what is wrong with a table is found", async () => {
  const store = memoryStore();
  const ids = BigUint64Array.of(5n, 5n);
  await writeSegmentProperties(store, Prefix.root, {
    ids,
    properties: [{ id: "t", type: "tags", tags: ["a b"], values: [[], []] }],
  });
  expect((await findings(store)).map(({ rule, severity }) => [rule, severity])).toEqual([
    ["precomputed/undrawn", "warning"],
    ["precomputed/properties-ids", "warning"],
  ]);
  await store.set(
    Key.of("info"),
    new TextEncoder().encode('{"@type": "neuroglancer_segment_properties", "inline": {"ids": [5]}}'),
  );
  expect((await findings(store)).map(({ rule }) => rule)).toEqual(["precomputed/info"]);
});

test("a table of more than 50 MB is warned of", async () => {
  const store = memoryStore();
  const text = "x".repeat(1 << 20);
  const count = 52;
  const large: SegmentProperties = {
    ids: BigUint64Array.from({ length: count }, (_, i) => BigInt(i)),
    properties: [{ id: "d", type: "description", values: Array.from({ length: count }, () => text) }],
  };
  const { bytes, warnings } = await writeSegmentProperties(store, Prefix.root, large);
  expect(warnings).toEqual([largeWarning(bytes)]);
  expect((await findings(store)).map(({ rule }) => rule)).toEqual(["precomputed/size"]);
});
