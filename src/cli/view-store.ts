/**
 * Stores of files that have no index, kept for the next time in the user's folder for caches:
 *
 *     stores/HASH/NAME.zv        made from a file of that place, size and time, which the hash is of
 *     stores/HASH.PID.partial/   one that the process PID is making; renamed when it is whole
 *
 * Another process of this command makes them, at a low priority, so that whoever looks meanwhile is served. What was not used for longest goes when
 * all of them take more than they may.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync } from "node:fs";
import { lstat, readdir, rename, rm, utimes } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Corrupt } from "../errors.js";
import type { Progress } from "../model/dataset.js";
import { cacheFolder } from "./cache-folder.js";

const MADE_BY = "1"; // another number when stores of the same file should be made anew

/** A file, and what tells it from what it was before. */
export interface Unindexed {
  /** As the command understands it. */
  readonly url: string;
  readonly name: string;
  readonly size: number;
  readonly version: string | undefined;
  /** What is damaged in it is left out. */
  readonly skipBad?: boolean | undefined;
}

export class KeptStore {
  readonly #file: Unindexed;
  readonly #folder: string;
  readonly #partial: string;
  readonly #inside: string;
  #child: ChildProcess | undefined;

  constructor(file: Unindexed, among = join(cacheFolder(), "stores")) {
    const told = [MADE_BY, file.url, file.size, file.version ?? "", ...(file.skipBad ? ["skip-bad"] : [])].join("\n");
    this.#file = file;
    this.#folder = join(among, createHash("sha256").update(told).digest("hex").slice(0, 16));
    this.#partial = `${this.#folder}.${process.pid}.partial`;
    this.#inside = `${file.name.replace(/(\.gz)?$/i, "").replace(/\.[^.]+$/, "") || "data"}.zv`;
  }

  /** Where the store is, or will be. */
  get path(): string {
    return join(this.#folder, this.#inside);
  }

  /** Whether it is there; if it is, it was used just now. */
  async isThere(): Promise<boolean> {
    const now = new Date();
    return utimes(this.#folder, now, now).then(
      () => existsSync(this.path),
      () => false,
    );
  }

  /** Makes it, begun when this returns; `onProgress` gets words such as "42 % of the vertices", `onSkipped` what is left out. */
  async make(onProgress: (how: string) => void, onSkipped: (line: string) => void): Promise<void> {
    mkdirSync(this.#partial, { recursive: true, mode: 0o700 });
    try {
      const command = join(dirname(fileURLToPath(import.meta.url)), "cli.cjs");
      const args = ["--to", "zarr-vectors", "--pyramid", "--progress", "json"];
      args.push(this.#file.skipBad ? "--skip-bad" : "--quiet");
      const child = spawn(
        process.execPath,
        [command, "convert", this.#file.url, join(this.#partial, this.#inside), ...args],
        { stdio: ["ignore", "ignore", "pipe"] },
      );
      this.#child = child;
      if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_BELOW_NORMAL);
      let [rest, said] = ["", ""];
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        const lines = (rest + text).split("\n");
        rest = lines.pop()!;
        for (const line of lines) {
          const how = progressOf(line);
          if (how !== undefined) onProgress(how);
          else if (line.startsWith("skipped ")) onSkipped(line);
          else if (said === "" || line.startsWith("octavo: ")) said = line;
        }
      });
      const [code] = (await once(child, "close")) as [number | null];
      if (code !== 0) throw new Corrupt(said.replace(/^octavo: /, "") || `octavo convert ended with ${code}`);
      if (await this.isThere()) return; // somebody else was faster
      await rename(this.#partial, this.#folder);
    } finally {
      this.#child = undefined;
      await rm(this.#partial, { recursive: true, force: true });
    }
  }

  /** Ends the making of it. */
  stop(): void {
    this.#child?.kill("SIGTERM");
  }
}

function progressOf(line: string): string | undefined {
  if (!line.startsWith("{")) return undefined;
  const { done, total, unit } = JSON.parse(line) as Progress;
  return `${total > 0 ? Math.floor((100 * done) / total) : 0} % of the ${unit}`;
}

/** Takes away what was not used for longest, until the others have at most so many bytes; never those in use. */
export async function trim(
  most: number,
  used: readonly string[],
  among = join(cacheFolder(), "stores"),
): Promise<void> {
  const found: { path: string; at: number; bytes: number }[] = [];
  for (const name of await readdir(among).catch(() => [])) {
    const path = join(among, name);
    const maker = /\.(\d+)\.partial$/.exec(name)?.[1];
    if (maker === undefined) found.push({ path, at: (await lstat(path)).mtimeMs, bytes: await bytesIn(path) });
    else if (!isAlive(Number(maker))) await rm(path, { recursive: true, force: true });
  }
  let left = found.reduce((sum, { bytes }) => sum + bytes, 0);
  for (const { path, bytes } of found.sort((a, b) => a.at - b.at)) {
    if (left <= most) return;
    if (used.some((own) => dirname(own) === path)) continue;
    await rename(path, `${path}.${process.pid}.partial`); // gone at once for whoever looks for it
    await rm(`${path}.${process.pid}.partial`, { recursive: true, force: true });
    left -= bytes;
  }
}

async function bytesIn(folder: string): Promise<number> {
  let sum = 0;
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true }))
    if (entry.isFile()) sum += (await lstat(join(entry.parentPath, entry.name))).size;
  return sum;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
