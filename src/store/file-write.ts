/**
 * Writing a file whole or not at all.
 *
 * A value is staged as `<name>.<owner>.partial` in the directory where it will live, synced, renamed over its name, and the
 * directory is synced. Killed at any point, the name holds the old value or the new one; what is left over ends in
 * `.partial`, which readers do not see. The next store that writes into the directory takes it away, if it is an hour old and
 * the process that made it is known to be gone; `list` with `partial` shows what remains.
 *
 * `if absent` links the staged file instead of renaming it: a link fails if the name exists. `if version` compares and renames
 * under the lock of file-lock.ts. Writes without a condition take no lock: whoever compares and swaps a value must be sure
 * that the others who write it do the same.
 */
import fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { Conflict } from "../errors.js";
import { builtin } from "../platform.js";
import { locked } from "./file-lock.js";
import { Owner } from "./file-owner.js";
import { codeOf, PARTIAL, type Root, storageError } from "./file-path.js";
import { insist } from "./memory.js";
import type { SetOptions } from "./types.js";

/**
 * - "full": when the call returns, the value survives a power cut (file and directory are synced).
 * - "file": a power cut leaves the old value or the new one, whole, but perhaps the old (only the file is synced).
 * - "none": a killed process leaves the old or the new, whole; a power cut may leave anything. For data that can be made
 *   again, where two syncs per chunk cost more than the chunk.
 */
export type Durability = "full" | "file" | "none";

/** Up to here a synchronous call is faster than a trip through the thread pool (1,024 files: 15 ms against 70 ms). */
export const SMALL = 1 << 18;
const PIECE = 1 << 30; // one system call moves less than 2 GiB

export interface Staged {
  write(bytes: Uint8Array): Promise<void>;
  commit(options: SetOptions | undefined): Promise<void>;
  discard(): void;
}

/** Opens a staged file for `path`; from then on every failure removes it. */
export function stage(root: Root, path: string, durability: Durability): Staged {
  const changed = new Set<string>(); // directories that got a new name in them
  const [fd, staged, real] = guarded(path, () => open(root, path, (made) => changed.add(dirname(made))));
  changed.add(dirname(real));
  let state: "open" | "closed" | "gone" = "open";

  function close(): void {
    if (state !== "open") return;
    state = "closed";
    fs.closeSync(fd);
  }

  function discard(): void {
    if (state === "gone") return;
    try {
      close();
    } catch {
      // what matters is the error that led here
    }
    state = "gone";
    fs.rmSync(staged, { force: true });
    root.prune(dirname(real));
  }

  function rename(): void {
    fs.renameSync(staged, real);
    state = "gone";
  }

  async function orDiscard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      try {
        discard();
      } catch {
        // a leftover .partial is invisible; the first error is the one to report
      }
      throw storageError(error, path);
    }
  }

  return {
    discard,
    write: (bytes) => orDiscard(() => writeAll(fd, bytes)),
    commit: (options) =>
      orDiscard(async () => {
        if (durability !== "none") await sync(fd);
        close();
        options?.signal?.throwIfAborted();
        const condition = options?.if;
        if (condition === undefined) rename();
        else if ("absent" in condition) {
          link(staged, real);
          discard();
        } else {
          const swap = () => {
            insist(condition, versionSync(real), path);
            rename();
          };
          await locked(join(dirname(real), stem(real)), swap, { signal: options?.signal });
        }
        if (durability === "full") for (const directory of changed) await syncDirectory(directory);
      }),
  };
}

function guarded<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw storageError(error, path);
  }
}

function open(root: Root, path: string, make: (made: string) => void): [fd: number, staged: string, real: string] {
  const flags = fs.constants.O_WRONLY | fs.constants.O_CREAT | fs.constants.O_EXCL | fs.constants.O_NOFOLLOW;
  for (let tries = 0; ; tries++) {
    try {
      const directory = root.directoryOf(path, make);
      sweep(root, directory);
      const staged = join(directory, `${stem(path)}.${Owner.make().id}${PARTIAL}`);
      return [fs.openSync(staged, flags, 0o666), staged, join(directory, basename(path))];
    } catch (error) {
      // A delete elsewhere may have taken the directory away because it was empty in between.
      if (codeOf(error) !== "ENOENT" || tries === 8) throw error;
    }
  }
}

