/** Timing inside one process: best wall and CPU time of several runs, peak memory, and the sizes on disk. */
import { closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";

export interface Best<T> {
  readonly wall: number;
  readonly cpu: number;
  readonly value: T;
}

/** Seconds of wall and CPU (all threads of the process), the best of `times` runs; earlier results are let go first. */
export async function best<T>(times: number, run: () => Promise<T>): Promise<Best<T>> {
  let wall = Number.POSITIVE_INFINITY;
  let cpu = Number.POSITIVE_INFINITY;
  let value: T | undefined;
  for (let k = 0; k < times; k++) {
    value = undefined;
    (globalThis as { gc?: () => void }).gc?.(); // Python lets go at once; the peak is that of one run
    const cpu0 = process.cpuUsage();
    const wall0 = performance.now();
    value = await run();
    wall = Math.min(wall, (performance.now() - wall0) / 1000);
    const spent = process.cpuUsage(cpu0);
    cpu = Math.min(cpu, (spent.user + spent.system) / 1e6);
  }
  return { wall, cpu, value: value as T };
}

export const peakMb = (): number => process.resourceUsage().maxRSS / 1024;

export const report = (row: object): void => console.log(JSON.stringify(row));

export function storedBytes(folder: string): number {
  let sum = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isFile()) sum += statSync(join(entry.parentPath, entry.name)).size;
  }
  return sum;
}

/** Compares without a second copy of the data in memory. */
export function sameAsFile(values: Int32Array, file: string): boolean {
  const handle = openSync(file, "r");
  const block = new Int32Array(1 << 20);
  const bytes = new Uint8Array(block.buffer);
  let at = 0;
  for (;;) {
    const n = readSync(handle, bytes) / 4;
    if (n === 0) break;
    for (let i = 0; i < n; i++) if (block[i] !== values[at + i]) return false;
    at += n;
  }
  closeSync(handle);
  return at === values.length;
}
