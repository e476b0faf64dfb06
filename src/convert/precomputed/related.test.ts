/** What annotations are related to goes with them, into other formats and back: 64 bits exact, lists of any length. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type AnnotationType, createAnnotations, openAnnotations } from "../../format/precomputed/index.js";
import { convert, diff, open } from "../../node.js";
import { fileStore } from "../../store/file.js";
import { Prefix } from "../../store/key.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-related-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const COUNT = 60;
const BIG = 2n ** 60n;
const dimensions = ["x", "y", "z"].map((name) => ({ name, scale: 1e-9, unit: "m" }));
/** Ids of points are an attribute, those of objects have 63 bits in a store. */
const first = (type: AnnotationType): bigint => (type === "point" ? 2n ** 63n : 2n ** 62n);
/** Up to `most` ids for each annotation. */
const lists = (most: number) => {
  const offsets = new Uint32Array(COUNT + 1);
  const ids: bigint[] = [];
  for (let i = 0; i < COUNT; i++) {
    for (let k = 0; k < i % (most + 1); k++) ids.push(BIG + BigInt(7 * i + k));
    offsets[i + 1] = ids.length;
  }
  return { offsets, ids: BigUint64Array.from(ids) };
};

async function make(name: string, type: AnnotationType, sharded: boolean): Promise<string> {
  const points = type === "point" ? 1 : 2;
  const store = fileStore(join(folder, name));
  const description = {
    type,
    dimensions,
    relationships: ["pre", "post"],
    properties: [{ id: "size", type: "uint8" }],
  } as const;
  const writer = await createAnnotations(store, Prefix.root, description, { sharded });
  await writer.add({
    ids: BigUint64Array.from({ length: COUNT }, (_, i) => first(type) + BigInt(COUNT - i)),
    offsets: Uint32Array.from({ length: COUNT + 1 }, (_, i) => i * points),
    points: Float32Array.from({ length: 3 * points * COUNT }, (_, i) => (i * 7919) % 100),
    properties: new Map([["size", Uint8Array.from({ length: COUNT }, (_, i) => i)]]),
    related: new Map([
      ["pre", lists(1)],
      ["post", lists(3)],
    ]),
  });
  await writer.commit();
  return join(folder, name);
}

/** All that is related to what, by the id of each annotation. */
async function relatedIn(path: string, type: AnnotationType): Promise<Map<bigint, readonly string[]>> {
  const collection = await openAnnotations(fileStore(path));
  const found = new Map<bigint, readonly string[]>();
  for (let i = 1n; i <= COUNT; i++) {
    const id = first(type) + i;
    const { related, points, properties } = (await collection.get(id))!;
    found.set(id, [
      `${points}`,
      `${properties.get("size")}`,
      ...["pre", "post"].map((name) => `${related!.get(name)!.ids}`),
    ]);
  }
  return found;
}

describe.each([
  ["point", false],
  ["point", true],
  ["line", true],
] as const)("of %ss, in shards: %s", (type, sharded) => {
  const name = `${type}-${sharded}`;
  it.each(["zv", "parquet", "precomputed"])("into .%s and back", async (kind) => {
    const from = await make(`${name}-${kind}`, type, sharded);
    const between = `${from}.${kind}`;
    const to = `${from}-again`;
    const table =
      kind !== "parquet"
        ? {}
        : { table: { relationships: { pre: "pre", post: "post" }, ...(type === "line" && { kind: "line" as const }) } };
    const report = await convert(from, between, kind === "precomputed" ? { to: "precomputed" } : {});
    expect(report.losses.filter((loss) => /relationship/.test(loss))).toEqual([]);
    if (kind !== "parquet") expect((await diff(from, between, { ignore: ["levels"] })).counts).toEqual({});
    await convert(between, to, { to: "precomputed", ...table });
    expect(await relatedIn(to, type)).toEqual(await relatedIn(from, type));
    const found = await open(from, { related: true });
    if (found.kind !== "vectors") throw new Error("annotations are geometry");
    const infos = (await found.schema())[type === "point" ? "vertex" : "object"];
    expect(infos.filter(({ name }) => /p/.test(name)).map(({ name, channels }) => [name, channels])).toEqual([
      ["pre", 1],
      ["post", 3],
    ]);
  });
});