const OLD = 3_600_000; // milliseconds; for machines that tell processes apart by their number alone

/** Takes away what killed writers have left; not locks, which have rules of their own. Once per directory and store. */
function sweep(root: Root, directory: string): void {
  if (root.swept.has(directory)) return;
  root.swept.add(directory);
  try {
    for (const name of fs.readdirSync(directory)) {
      if (!name.endsWith(PARTIAL)) continue;
      const owner = Owner.parse(name.slice(0, -PARTIAL.length).split(".").at(-1)!);
      if (owner === undefined || !Owner.isGone(owner)) continue;
      const path = join(directory, name);
      if (Date.now() - fs.lstatSync(path).mtimeMs > OLD) fs.unlinkSync(path);
    }
  } catch {
    // somebody else was faster, or may and we may not: it does no harm where it is
  }
}

/** The name, cut so that what is added to it still fits: names may have 255 bytes, a character has at most 3 of
 * them, an owner and the endings some 70. */
function stem(path: string): string {
  return basename(path).slice(0, 60);
}

function link(staged: string, real: string): void {
  try {
    fs.linkSync(staged, real);
  } catch (error) {
    if (codeOf(error) !== "EEXIST" || fs.lstatSync(real).isDirectory()) throw error;
    throw new Conflict(`${real} was to be made anew, but it is already there`, { where: real });
  }
}

async function writeAll(fd: number, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length; ) {
    const length = Math.min(bytes.length - at, PIECE);
    at +=
      length <= SMALL
        ? fs.writeSync(fd, bytes, at, length)
        : await new Promise<number>((ok, no) =>
            fs.write(fd, bytes, at, length, null, (error, n) => (error ? no(error) : ok(n))),
          );
  }
}

function sync(fd: number): Promise<void> {
  return new Promise((ok, no) => fs.fsync(fd, (error) => (error ? no(error) : ok())));
}

export async function syncDirectory(path: string): Promise<void> {
  const fd = fs.openSync(path, fs.constants.O_RDONLY);
  try {
    await sync(fd);
  } catch (error) {
    if (codeOf(error) !== "EINVAL") throw error; // some network file systems cannot sync a directory
  } finally {
    fs.closeSync(fd);
  }
}

const HASHED = 1 << 16;
const TICK = 20; // milliseconds; coarser than any kernel's clock for file times

/**
 * The version of a value. Small values, which are what people compare and swap, are hashed: file times tick every few
 * milliseconds and inode numbers are used again, so that neither tells two quick writes apart. Larger ones are told by
 * inode, size and times, with a wait in `version` for the clock to pass the time of the last change.
 */
export function versionSync(path: string): string | undefined {
  try {
    const stat = fs.statSync(path, { bigint: true });
    return stat.isFile() ? versionOf(stat, () => fs.readFileSync(path)) : undefined;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Another write may still leave the same times. */
export function isYoung(stat: fs.BigIntStats): boolean {
  const age = Date.now() - Number(stat.ctimeMs);
  return age >= 0 && age <= TICK;
}

export const stampOf = (stat: fs.BigIntStats): string =>
  `${stat.ino.toString(36)}-${stat.size.toString(36)}-${stat.mtimeNs.toString(36)}-${stat.ctimeNs.toString(36)}`;

export async function settled(stat: fs.BigIntStats): Promise<boolean> {
  if (stat.size <= HASHED || !isYoung(stat)) return true;
  await new Promise((done) => setTimeout(done, TICK));
  return false;
}

export function versionOf(stat: fs.BigIntStats, read: () => Uint8Array): string {
  if (stat.size <= HASHED) {
    const { createHash } = builtin("node:crypto")!; // takes 4 ms to load, and most commands never ask for a version
    return createHash("sha256").update(read()).digest("hex").slice(0, 32);
  }
  return stampOf(stat);
}
