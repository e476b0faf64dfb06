/** Storage that fails at any operation leaves the store before or after an edit, and readers notice what changes under them. */
import { describe, expect, it } from "vitest";
import {
  anyThing,
  at,
  batchOf,
  diceOf,
  findings,
  listBatch,
  listStore,
  listThings,
  storeOf,
  type Things,
} from "../../../../test/zarr-vectors-edits.js";
import { Conflict, Corrupt, LimitExceeded, NotFound, OctavoError } from "../../../errors.js";
import type { Key } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { Transaction } from "../../../store/transaction.js";
import type { Store } from "../../../store/types.js";
import { failNth, faultyStore } from "../../../testing/index.js";
import { openZarrVectors } from "../index.js";
import { editZarrVectors } from "./edit.js";

let marks = 0;
const thing = (seed: number) => anyThing("streamlines", diceOf(seed), () => marks++);
const before: Things = new Map([1, 2, 3].map((seed) => [BigInt(seed), thing(seed)]));
const added = thing(4);
const after: Things = new Map([...before, [4n, added]]);
after.delete(2n);

async function edit(store: Store) {
  const changes = await editZarrVectors(store, at);
  changes.append(batchOf("streamlines", [[4n, added]]));
  changes.delete([2]);
  return changes.commit();
}
async function fresh(): Promise<Store> {
  const store = memoryStore();
  await storeOf(store, "streamlines", before);
  return store;
}

describe("the n-th operation fails", () => {
  // The proof (R9v) tries every n, here it is every third.
  it("an error and the store as before, or the edit whole; a later try succeeds", { timeout: 60_000 }, async () => {
    const first = await fresh();
    const files = new Map<Key, Uint8Array>();
    for await (const { key } of first.list(at)) files.set(key, (await first.get(key))!);
    let [failed, unapplied] = [0, 0];
    for (let n = 1; ; n += 3) {
      const store = memoryStore();
      for (const [key, bytes] of files) await store.set(key, bytes);
      let done = false;
      let hit = false;
      const hook = failNth(n);
      const faulty = faultyStore(store, (operation) => {
        try {
          return hook(operation);
        } catch (error) {
          hit = true;
          throw error;
        }
      });
      try {
        if ((await edit(faulty)).unapplied !== undefined) unapplied++;
        done = true;
      } catch (error) {
        expect(error).toBeInstanceOf(OctavoError);
        failed++;
      }
      expect(await listStore(store)).toEqual(listThings("streamlines", done ? after : before));
      if (n % 10 === 1) {
        if (!done) await edit(store);
        await Transaction.recover(store, at);
        expect(await listStore(store)).toEqual(listThings("streamlines", after));
        expect(await findings(store)).toEqual([]);
      }
      if (!hit) break;
    }
    expect(failed).toBeGreaterThan(15);
    expect(unapplied).toBeGreaterThan(1);
  });
});

