/**
 * Edits of Zarr Vectors in processes of their own, for R8 and R10: `kill -9` leaves the store before or after a commit, valid, also
 * for software that knows of no log once the next writer has been there; and what several processes append at once is all there.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { editZarrVectors } from "../../src/format/zarr-vectors/edit/edit.js";
import { openZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { fileStore } from "../../src/store/file.js";
import { headKey } from "../../src/store/transaction-log.js";
import type { Store } from "../../src/store/types.js";
import { random } from "../fuzz/mutate.js";
import {
  anyThing,
  at,
  batchOf,
  diceOf,
  findings,
  listStore,
  listThings,
  storeOf,
  type Thing,
  type Things,
} from "../zarr-vectors-edits.js";
import { inFolder, start } from "./processes.js";

const KEPT = 5; // objects that are there at a time

function thing(n: number): Thing {
  let mark = 100 * n;
  return anyThing("streamlines", diceOf(n), () => mark++);
}
/** After n steps: the last few objects, each under the number of the step that brought it. */
const state = (n: number): Things =>
  new Map(Array.from({ length: Math.min(n + 1, KEPT) }, (_, i) => [BigInt(n - i), thing(n - i)]));

/** The next step after what is there: an object comes, the oldest goes. */
export async function editStep(store: Store): Promise<number> {
  const ids = await (await openZarrVectors(store, at)).objectIds();
  const n = Math.max(...Array.from(ids, Number)) + 1;
  const edit = await editZarrVectors(store, at);
  edit.append(batchOf("streamlines", [[BigInt(n), thing(n)]]));
  if (n >= KEPT) edit.delete([n - KEPT]);
  await edit.commit();
  return n;
}

/** Appends an object whose vertices say who it is; its id is the store's choice. */
export async function appendOne(store: Store, n: number): Promise<bigint> {
  const edit = await editZarrVectors(store, at);
  edit.append(batchOf("streamlines", [[0n, thing(n)]], false));
  const [ids] = (await edit.commit()).ids;
  return ids![0]!;
}

/** What `count` kills have broken. */
export function killEdits(count: number): Promise<string[]> {
  return inFolder(async (folder) => {
    const store = fileStore(folder, { durability: "none" });
    await storeOf(store, "streamlines", state(0));
    const dice = random(8);
    const broken: string[] = [];
    for (let n = 1; n <= count; n++) {
      const child = await start("edit", folder);
      await Promise.race([new Promise((seen) => child.stdout!.once("data", seen)), child.done]);
      await sleep(dice.below(120));
      child.kill("SIGKILL");
      const acknowledged = Number((await child.done).trim().split("\n").at(-1));
      const wrong = await problemIn(store, acknowledged).catch((error: Error) => `${error.stack}`);
      if (wrong !== undefined) broken.push(`kill ${n}: ${wrong}`);
    }
    return broken;
  });
}

async function problemIn(store: Store, acknowledged: number): Promise<string | undefined> {
  const found = await listStore(store);
  const n = [acknowledged, acknowledged + 1].find((n) => isDeepStrictEqual(found, listThings("streamlines", state(n))));
  if (n === undefined)
    return `step ${acknowledged} was acknowledged, and a reader sees ${found.join("; ").slice(0, 300)}`;
  const wrong = (await findings(store)).filter((line) => !line.includes("torn-transaction"));
  if (wrong.length > 0) return wrong[0];
  if ((await editStep(store)) !== n + 1) return `the step after ${n} was another one`;
  const left = await findings(store);
  if (left.length > 0) return `after the next writer: ${left[0]}`;
  await store.delete(headKey(at)); // as software that knows of no log sees it
  return isDeepStrictEqual(await listStore(store), listThings("streamlines", state(n + 1)))
    ? undefined
    : `the next writer made step ${n + 1} and left another store`;
}

/** What is lost when each of several processes appends `count` objects at once. */
export function appendAtOnce(processes: number, count: number): Promise<string[]> {
  return inFolder(async (folder) => {
    const store = fileStore(folder, { durability: "none" });
    await storeOf(store, "streamlines", state(0));
    const children = await Promise.all(
      Array.from({ length: processes }, (_, who) =>
        start("edit-append", folder, String(1 + who * count), String(count)),
      ),
    );
    const made = (await Promise.all(children.map((child) => child.done))).flatMap((out) => out.trim().split("\n"));
    const things = state(0);
    const none = -(2 ** 31); // of the attribute that nobody gave
    for (const line of made) {
      const [n, id] = line.split(" ") as [string, string];
      things.set(BigInt(id), { ...thing(Number(n)), weight: none });
    }
    const wrong = await findings(store);
    if (made.length !== processes * count || things.size !== made.length + 1)
      wrong.push(`${made.length} appends gave ${things.size - 1} ids, expected ${processes * count}`);
    if (!isDeepStrictEqual(await listStore(store), listThings("streamlines", things)))
      wrong.push("what is there is not what was appended");
    return wrong;
  });
}
