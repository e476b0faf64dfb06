/**
 * A chunk that is a file on this machine, read where it is decoded: its bytes never pass the main thread.
 *
 * Only what is beyond doubt is read here: a plain file at exactly the path that the store gave, no link on the way, long
 * enough for the range. For everything else (absence too) the answer is undefined, and the store is asked, which knows the
 * rules and the words.
 */
import type { ChunkCodec } from "../codec/chain.js";
import { withMissingCode } from "../codec/on-demand.js";
import type { ChunkData } from "../codec/types.js";
import type { Limits } from "../limits.js";
import { builtin } from "../platform.js";
import { type Coding, codecOf, decodeWith, type Place } from "./codec-tasks.js";

export interface FileTask extends Coding {
  readonly path: string;
  readonly range?: { readonly offset: number; readonly length: number } | undefined;
  readonly limits: Limits;
  /** Memory for the result, as many bytes as the chunk has. */
  readonly into?: Uint8Array | undefined;
  readonly place?: Place | undefined;
}

export async function decodeFile(task: FileTask): Promise<ChunkData | undefined> {
  const codec = await codecOf(task, true);
  return withMissingCode(() => readAndDecode(codec, task));
}

/** Nothing waits in between: the memory of the file's bytes is used again by the next task. */
function readAndDecode(codec: ChunkCodec, task: FileTask): ChunkData | undefined {
  const bytes = readPlainFile(task);
  if (bytes === undefined) return undefined;
  const data = decodeWith(codec, { ...task, bytes });
  return data instanceof Uint8Array && data.buffer === bytes.buffer ? data.slice() : data; // not encoded at all
}

/** The bytes of a file, in memory that the next call uses again; undefined where the store must be asked. */
export function readPlainFile({
  path,
  range,
  limits,
}: Pick<FileTask, "path" | "range" | "limits">): Uint8Array | undefined {
  const fs = builtin("node:fs");
  if (fs === undefined) return undefined;
  let fd: number | undefined;
  try {
    fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK); // a pipe would wait for its writer
    const stat = fs.fstatSync(fd, { bigint: true }); // the faster one: no dates are made
    const size = Number(stat.size);
    const { offset, length } = range ?? { offset: 0, length: size };
    if (!stat.isFile() || realPath(fs, fd, path) !== path) return undefined;
    if (offset + length > size || length > limits.chunkBytes) return undefined;
    const bytes = takeRoom(length);
    for (let at = 0; at < length; ) {
      const n = fs.readSync(fd, bytes, at, Math.min(length - at, 1 << 30), offset + at);
      if (n === 0) return undefined;
      at += n;
    }
    return bytes;
  } catch {
    return undefined;
  } finally {
    if (fd !== undefined) fs.closeSync(fd);
  }
}

/**
 * Many small files, mostly several of one directory in a row: that one is opened, and where it really is is asked once. Its files are
 * opened below its handle, which stays what it is, whatever becomes of the path. Only Linux has a way to do so; a file costs a
 * third of the time then. To be closed before anybody else can have changed what is read.
 */
export class PlainFiles {
  readonly #fs = builtin("node:fs");
  #folder = "";
  #handle: number | undefined;

  /** The bytes of a whole file, as `readPlainFile` gives them. */
  read(path: string, limits: Limits): Uint8Array | undefined {
    const fs = this.#fs;
    if (fs === undefined) return undefined;
    const name = path.lastIndexOf("/") + 1;
    if (this.#folder.length !== name || !path.startsWith(this.#folder)) this.#enter(fs, path.slice(0, name));
    if (this.#handle === undefined) return readPlainFile({ path, limits });
    const { O_RDONLY, O_NONBLOCK, O_NOFOLLOW } = fs.constants;
    let fd: number | undefined;
    try {
      fd = fs.openSync(`/proc/self/fd/${this.#handle}/${path.slice(name)}`, O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
      const room = takeRoom(SMALL);
      const length = fs.readSync(fd, room, 0, SMALL, 0);
      if (length < SMALL) return length > limits.chunkBytes ? undefined : room.subarray(0, length);
    } catch {
      return undefined; // absent, a link, a directory
    } finally {
      if (fd !== undefined) fs.closeSync(fd);
    }
    return readPlainFile({ path, limits });
  }

  close(): void {
    if (this.#handle !== undefined) this.#fs?.closeSync(this.#handle);
    this.#handle = undefined;
    this.#folder = "";
  }

  #enter(fs: typeof import("node:fs"), folder: string): void {
    this.close();
    this.#folder = folder;
    try {
      const handle = fs.openSync(folder, fs.constants.O_RDONLY | fs.constants.O_DIRECTORY);
      this.#handle = handle;
      if (`${fs.readlinkSync(`/proc/self/fd/${handle}`)}/` === folder) return;
    } catch {
      // not Linux, or no such directory
    }
    this.close();
    this.#folder = folder;
  }
}

const KEPT = 16 << 20;
const SMALL = 1 << 18;
let kept = new Uint8Array(0);

/** The encoded bytes are gone before the next file is read, so that they can all lie in the same memory. */
function takeRoom(length: number): Uint8Array {
  if (length > KEPT) return new Uint8Array(length);
  if (kept.length < length) kept = new Uint8Array(length);
  return kept.subarray(0, length);
}

/** Linux knows where an open file is; elsewhere the path is asked again. */
function realPath(fs: typeof import("node:fs"), fd: number, path: string): string {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return fs.realpathSync.native(path);
  }
}