describe("readers", () => {
  it("see a commit that nobody has applied yet", async () => {
    const store = await fresh();
    let committed = false;
    const lame = faultyStore(store, ({ kind, at: key }) => {
      if (kind === "set" && key.endsWith("/head")) committed = true;
      else if (committed && kind === "set") throw new LimitExceeded("it is gone");
    });
    expect((await edit(lame)).unapplied).toBeDefined();
    expect(await listStore(store)).toEqual(listThings("streamlines", after));
  });

  it("that were there before a commit answer with what is there now", async () => {
    const store = await fresh();
    const dataset = await openZarrVectors(store, at);
    expect(listBatch(await dataset.select().read())).toEqual(listThings("streamlines", before));
    await edit(store);
    expect(listBatch(await dataset.select().read())).toEqual(listThings("streamlines", after));
    expect([...(await dataset.objectIds())]).toEqual([1n, 3n, 4n]);
    expect(dataset.levels[0]!.vertices).toBe([...after.values()].reduce((sum, { marks }) => sum + marks.length, 0));
  });

  it("begin anew when a commit comes while they read, and say Conflict when they have handed out", async () => {
    const store = await fresh();
    let now = async (): Promise<void> => {};
    const slow = faultyStore(store, ({ kind, at: key }) =>
      kind === "get" && key.includes("/vertices/c/") ? now() : undefined,
    );
    const dataset = await openZarrVectors(slow, at);
    now = async () => {
      now = async () => {};
      await edit(store);
    };
    expect(listBatch(await dataset.select().read())).toEqual(listThings("streamlines", after));

    const batches = dataset.select().batches({ batchVertices: 1 });
    await expect(async () => {
      for await (const _ of batches) {
        const again = await editZarrVectors(store, at);
        again.delete([3]);
        await again.commit().catch(() => {});
      }
    }).rejects.toThrow(Conflict);
  });

  it("that fail while a commit comes in try again, and say Conflict when another one comes", async () => {
    for (const commits of [1, 2]) {
      const store = await fresh();
      let [armed, left] = [false, commits];
      const torn = faultyStore(store, async ({ kind, at: key }) => {
        if (key === `${at}zarr.json`) armed = true; // once for every time that it is opened
        if (!armed || left === 0 || kind !== "get" || !key.includes("/vertices/c/")) return;
        armed = false;
        left--;
        const other = await editZarrVectors(store, at);
        other.setGroups([[1]]);
        await other.commit();
        throw new Corrupt("half of it is new");
      });
      const dataset = await openZarrVectors(torn, at);
      const answer = dataset.select().read();
      if (commits === 1) expect(listBatch(await answer)).toEqual(listThings("streamlines", before));
      else await expect(answer).rejects.toThrow(Conflict);
    }
  });

  it("of a level are told Conflict by whatever they ask once there has been a commit", async () => {
    const store = await fresh();
    const dataset = await openZarrVectors(store, at);
    const level = await dataset.source(0);
    const chunks = Array.from({ length: (await level.chunks()).count }, (_, chunk) => chunk);
    const tiles = async (): Promise<number> => {
      let vertices = 0;
      for await (const tile of level.tiles(chunks, { positions: true, vertex: [], fragment: [] }))
        vertices += tile.vertices;
      return vertices;
    };
    const vertices = await tiles();
    await edit(store);
    await expect(tiles()).rejects.toThrow(Conflict);
    await expect(level.objects!.ids()).rejects.toThrow(Conflict);
    const now = await dataset.source(0);
    expect(await now.counts([0])).toHaveLength(1);
    expect(vertices).toBe([...before.values()].reduce((sum, { marks }) => sum + marks.length, 0));
  });

  it("asking for an object that was deleted get it without vertices, as any object that has none; one that never was is not found", async () => {
    const store = await fresh();
    const dataset = await openZarrVectors(store, at);
    const editor = await editZarrVectors(store, at);
    editor.delete([1]);
    await editor.commit();
    expect(await dataset.select({ object: [1] }).read()).toMatchObject({
      ids: BigInt64Array.of(1n),
      positions: { length: 0 },
    });
    expect([...(await dataset.objectIds())]).not.toContain(1n);
    await expect(dataset.select({ object: [999] }).read()).rejects.toThrow(NotFound);
  });

  it("that are opened while a commit comes in are opened again", async () => {
    const store = await fresh();
    let first = true;
    const torn = faultyStore(store, async ({ kind, at: key }) => {
      if (!first || kind !== "get" || !key.endsWith("/0/zarr.json")) return;
      first = false;
      await edit(store);
      throw new Corrupt("half of it is new");
    });
    const dataset = await openZarrVectors(torn, at);
    expect(first).toBe(false);
    expect(listBatch(await dataset.select().read())).toEqual(listThings("streamlines", after));
  });

  it("who cannot write look for a log only where the root speaks of one", async () => {
    const store = await fresh();
    const asked: string[] = [];
    const watched = faultyStore(store, ({ at: key }) => asked.push(key));
    const plain: Store = { ...watched, can: { ...watched.can, write: false } };
    const heads = async (): Promise<number> => {
      asked.length = 0;
      await (await openZarrVectors(plain, at)).select({ object: [1] }).read();
      return asked.filter((key) => key.endsWith(".octavo/head")).length;
    };
    expect(await heads()).toBe(0);
    await edit(store);
    expect(await heads()).toBeGreaterThan(1); // before, and after
  });
});
