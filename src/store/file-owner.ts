/**
 * Who made a file that is a write under way, or a transaction, in a form that fits into its name, so that others can tell
 * whether its maker still lives:
 *
 *     <host: 8 hex>-<process>-<when it started>-<thread>-<16 hex, random, never used twice>
 *
 * The host is a hash of this boot of this machine and its process namespace, and the start tells a later process with the same number
 * from the one that is meant. Where there is no /proc (macOS) the host is a hash of its name, and the start is 0. In a
 * browser every page is a host of its own, with one process: nobody can tell whether another page is still there.
 */
import { builtin } from "../platform.js";

export interface Owner {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly start: string;
  readonly thread: number;
}

let known: Omit<Owner, "id"> | undefined;
const self = () => {
  known ??= identify();
  return known;
};

export const Owner = {
  /** This thread, for one more file. */
  make(): Owner {
    const me = self();
    return { ...me, id: [me.host, me.pid, me.start, me.thread, randomHex(8)].join("-") };
  },

  parse(id: string): Owner | undefined {
    const found = /^([0-9a-f]{8})-(\d{1,10})-(\d{1,20})-(\d{1,9})-[0-9a-f]{16}$/.exec(id);
    if (found === null) return undefined;
    return { id, host: found[1]!, pid: Number(found[2]), start: found[3]!, thread: Number(found[4]) };
  },

  isHere: (owner: Owner): boolean => owner.host === self().host,

  isThisProcess: (owner: Owner): boolean =>
    Owner.isHere(owner) && owner.pid === self().pid && owner.start === self().start,

  isThisThread: (owner: Owner): boolean => Owner.isThisProcess(owner) && owner.thread === self().thread,

  /** Whether the process is known to be no more; false where nobody here can tell. */
  isGone(owner: Owner): boolean {
    if (!Owner.isHere(owner) || Owner.isThisProcess(owner)) return false;
    try {
      process.kill(owner.pid, 0);
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === "ESRCH";
    }
    const start = startOf(owner.pid);
    return start !== undefined && start !== owner.start;
  },
};

function identify(): Omit<Owner, "id"> {
  const thread = builtin("node:worker_threads")?.threadId;
  if (thread === undefined) return { host: randomHex(4), pid: 0, start: "0", thread: 0 };
  return { host: hostHash(), pid: process.pid, start: startOf(process.pid) ?? "0", thread };
}

function randomHex(bytes: number): string {
  const drawn = crypto.getRandomValues(new Uint8Array(bytes));
  return Array.from(drawn, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function hostHash(): string {
  const fs = builtin("node:fs")!;
  let name: string;
  try {
    const boot = fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    name = `${boot} ${fs.readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    name = builtin("node:os")!.hostname();
  }
  return builtin("node:crypto")!.createHash("sha256").update(name).digest("hex").slice(0, 8);
}

/** When a process started, in the kernel's ticks; undefined where /proc does not say. */
function startOf(pid: number): string | undefined {
  try {
    const stat = builtin("node:fs")!.readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]; // field 22; the name in field 2 may hold anything
  } catch {
    return undefined;
  }
}
