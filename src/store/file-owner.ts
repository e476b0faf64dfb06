/**
 * Who made a file that is a write under way, in a form that fits into its name, so that others can tell whether its maker
 * still lives:
 *
 *     <host: 8 hex>-<process>-<when it started>-<thread>-<16 hex, random, never used twice>
 *
 * The host is a hash of this boot of this machine and its process namespace, and the start tells a later process with the same number
 * from the one that is meant. Where there is no /proc (macOS) the host is a hash of its name, and the start is 0.
 */
import { createHash, randomBytes } from "node:crypto";
import fs from "node:fs";
import { hostname } from "node:os";
import { threadId } from "node:worker_threads";
import { codeOf } from "./file-path.js";

export interface Owner {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly start: string;
  readonly thread: number;
}

let known: { readonly host: string; readonly start: string } | undefined;
const self = () => {
  known ??= { host: hostHash(), start: startOf(process.pid) ?? "0" };
  return known;
};

export const Owner = {
  /** This thread, for one more file. */
  make(): Owner {
    const owner = { ...self(), pid: process.pid, thread: threadId };
    const id = [owner.host, owner.pid, owner.start, owner.thread, randomBytes(8).toString("hex")].join("-");
    return { ...owner, id };
  },

  parse(id: string): Owner | undefined {
    const found = /^([0-9a-f]{8})-(\d{1,10})-(\d{1,20})-(\d{1,9})-[0-9a-f]{16}$/.exec(id);
    if (found === null) return undefined;
    return { id, host: found[1]!, pid: Number(found[2]), start: found[3]!, thread: Number(found[4]) };
  },

  isHere: (owner: Owner): boolean => owner.host === self().host,

  isThisProcess: (owner: Owner): boolean =>
    Owner.isHere(owner) && owner.pid === process.pid && owner.start === self().start,

  /** Whether the process is known to be no more; false where nobody here can tell. */
  isGone(owner: Owner): boolean {
    if (!Owner.isHere(owner) || Owner.isThisProcess(owner)) return false;
    try {
      process.kill(owner.pid, 0);
    } catch (error) {
      return codeOf(error) === "ESRCH";
    }
    const start = startOf(owner.pid);
    return start !== undefined && start !== owner.start;
  },
};

function hostHash(): string {
  let name: string;
  try {
    const boot = fs.readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    name = `${boot} ${fs.readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    name = hostname();
  }
  return createHash("sha256").update(name).digest("hex").slice(0, 8);
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
