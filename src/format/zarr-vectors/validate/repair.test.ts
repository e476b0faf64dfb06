import { describe, expect, test } from "vitest";
import { type Files, rows, tinyGraph } from "../../../../test/zarr-vectors-tiny.js";
import type { Finding } from "../../../model/format.js";
import { Key, Prefix } from "../../../store/key.js";
import { Transaction } from "../../../store/transaction.js";
import type { Store } from "../../../store/types.js";
import { repairZarrVectors } from "./repair.js";
import { validateZarrVectors } from "./validate.js";

async function findings(store: Store): Promise<Finding[]> {
  const out: Finding[] = [];
  for await (const found of validateZarrVectors(store, Prefix.root)) out.push(found);
  return out;
}

async function snapshot(store: Store): Promise<Map<string, string>> {
  const out = new Map<string, string>();
  for await (const { key } of store.list(Prefix.root))
    if (!key.startsWith(".octavo")) out.set(key, Buffer.from((await store.get(key))!).toString("hex"));
  return out;
}

const OWNERS = "0/fragment_attributes/object_id";

const damages: { readonly [what: string]: (files: Files) => void } = {
  directory: (files) => files.attributes("0/vertex_attributes/w", (own) => own.nonempty_chunks.pop()),
  "no directory": (files) => files.attributes("0/vertex_fragments", (own) => delete own.nonempty_chunks),
  "vertex count": (files) => files.level(0, (own) => (own.vertex_count = 7)),
  "object counts": (files) =>
    files.attributes("0/object_index", (own) => Object.assign(own, { num_objects: 9, num_present: 8 })),
  "link counts": (files) =>
    files.attributes("0/links/0", (own) => Object.assign(own, { num_links: 9, num_physical_records: 8 })),
  "counts of links between levels": (files) => files.attributes("0/links/+1", (own) => (own.num_physical_records = 8)),
  "group count": (files) => files.attributes("0/groups", (own) => (own.num_groups = 8)),
  owners: (files) => files.cell(OWNERS, "0.0", rows([9, 9])),
  "short owners": (files) => files.cell(OWNERS, "0.0", rows([5])),
  bounds: (files) =>
    files.root(
      (own) =>
        (own.bounds = [
          [2, 1],
          [11, 3],
        ]),
    ),
  "arrays present": (files) => files.level(0, (own) => own.arrays_present.push("groupings")),
  consolidated: (files) => {
    const metadata = { "0": files.document("1/zarr.json") };
    files.document(
      "zarr.json",
      (own) => (own.consolidated_metadata = { kind: "inline", must_understand: false, metadata }),
    );
  },
};

describe("what follows from the rest is written again", () => {
  test.each(Object.entries(damages))("%s", async (_, damage) => {
    const files = tinyGraph();
    damage(files);
    const store = await files.store();
    const before = await snapshot(store);
    const planned = await repairZarrVectors(store, Prefix.root, { dryRun: true });
    expect(await snapshot(store)).toEqual(before);
    expect(planned.fixed.length).toBeGreaterThan(0);
    expect(planned.fixed.every(({ fix }) => fix !== undefined)).toBe(true);
    const { fixed, left } = await repairZarrVectors(store);
    expect(fixed).toEqual(expect.arrayContaining([...planned.fixed]));
    expect(left).toEqual([]);
    expect(await findings(store)).toEqual([]);
  });

  test("all at once, and a store that is right stays as it is", async () => {
    const files = tinyGraph();
    for (const damage of Object.values(damages)) damage(files);
    const store = await files.store();
    expect((await repairZarrVectors(store)).left).toEqual([]);
    const repaired = await snapshot(store);
    expect(await repairZarrVectors(store)).toEqual({ fixed: [], left: [] });
    expect(await snapshot(store)).toEqual(repaired);
  });
});

test("data are never made up: a lost chunk stays named, and lost", async () => {
  const files = tinyGraph();
  files.delete("0/vertices/c/1/0");
  files.level(0, (own) => (own.vertex_count = 3));
  const store = await files.store();
  const before = await snapshot(store);
  const { fixed, left } = await repairZarrVectors(store);
  expect(fixed).toEqual([]);
  expect(left.map(({ rule }) => rule)).toContain("zarr-vectors/cell-missing");
  expect(await snapshot(store)).toEqual(before);
});

test("a commit that was not brought to its place is", async () => {
  const store = await tinyGraph().store();
  const key = Key.of("0/zarr.json");
  const whole = (await store.get(key))!;
  let broken = false;
  const failing: Store = {
    ...store,
    async set(at, value, options) {
      if (broken && at === key) throw new Error("killed");
      return store.set(at, value, options);
    },
  };
  const transaction = await Transaction.begin(failing, Prefix.root);
  await transaction.store.set(key, Buffer.from(`${Buffer.from(whole)} `));
  broken = true;
  expect((await transaction.commit()).unapplied).toBeDefined();
  expect((await findings(store)).map(({ rule }) => rule)).toEqual(["zarr-vectors/torn-transaction"]);
  const { fixed, left } = await repairZarrVectors(store);
  expect(fixed.map(({ rule }) => rule)).toEqual(["zarr-vectors/torn-transaction"]);
  expect(left).toEqual([]);
  expect(Buffer.from((await store.get(key))!).toString()).toBe(`${Buffer.from(whole)} `);
});
