/**
 * A lock between processes that survives `kill -9`, made of hard links alone.
 *
 * The lock of a value `v` is the file `v.lock.partial`. It holds the id of who has it (file-owner.ts), which is never used
 * twice.
 *
 * Taking it. The id is written to a file of its own, which is then linked to the lock's name. A link is made whole or not
 * at all and fails if the name exists, so a lock never exists without its id.
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
import fs from "node:fs";
import { LimitExceeded } from "../errors.js";
import { Owner } from "./file-owner.js";
import { codeOf, PARTIAL } from "./file-path.js";

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
  const me = Owner.make();
  const mine = `${path}.${me.id}${PARTIAL}`;
  try {
    fs.writeFileSync(mine, me.id, { flag: "wx" });
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
        const place = Owner.isHere(holder) ? "" : " of another machine, container or boot";
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
    // An id becomes part of a file name: what is none is nobody's we know, and never broken.
    return Owner.parse(fs.readFileSync(name, "utf8")) ?? stranger;
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** A lock is held only while its thread runs `work`: one of this very thread was left behind. */
function isDead(owner: Owner): boolean {
  return Owner.isThisThread(owner) || Owner.isGone(owner);
}
