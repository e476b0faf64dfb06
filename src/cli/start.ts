/**
 * What `octavo` runs first: fetches the command (dist/command.cjs, all verbs in one file) and starts it.
 *
 * V8 takes longer to read the text of all verbs than most verbs take to answer, so what it made of the text is kept: after a
 * verb ran for the first time its code lies in the user's folder for caches, and the next time it comes from there. One file for
 * each build, Node and verb, because V8 keeps only the functions that ran:
 *
 * | bytes | what                                              |
 * |-------|---------------------------------------------------|
 * | 4     | crc32 of the rest: V8 does not check, and crashes |
 * | …     | V8's own format                                   |
 *
 * It is code: a file that is not this user's, or that others may write, is not run. Whatever goes wrong here costs time and nothing else.
 * NODE_DISABLE_COMPILE_CACHE=1, Node's own switch, turns it off.
 */
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire, Module } from "node:module";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { crc32 } from "node:zlib";
import { cacheFolder } from "./cache-folder.js";

declare const OCTAVO_BUILD: string; // scripts/build.mjs puts in the hash of command.cjs

/** Long enough that two versions on one machine keep theirs, short enough that old ones go. */
const KEPT_MS = 30 * 24 * 3600 * 1000;

const command = join(__dirname, "command.cjs");
const kept = process.env.NODE_DISABLE_COMPILE_CACHE === "1" ? undefined : keptFile(process.argv[2] ?? "");
const known = kept === undefined ? undefined : attempt(() => readKept(kept));
const script = new Script(Module.wrap(readFileSync(command, "latin1")), {
  filename: command,
  ...(known === undefined ? {} : { cachedData: known }),
});
if (kept !== undefined && (known === undefined || script.cachedDataRejected === true)) {
  process.once("exit", (code) => {
    if (code === 0) attempt(() => writeKept(kept, script.createCachedData()));
  });
}
const main = { exports: {} };
script.runInThisContext()(main.exports, createRequire(command), main, command, __dirname);

function keptFile(verb: string): string | undefined {
  if (!/^[a-z-]{1,20}$/.test(verb)) return undefined;
  return attempt(() => join(cacheFolder(), `${OCTAVO_BUILD}-${process.version}-${process.arch}-${verb}`));
}

function readKept(path: string): Buffer | undefined {
  const file = openSync(path, "r");
  try {
    const { uid, mode } = fstatSync(file);
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) return undefined;
    const bytes = readFileSync(file);
    const code = bytes.subarray(4);
    return bytes.length > 4 && crc32(code) === bytes.readUInt32LE() ? code : undefined;
  } finally {
    closeSync(file);
  }
}

function writeKept(path: string, code: Buffer): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const sum = Buffer.alloc(4);
  sum.writeUInt32LE(crc32(code));
  const partial = `${path}.${process.pid}.partial`;
  writeFileSync(partial, Buffer.concat([sum, code]), { mode: 0o600, flag: "wx" });
  renameSync(partial, path);
  for (const name of readdirSync(folder)) {
    const other = join(folder, name);
    if (/^[0-9a-f]{16}-v/.test(name) && statSync(other).mtimeMs < Date.now() - KEPT_MS) rmSync(other, { force: true });
  }
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined; // no home, a full disk, a folder of someone else: the text is read instead
  }
}
