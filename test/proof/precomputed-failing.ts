/** Precomputed data for R9: the n-th operation of a step fails, for every n; a reader sees before or after, and a later try succeeds. */
import { OctavoError } from "../../src/errors.js";
import { LOGS, Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import type { Store } from "../../src/store/types.js";
import { failNth, faultyStore } from "../../src/testing/index.js";
import { type Subject, subjects } from "./precomputed-subjects.js";

/** Each n-th operation, or every `stride`-th of them. */
export async function failWriters(stride: number): Promise<{ readonly tried: number; readonly broken: string[] }> {
  const broken: string[] = [];
  let tried = 0;
  for (const [name, subject] of Object.entries(subjects)) {
    for (const before of [0, 4]) {
      // The step from 0 to 1, and the fifth, which compacts first.
      for (let n = 1, ended = false; !ended; n += stride) {
        const store = memoryStore();
        await subject.begin(store);
        for (let i = 0; i < before; i++) await subject.step(store);
        tried++;
        const wrong = await outcome(subject, store, n, before).catch((error: Error) => `${error.stack}`);
        if (wrong !== undefined && wrong !== "done")
          broken.push(`${name}, step ${before + 1}, operation ${n}: ${wrong}`);
        ended = wrong === "done";
      }
    }
  }
  return { tried, broken };
}

/** "done" where there was no n-th operation. */
async function outcome(subject: Subject, store: Store, n: number, before: number): Promise<string | undefined> {
  let hit = false;
  const nth = failNth(n);
  const faulty = faultyStore(store, (operation) => {
    try {
      return nth(operation);
    } catch (error) {
      hit = true;
      throw error;
    }
  });
  const failed = await subject.step(faulty).then(
    () => undefined,
    (error: Error) => error,
  );
  if (!hit) return failed === undefined ? "done" : failed.stack;
  if (failed !== undefined && !(failed instanceof OctavoError)) return failed.stack;
  const found = await subject.told(store);
  const [old, next] = [subject.state(before), subject.state(before + 1)];
  // What a whole write counts itself by is written after it.
  const fits = subject.whole
    ? found === undefined || found === old || found === next
    : found === (failed === undefined ? next : old);
  if (!fits) return `it ${failed === undefined ? "succeeded" : "failed"}, and a reader sees ${found?.slice(0, 200)}`;
  if (found !== undefined) for (const message of await subject.findings(store)) return message;
  const made = await subject.step(store);
  if (made !== before + (failed === undefined ? 2 : 1)) return `the next step was ${made}`;
  if ((await subject.told(store)) !== subject.state(made)) return "the next step left something else";
  for (const message of await subject.findings(store)) return `after the next step: ${message}`;
  for await (const { key } of store.list(Prefix.join(subject.at, LOGS)))
    if (key.includes("spill-") && failed === undefined) return `${key} was left behind`;
  return undefined;
}
