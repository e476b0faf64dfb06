/** The first writers of a store: the mark that there is a log comes before it, and takes nothing from others. */
import { expect, it } from "vitest";
import {
  anyThing,
  at,
  batchOf,
  diceOf,
  listStore,
  listThings,
  storeOf,
  type Thing,
  type Things,
} from "../../../../test/zarr-vectors-edits.js";
import { type JsonObject, parseJson } from "../../../bytes/json.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { defaultLimits } from "../../../limits.js";
import { Key } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import type { Store } from "../../../store/types.js";
import { faultyStore } from "../../../testing/observe.js";
import { editZarrVectors } from "../edit/edit.js";
import { markLog } from "./log-mark.js";

let marks = 0;
const [one, ten, twenty] = [1, 2, 3].map((seed) => anyThing("streamlines", diceOf(seed), () => marks++)) as [
  Thing,
  Thing,
  Thing,
];
const things: Things = new Map([[1n, one]]);
const root = Key.join(at, "zarr.json");
const attributesOf = async (store: Store): Promise<JsonObject> =>
  (parseJson((await store.get(root))!, defaultLimits, "the root") as JsonObject).attributes as JsonObject;

async function fresh(): Promise<Store> {
  const store = memoryStore();
  await storeOf(store, "streamlines", things);
  return store;
}

it("a root that somebody changes meanwhile keeps that change, and is marked", async () => {
  const store = await fresh();
  let first = true;
  const slow = faultyStore(store, async ({ kind, at: key }) => {
    if (!first || kind !== "set" || key !== root) return;
    first = false;
    const document = parseJson((await store.get(root))!, defaultLimits, "the root") as JsonObject;
    const attributes = { ...(document.attributes as JsonObject), added: 7 };
    await store.set(root, encodeUtf8(JSON.stringify({ ...document, attributes }), "the root"));
  });
  await markLog(slow, at);
  expect(first).toBe(false);
  expect(await attributesOf(store)).toMatchObject({ octavo_log: true, added: 7 });
});

it("two first writers at once both commit", async () => {
  const store = await fresh();
  expect(await attributesOf(store)).not.toHaveProperty("octavo_log");
  const append = async (id: bigint, thing: Thing): Promise<void> => {
    const edit = await editZarrVectors(store, at);
    edit.append(batchOf("streamlines", [[id, thing]]));
    await edit.commit();
  };
  await Promise.all([append(10n, ten), append(20n, twenty)]);
  expect(await attributesOf(store)).toHaveProperty("octavo_log", true);
  const all: Things = new Map([...things, [10n, ten], [20n, twenty]]);
  expect(await listStore(store)).toEqual(listThings("streamlines", all));
});
