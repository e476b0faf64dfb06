/**
 * Writers of precomputed data in processes of their own, for R8 and R10: `kill -9` leaves the state before or after a step, also for
 * software that knows of no log once the next writer has been there; and what several processes write at once is all there.
 */
import { setTimeout as sleep } from "node:timers/promises";
import {
  createVolume,
  editValues,
  openValues,
  openVolume,
  verifyValues,
  volumeInfo,
  writeVolume,
} from "../../src/format/precomputed/index.js";
import { ndarray, typed } from "../../src/model/elements.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { headKey } from "../../src/store/transaction-log.js";
import type { Store } from "../../src/store/types.js";
import { random } from "../fuzz/mutate.js";
import { type Subject, sharding, subjects } from "./precomputed-subjects.js";
import { inFolder, start } from "./processes.js";

/** What `count` kills have broken, each subject in turn. */
export function killWriters(count: number): Promise<string[]> {
  return inFolder(async (folder) => {
    const store = fileStore(folder, { durability: "none" });
    const names = Object.keys(subjects);
    for (const subject of Object.values(subjects)) await subject.begin(store);
    const dice = random(8);
    const broken: string[] = [];
    for (let n = 0; n < count; n++) {
      const name = names[n % names.length]!;
      const child = await start("precomputed", folder, name);
      await Promise.race([new Promise((seen) => child.stdout!.once("data", seen)), child.done]);
      await sleep(dice.below(60));
      child.kill("SIGKILL");
      const acknowledged = Number((await child.done).trim().split("\n").at(-1));
      const wrong = await problemIn(store, subjects[name]!, acknowledged).catch((error: Error) => `${error.stack}`);
      if (wrong !== undefined) broken.push(`kill ${n + 1}, ${name}: ${wrong}`);
    }
    return broken;
  });
}

async function problemIn(store: Store, subject: Subject, acknowledged: number): Promise<string | undefined> {
  const found = await subject.told(store);
  const gone = found === undefined && subject.whole;
  if (!gone && found !== subject.state(acknowledged) && found !== subject.state(acknowledged + 1))
    return `step ${acknowledged} was acknowledged, and a reader sees ${found?.slice(0, 300)}`;
  const wrong = gone ? [] : await subject.findings(store);
  if (wrong.length > 0) return wrong[0];
  const n = await subject.step(store);
  if (n < acknowledged + 1 || n > acknowledged + 2) return `the step after ${acknowledged} was ${n}`;
  const left = await subject.findings(store);
  if (left.length > 0) return `after the next writer: ${left[0]}`;
  await store.delete(headKey(subject.at)); // as software that knows of no log sees it
  return (await subject.told(store)) === subject.state(n)
    ? undefined
    : `the next writer made step ${n} and left another`;
}

const values = Prefix.of("values");
const SIDE = 32;
/** In files and in shards, a number for each other. */
const volumes = [null, { ...sharding, hash: "identity", minishardBits: 0 } as const].map((how, i) => ({
  at: Prefix.of(`labels${i}`),
  how,
}));
const voxelOf = (n: number): number[] => [n % SIDE, Math.floor(n / SIDE) % SIDE, Math.floor(n / SIDE ** 2)];

/** Puts values from this number on, and writes as many voxels, which lie in chunks that others write to as well. */
export async function writeSome(store: Store, first: number, count: number): Promise<void> {
  const arrays = await Promise.all(volumes.map(({ at }) => openVolume(store, at)));
  for (let n = first; n < first + count; n++) {
    const editor = await editValues(store, values, sharding);
    await editor.put(BigInt(n), new TextEncoder().encode(`value ${n}`));
    await editor.commit();
    const region = voxelOf(n).map((start) => ({ start, stop: start + 1 }));
    await writeVolume(arrays[n % 2]!, region, ndarray([1, 1, 1, 1], Uint32Array.of(n)));
  }
}

/** What is lost when each of several processes writes `count` values and voxels at once. */
export function writeAtOnce(processes: number, count: number): Promise<string[]> {
  return inFolder(async (folder) => {
    const store = fileStore(folder, { durability: "none" });
    const dtype = { kind: "uint", size: 4, endian: "little" } as const;
    for (const { at, how } of volumes) {
      const wanted = { size: [SIDE, SIDE, 2], dtype, chunkSize: [16, 16, 16], sharding: how ?? false } as const;
      await (await createVolume(store, at, volumeInfo(wanted))).commit();
    }
    const children = await Promise.all(
      Array.from({ length: processes }, (_, who) =>
        start("precomputed-write", folder, String(1 + who * count), String(count)),
      ),
    );
    const ended = await Promise.allSettled(children.map((child) => child.done));
    const wrong = ended.flatMap((one) => (one.status === "rejected" ? [`${one.reason}`] : []));
    const reader = await openValues(store, values, sharding);
    const labels = await Promise.all(
      volumes.map(async ({ at }) => typed(await (await openVolume(store, at)).read()) as Uint32Array),
    );
    for (let n = 1; n <= processes * count; n++) {
      const bytes = await reader.get(BigInt(n));
      const value = bytes && new TextDecoder().decode(bytes);
      if (value !== `value ${n}`) wrong.push(`value ${n} is ${value}`);
      const [x, y, z] = voxelOf(n) as [number, number, number];
      const voxel = labels[n % 2]![(x * SIDE + y) * 2 + z];
      if (voxel !== n) wrong.push(`voxel ${n} is ${voxel}`);
    }
    for await (const { message } of verifyValues(store, values, sharding)) wrong.push(message);
    return wrong;
  });
}
