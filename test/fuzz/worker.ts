/** What the runner starts in a thread of its own, so that a decoder that hangs can be ended from outside. */
import { parentPort, workerData } from "node:worker_threads";
import { drills } from "./drills.js";
import { fuzz } from "./driver.js";
import { targets } from "./targets.js";

export interface Work {
  readonly target: string;
  readonly runs: number;
  readonly seed: number;
  /** One number: the run that is under way. */
  readonly current: SharedArrayBuffer;
}

const work = workerData as Work;
const current = new Int32Array(work.current);
const target = [...targets, ...Object.values(drills)].find(({ name }) => name === work.target)!;
const report = await fuzz(target, {
  ...work,
  onRun: (run) => {
    current[0] = run;
  },
});
parentPort!.postMessage(report);
