import { describe, expect, it } from "vitest";
import { swapBytes } from "../../bytes/swap.js";
import { Corrupt } from "../../errors.js";
import type { Finding } from "../../model/format.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import { openBareTree } from "./bare.js";
import { bareTree } from "./bare-format.js";
import { buildTree } from "./build.js";
import { encodeTree } from "./encode.js";

const file = Key.of("packed.bin");

async function stored(change: (bytes: Uint8Array) => void = () => {}) {
  const positions = Float64Array.from({ length: 3000 }, (_, i) => (Math.imul(i, 0x9e3779b1) >>> 8) / 2 ** 24);
  const { tree } = await buildTree(positions, { threshold: 50, created: 1e9 });
  const bytes = encodeTree(tree);
  change(bytes);
  const store = memoryStore();
  await store.set(file, bytes);
  return { store, tree, bytes };
}

const findings = async (store: ReturnType<typeof memoryStore>, level: 1 | 2 | 5 = 5): Promise<Finding[]> => {
  const found: Finding[] = [];
  for await (const one of bareTree.validate(store, Prefix.root, { file, level })) found.push(one);
  return found;
};

describe("a packed tree alone", () => {
  it("is found by its header, in either byte order", async () => {
    const { store, bytes } = await stored();
    expect(await bareTree.detect(store, Prefix.root, { file })).toMatchObject({ format: "tree" });
    await store.set(file, swapBytes(bytes.slice(0, 144), 4));
    expect(await bareTree.detect(store, Prefix.root, { file })).toMatchObject({ format: "tree" });
    await store.set(file, new Uint8Array(500));
    expect(await bareTree.detect(store, Prefix.root, { file })).toBeUndefined();
  });

  it("is a dataset of nodes, which says that it has no positions", async () => {
    const { store, tree } = await stored();
    const dataset = await openBareTree(store, file);
    expect(dataset).toMatchObject({ geometries: ["points"], attributes: { particles: 1000, threshold: 50 } });
    expect(dataset.notes.join()).toContain("no positions");
    const batch = await dataset.select().read();
    const values = (name: string) => [...(batch.vertexColumns.get(name)!.values as Uint32Array)];
    expect(values("particles")[0]).toBe(1000);
    expect(batch.positions.length).toBe(3 * tree.nodes.length);
    const leaves = values("leaf").reduce((sum, leaf, i) => sum + leaf * values("particles")[i]!, 0);
    expect(leaves).toBe(1000);
    const [middle] = [tree.box.origin.map((low, axis) => low + tree.box.size[axis]! / 2)];
    expect([...batch.positions.subarray(0, 3)]).toEqual(middle);
    const few = await dataset.select({ where: "leaf = 1 and particles > 40" }).read();
    expect(few.positions.length).toBeGreaterThan(0);
    const [x = 0, y = 0, z = 0] = tree.box.origin;
    const octant = await dataset.select({ box: [x, y, z, ...middle] as number[] }).read();
    expect(octant.positions.length).toBeLessThan(batch.positions.length);
  });

  it("is damaged where validate says so, and names the node", async () => {
    expect(await findings((await stored()).store)).toEqual([]);
    const { store } = await stored((bytes) => {
      bytes[144 + 16 + 4]! ^= 1;
    });
    const found = await findings(store);
    expect(found.map(({ rule }) => rule)).toContain("packed-tree/checksum");
    expect(found.map(({ message }) => message).join("\n")).toMatch(/the node at byte 160 of/);
    expect(await findings(store, 1)).toEqual([]);
    await expect(openBareTree(store, file)).rejects.toThrow(Corrupt);
    await store.set(file, new Uint8Array(10));
    expect(await findings(store)).toMatchObject([{ severity: "error" }]);
  });
});
