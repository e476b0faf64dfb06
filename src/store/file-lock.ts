/**
 * A lock between processes that survives `kill -9`, made of hard links alone.
 *
 * The lock of a value `v` is the file `v.lock.partial`. It holds one JSON line that says who has it: `id` (random, never used
 * twice), `host` (this boot of this machine and its process namespace), `pid`, `start` (when that process started, so that a
 * later process with the same number is not taken for it), and `thread`.
 *
 * Taking it. The line is written to a file of its own, which is then linked to the lock's name. A link is made whole or not
 * at all and fails if the name exists, so a lock never exists without its line.
 *
 * Releasing it. The holder unlinks the name.
 *
 * When it is taken. If its holder lives, wait a moment and try again. If its holder is dead, the lock must be removed, and
 * here two others may race: both see the dead lock X, one removes it and takes the lock as Y, the other then removes Y. So
 * lock X is removed only by the process that has taken the lock `v.X.lock.partial`, by these same rules, and that has then seen
 * that the name still holds X. The holder of X, being dead, no longer removes it, and everybody else needs that second
 * lock; so what was seen stays true until X is unlinked. A process that is killed while it removes X leaves a dead second
 * lock, which is removed in the same way under a third name, and so on.
 *
 * When the holder lives on another machine, in another container or before the last boot, nobody here can tell whether it
 * is dead. Then no lock is broken: after `patience` milliseconds the call ends in LimitExceeded, which names the file.
 *
 * What runs under the lock is synchronous and short (compare, rename); the value has been staged and synced before. A thread
 * that finds a lock of its own has therefore failed to remove it, and takes it for dead.
 */
import { randomBytes } from "node:crypto";
import fs from "node:fs";
import { hostname } from "node:os";
import { threadId } from "node:worker_threads";
import { LimitExceeded } from "../errors.js";
import { codeOf, PARTIAL } from "./file-path.js";

interface Owner {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly start: string;
  readonly thread: number;
}

export interface LockOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds to wait for a lock whose holder is not known to be dead. */
  readonly patience?: number | undefined;
}

/** Runs `work` while this process alone holds the lock of `path`. */
export function locked<T>(path: string, work: () => T, options: LockOptions = {}): Promise<T> {
  const deadline = Date.now() + (options.patience ?? 30_000); // a holder that lives needs milliseconds
  return holding(path, `${path}.lock${PARTIAL}`, work, deadline, options.signal);
}

async function holding<T>(
  path: string,
  name: string,
  work: () => T,
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<T> {
  const me = { ...self(), id: randomId() };
  const mine = `${path}.${me.id}${PARTIAL}`;
  try {
    fs.writeFileSync(mine, JSON.stringify(me), { flag: "wx" });
    for (;;) {
      signal?.throwIfAborted();
      if (linked(mine, name)) {
        try {
          return work();
        } finally {
          remove(name);
        }
      }
      const holder = ownerOf(name);
      if (holder === undefined) continue; // released in this moment
      if (isDead(holder)) {
        const unlock = () => {
          if (ownerOf(name)?.id === holder.id) fs.unlinkSync(name);
        };
        await holding(path, `${path}.${holder.id}.lock${PARTIAL}`, unlock, deadline, signal);
      } else if (Date.now() > deadline) {
        const place = holder.host === self().host ? "" : " of another machine, container or boot";
        throw new LimitExceeded(`${name} has been locked too long by process ${holder.pid}${place}`, {
          where: name,
          reason: "locked",
          hint: "Delete this file if that process is no longer running.",
        });
      } else {
        await new Promise((done) => setTimeout(done, 1 + Math.random() * 4));
      }
    }
  } finally {
    remove(mine);
  }
}

/** What cannot be removed does no harm for ever: the lock of a thread that goes on is dead, see isDead. */
function remove(name: string): void {
  try {
    fs.unlinkSync(name);
  } catch {
    // the outcome of the work is what counts
  }
}

function linked(from: string, to: string): boolean {
  try {
    fs.linkSync(from, to);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

const stranger: Owner = { id: "", host: "?", pid: 0, start: "", thread: 0 };

function ownerOf(name: string): Owner | undefined {
  try {
    const line = JSON.parse(fs.readFileSync(name, "utf8")) as Partial<Owner> | null;
    const { id = "", host = "", pid = 0, start = "", thread = 0 } = line ?? {};
    // The id becomes part of a file name: what randomId cannot have made is nobody's we know, and never broken.
    return /^[0-9a-f]{16}$/.test(id) ? { id, host, pid, start, thread } : stranger;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    if (error instanceof SyntaxError) return stranger;
    throw error;
  }
}

export function randomId(): string {
  return randomBytes(8).toString("hex");
}

let known: Omit<Owner, "id"> | undefined;
function self(): Omit<Owner, "id"> {
  known ??= { host: host(), pid: process.pid, start: startOf(process.pid) ?? "", thread: threadId };
  return known;
}

function host(): string {
  try {
    const boot = fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${fs.readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname(); // not Linux: the process number alone must tell
  }
}

/** When a process started, in the kernel's ticks; undefined where /proc does not say. */
function startOf(pid: number): string | undefined {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]; // field 22; the name in field 2 may hold anything
  } catch {
    return undefined;
  }
}

function isDead(owner: Owner): boolean {
  const me = self();
  if (owner.host !== me.host) return false;
  // A lock is held only while its thread runs `work`: one of this very thread was left behind.
  if (owner.pid === me.pid && owner.start === me.start) return owner.thread === me.thread;
  try {
    process.kill(owner.pid, 0);
  } catch (error) {
    return codeOf(error) === "ESRCH";
  }
  const start = startOf(owner.pid);
  return start !== undefined && start !== owner.start;
}
