/**
 * Transactions in processes of their own, for R8 and R10: `kill -9` leaves the state before or after, also for software that
 * knows of no log once the next writer has been there; and what several processes commit at once is all there.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { fileStore } from "../../src/store/file.js";
import { Transaction } from "../../src/store/transaction.js";
import type { Store } from "../../src/store/types.js";
import { random } from "../fuzz/mutate.js";
import { at, type Contents, inPlace, logs, reached, seenThrough, state, step } from "../transactions.js";
import { inFolder, start } from "./processes.js";

/** What `count` kills have broken. */
export function killTransactions(count: number): Promise<string[]> {
  return inFolder(async (folder) => {
    const store = fileStore(folder, { durability: "none" });
    const dice = random(8);
    const broken: string[] = [];
    for (let n = 1; n <= count; n++) {
      const child = await start("step", folder, "1000000");
      const first = Promise.race([new Promise((seen) => child.stdout!.once("data", seen)), child.done]);
      await first; // starting up is not what is being killed
      await sleep(dice.below(60));
      child.kill("SIGKILL");
      const acknowledged = Number((await child.done).trim().split("\n").at(-1));
      const wrong = await problemIn(store, acknowledged).catch((error: Error) => `${error.name}: ${error.message}`);
      if (wrong !== undefined) broken.push(`kill ${n}: ${wrong}`);
    }
    return broken;
  });
}

async function problemIn(store: Store, acknowledged: number): Promise<string | undefined> {
  const found = await seenThrough(store);
  const n = reached(found);
  if (n < acknowledged || n > acknowledged + 1) return `step ${acknowledged} was acknowledged, but ${n} is there`;
  if (!isDeepStrictEqual(found, state(n))) return `a reader sees ${show(found)} after ${n} steps`;
  await step(store);
  const after = await inPlace(store);
  if (!isDeepStrictEqual(after, state(n + 1))) return `the next writer made step ${n + 1} and left ${show(after)}`;
  await Transaction.recover(store, at);
  const left = (await logs(store)).filter((name) => name !== "head" && !name.endsWith(".journal"));
  return left.length === 0 ? undefined : `the log still has ${left}`;
}

const show = (found: Contents): string =>
  Object.entries(found)
    .map(([key, value]) => `${key}: ${value?.slice(0, 10)}`)
    .join(", ");

/** What is lost when each of several processes makes `count` steps at once. */
export function stepAtOnce(processes: number, count: number): Promise<string[]> {
  return inFolder(async (folder) => {
    const children = await Promise.all(Array.from({ length: processes }, () => start("step", folder, String(count))));
    const lines = (await Promise.all(children.map((child) => child.done))).flatMap((out) => out.trim().split("\n"));
    const made = lines.map(Number).sort((a, b) => a - b);
    const wrong = made.flatMap((n, i) => (n === i + 1 ? [] : [`step ${i + 1} was made as ${n}`]));
    if (made.length !== processes * count) wrong.push(`${made.length} steps, expected ${processes * count}`);
    const found = await inPlace(fileStore(folder));
    if (!isDeepStrictEqual(found, state(processes * count))) wrong.push(`what is left is ${show(found)}`);
    return wrong;
  });
}
