import { expect, it } from "vitest";
import { Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { recordingStore } from "../../../testing/index.js";
import { createZarrVectors, openZarrVectors } from "../index.js";
import { Shelf } from "./shelf.js";

it("keeps what was used last, up to so many bytes", () => {
  const shelf = new Shelf();
  const gone: string[] = [];
  const things = new Map(["a", "b", "c"].map((name) => [name, { name }]));
  const put = (name: string, bytes: number, most = 100) =>
    shelf.put(things.get(name)!, bytes, () => gone.push(name), most);
  put("a", 40);
  put("b", 40);
  put("a", 40); // used again
  put("c", 30);
  expect(gone).toEqual(["b"]);
  shelf.take(things.get("a")!);
  put("b", 70);
  expect(gone).toEqual(["b"]);
  put("a", 60, 50); // another caller allows less; what is in use stays
  expect(gone).toEqual(["b", "c", "b"]);
});

it("an opened store reads a chunk again only where limits.keptBytes is too little for it", async () => {
  const store = recordingStore(memoryStore());
  const writer = await createZarrVectors(store, Prefix.root, { geometry: "streamlines", dims: 3, chunkShape: 10 });
  const positions = Float32Array.from({ length: 3000 }, (_, i) => (i % 3 === 0 ? (i / 3) % 40 : 1));
  await writer.add({
    positions,
    parts: Uint32Array.of(0, 500, 1000),
    objects: Int32Array.of(0, 1),
    ids: BigInt64Array.of(1n, 2n),
  });
  await writer.commit();
  const dataset = await openZarrVectors(store);
  const asked = async (object: bigint, keptBytes: number): Promise<number> => {
    store.log.length = 0;
    await dataset.select({ object: [object] }).read({ limits: { keptBytes } });
    return store.log.filter(({ at }) => at.startsWith("0/vertices/c")).length;
  };
  expect(await asked(1n, 1 << 20)).toBe(4);
  expect(await asked(2n, 1 << 20)).toBe(0);
  expect(await asked(2n, 5000)).toBeGreaterThan(0);
});
