/** Vectors for R9: the n-th operation of an edit fails, for every n; the store is as before or whole, and a later try succeeds. */
import { isDeepStrictEqual } from "node:util";
import { OctavoError } from "../../src/errors.js";
import {
  createZarrVectors,
  editZarrVectors,
  openZarrVectors,
  type VectorTransaction,
} from "../../src/format/zarr-vectors/index.js";
import type { Key } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/types.js";
import { failNth, faultyStore } from "../../src/testing/index.js";
import { anyThing, at, batchOf, diceOf, findings, storeOf, type Things } from "../zarr-vectors-edits.js";
import { toldLevel } from "../zarr-vectors-told.js";

let marks = 0;
const thing = (seed: number) => anyThing("graph", diceOf(seed), () => marks++);
const things: Things = new Map([1, 2, 3].map((seed) => [BigInt(seed), thing(seed)]));
const more: Things = new Map([[9n, thing(9)]]);
const { ids: _, objects: __, objectColumns: ___, ...other } = batchOf("graph", [[2n, thing(5)]]);
const info = { name: "w", dtype: { kind: "float", size: 4, endian: "little" }, channels: 1 } as const;

/** Each is one commit on a store of three graphs. */
const edits: { readonly [name: string]: (edit: VectorTransaction) => void } = {
  "append and delete": (edit) => {
    edit.append(batchOf("graph", more));
    edit.delete([2]);
  },
  replace: (edit) => edit.replace(2, other),
  "move vertices": (edit) => edit.moveVertices(1, [0], Float32Array.of(1, 39, 1)),
  "add an attribute of links": (edit) => edit.addAttribute("link", info),
  "set groups": (edit) => edit.setGroups([[1, 3], { start: 1, stop: 3 }]),
  rechunk: (edit) => edit.rechunk(16),
  shard: (edit) => edit.shard([2, 2, 2]),
};

async function commit(store: Store, name: string): Promise<unknown> {
  const edit = await editZarrVectors(store, at);
  edits[name]!(edit);
  return edit.commit();
}
const told = async (store: Store) => {
  const dataset = await openZarrVectors(store, at);
  return { ...(await toldLevel(dataset, 0)), chunks: dataset.levels[0]!.chunkShape };
};

/** Each n-th operation, or every `step`-th of them. */
export async function failVectors(step: number): Promise<{ readonly tried: number; readonly broken: string[] }> {
  const broken: string[] = [];
  let tried = 0;
  const first = memoryStore();
  await storeOf(first, "graph", things);
  const files = new Map<Key, Uint8Array>();
  for await (const { key } of first.list(at)) files.set(key, (await first.get(key))!);
  const before = await told(first);
  const fresh = async (): Promise<Store> => {
    const store = memoryStore();
    for (const [key, bytes] of files) await store.set(key, bytes);
    return store;
  };
  for (const name of Object.keys(edits)) {
    const whole = await fresh();
    await commit(whole, name);
    const after = await told(whole);
    for (let n = 1, hit = true; hit; n += step) {
      const store = await fresh();
      hit = false;
      const nth = failNth(n);
      const faulty = faultyStore(store, (operation) => {
        try {
          return nth(operation);
        } catch (error) {
          hit = true;
          throw error;
        }
      });
      tried++;
      const wrong = await outcome(store, faulty, name, before, after);
      if (wrong !== undefined) broken.push(`vectors, ${name}, operation ${n}: ${wrong}`);
    }
  }
  const written = await failWriter(before.objects, step);
  return { tried: tried + written.tried, broken: [...broken, ...written.broken] };
}

async function outcome(
  store: Store,
  faulty: Store,
  name: string,
  before: unknown,
  after: unknown,
): Promise<string | undefined> {
  const failed = await commit(faulty, name).then(
    () => undefined,
    (error: Error) => error,
  );
  if (failed !== undefined && !(failed instanceof OctavoError)) return failed.stack;
  if (!isDeepStrictEqual(await told(store), failed === undefined ? after : before))
    return `it ${failed === undefined ? "succeeded" : "failed"}, and a reader sees something else`;
  if (failed !== undefined) await commit(store, name);
  else await (await editZarrVectors(store, at)).commit(); // the next writer finishes what could not be applied
  if (!isDeepStrictEqual(await told(store), after)) return "the next try left something else";
  return (await findings(store))[0];
}

/** A new store: nothing of it is there before all of it is. */
async function failWriter(expected: readonly string[], step: number): Promise<{ tried: number; broken: string[] }> {
  const broken: string[] = [];
  for (let n = 1, tried = 1; ; n += step, tried++) {
    const store = memoryStore();
    const write = async (to: Store): Promise<void> => {
      const writer = await createZarrVectors(
        to,
        at,
        { geometry: "graph", dims: 3, chunkShape: 10 },
        { maxMemory: 1000 },
      );
      try {
        await writer.add(batchOf("graph", things));
        await writer.commit();
      } catch (error) {
        await writer.abort();
        throw error;
      }
    };
    const failed = await write(faultyStore(store, failNth(n))).then(
      () => undefined,
      (error: Error) => error,
    );
    if (failed === undefined) return { tried, broken };
    if (!(failed instanceof OctavoError)) broken.push(`vectors, create, operation ${n}: ${failed.stack}`);
    const there = await told(store).catch(() => undefined);
    if (there !== undefined) {
      // It was written when something after it failed.
      if (!isDeepStrictEqual(there.objects, expected))
        broken.push(`vectors, create, operation ${n}: half of it is there`);
    } else
      await write(store).catch((error: Error) => broken.push(`vectors, create again after ${n}: ${error.message}`));
  }
}
