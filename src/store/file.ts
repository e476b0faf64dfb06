/**
 * A directory as a store (Node only). A key is a path below the root; only plain files are values, so that a directory, a
 * pipe or a device is absent, and a key below a file is absent too. What ends in `.partial` is a write under way: not read,
 * not listed unless asked for, refused as a key to write. Names on disk that cannot be keys (a backslash, a control
 * character) are not listed.
 *
 * How it stays inside the root: file-path.ts. How it writes: file-write.ts. How processes wait for each other: file-lock.ts.
 */
import fs from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { room } from "../bytes/room.js";
import { Corrupt, InvalidInput, LimitExceeded } from "../errors.js";
import { meansAbsent, PARTIAL, Root, realPathOf, storageError } from "./file-path.js";
import { type Durability, isYoung, SMALL, settled, stage, stampOf, syncDirectory, versionOf } from "./file-write.js";
import { Key, type Prefix } from "./key.js";
import { spanFor } from "./range.js";
import { sinkState } from "./sink.js";
import type { Listed, ListOptions, OpenValue, SetOptions, Sink, Store } from "./types.js";

/** How sure a write must be before it is done. */
export interface FileStoreOptions {
  /** "full" unless told otherwise: what has been written stays written. */
  readonly durability?: Durability | undefined;
}

/** A directory as a store. */
export interface FileStore extends Store {
  /** Where a value lies, for a worker that reads it itself (worker/file-task.ts); undefined where it must ask the store. */
  pathOf(key: Key): string | undefined;
}

const PIECE = 1 << 30; // one system call moves less than 2 GiB
const CHUNK = 1 << 20; // bytes up to which a value is handed on with its buffer, which then is no longer than it

/** A directory as a store; nothing outside it can be reached. */
export function fileStore(directory: string, options: FileStoreOptions = {}): FileStore {
  const root = new Root(directory);
  const durability = options.durability ?? "full";

  function begin(key: Key, options: SetOptions | undefined) {
    options?.signal?.throwIfAborted();
    if (isPartial(key)) {
      throw new InvalidInput(`the key ${key} has a segment that ends in ${PARTIAL}, which names a write under way`, {
        where: key,
      });
    }
    return stage(root, root.path(key), options?.passing === true ? "none" : durability);
  }

  return {
    url: pathToFileURL(root.real).href.replace(/\/$/, ""),
    can: { list: true, write: true, conditional: true },
    pathOf: (key) => (isPartial(key) ? undefined : root.path(key)),

    async get(key, options) {
      options?.signal?.throwIfAborted();
      const path = root.path(key);
      const file = openFile(root, key, path);
      if (file === undefined) return undefined;
      try {
        const { offset, length } = spanFor(options, Number(file.stat.size), path);
        // Nothing is waited for where that takes longer than the reading: a store of cells is read 10 % faster for it.
        return length <= SMALL
          ? readSync(file.fd, offset, length, path)
          : await readAsync(file.fd, offset, length, path);
      } catch (error) {
        throw storageError(error, path);
      } finally {
        fs.closeSync(file.fd);
      }
    },

    async open(key, options) {
      options?.signal?.throwIfAborted();
      const path = root.path(key);
      const file = openFile(root, key, path);
      return file && openValue(file.fd, file.stat, path);
    },

    async stat(key, options) {
      for (;;) {
        options?.signal?.throwIfAborted();
        const path = root.path(key);
        const file = openFile(root, key, path);
        if (file === undefined) return undefined;
        const { fd, stat } = file;
        try {
          if (!(await settled(stat))) continue;
          return { size: Number(stat.size), version: versionOf(stat, () => readSync(fd, 0, Number(stat.size), path)) };
        } catch (error) {
          throw storageError(error, path);
        } finally {
          fs.closeSync(fd);
        }
      }
    },

    async *list(prefix, options) {
      if (!isPartial(prefix)) yield* walk(root, prefix, options);
    },

    async children(prefix, options) {
      options?.signal?.throwIfAborted();
      const keys: Key[] = [];
      const prefixes: Prefix[] = [];
      for (const entry of isPartial(prefix) ? [] : entries(root, prefix, options)) {
        if (entry.kind === "file") keys.push(entry.key);
        else prefixes.push(`${entry.key}/` as Prefix);
      }
      return { keys: keys.sort(), prefixes: prefixes.sort() };
    },

    async set(key, value, options) {
      const staged = begin(key, options);
      await staged.write(value);
      await staged.commit(options);
    },

    async write(key, options) {
      return fileSink(root.path(key), begin(key, options), options);
    },

    async delete(key, options) {
      options?.signal?.throwIfAborted();
      const path = root.path(key);
      try {
        const real = join(root.directoryOf(path), path.slice(dirname(path).length + 1));
        if (isPartial(key) || !isValue(real)) return;
        fs.unlinkSync(real);
        const kept = root.prune(dirname(real));
        if (durability === "full" && options?.passing !== true) await syncDirectory(kept);
      } catch (error) {
        if (!meansAbsent(error)) throw storageError(error, path);
      }
    },
  };
}

function isPartial(key: Key | Prefix): boolean {
  return key.endsWith(PARTIAL) || key.includes(`${PARTIAL}/`);
}

/** Opens a value and makes sure that it is a plain file inside the root; undefined where there is none. The caller closes it. */
function openFile(
  root: Root,
  key: Key,
  path: string,
): { readonly fd: number; readonly stat: fs.BigIntStats } | undefined {
  if (isPartial(key)) return undefined;
  let fd: number | undefined;
  try {
    fd = fs.openSync(path, fs.constants.O_RDONLY | fs.constants.O_NONBLOCK); // a pipe would wait for its writer
    root.mustHold(realPathOf(fd, path), path);
    const stat = fs.fstatSync(fd, { bigint: true }); // the faster one: no dates are made
    if (stat.isFile()) return { fd, stat };
  } catch (error) {
    if (fd !== undefined) fs.closeSync(fd);
    if (meansAbsent(error)) return undefined;
    throw storageError(error, path);
  }
  fs.closeSync(fd);
  return undefined;
}

function readSync(fd: number, offset: number, length: number, path: string): Uint8Array {
  const bytes = new Uint8Array(length);
  fill(bytes, fd, offset, path);
  return bytes;
}

function fill(bytes: Uint8Array, fd: number, offset: number, path: string): void {
  for (let at = 0; at < bytes.length; ) {
    const n = fs.readSync(fd, bytes, at, bytes.length - at, offset + at);
    if (n === 0) throw shrunk(path, bytes.length, at);
    at += n;
  }
}

async function readAsync(fd: number, offset: number, length: number, path: string): Promise<Uint8Array> {
  const bytes = allocate(length, path);
  for (let at = 0; at < length; ) {
    const n = await new Promise<number>((ok, no) =>
      fs.read(fd, bytes, at, Math.min(length - at, PIECE), offset + at, (error, n) => (error ? no(error) : ok(n))),
    );
    if (n === 0) throw shrunk(path, length, at);
    at += n;
  }
  return bytes;
}

/** Values are replaced, never changed: the file that is open stays as it is. */
function openValue(fd: number, stat: fs.BigIntStats, path: string): OpenValue {
  const size = Number(stat.size);
  let [reading, closed] = [0, false];
  const end = (): void => {
    if (closed && reading === 0) fs.closeSync(fd);
  };
  return {
    size,
    version: isYoung(stat) ? undefined : stampOf(stat),
    async read(spans) {
      if (closed) throw new InvalidInput(`${path} has been closed`);
      let total = 0;
      for (const range of spans) total += spanFor({ range }, size, path).length;
      reading++; // a descriptor that is closed meanwhile could be that of another file by then
      try {
        if (total > SMALL)
          return await Promise.all(spans.map(({ offset, length }) => readAsync(fd, offset, length, path)));
        const all = new Uint8Array(total);
        let at = 0;
        return spans.map(({ offset, length }) => {
          const piece = all.subarray(at, at + length);
          at += length;
          fill(piece, fd, offset, path);
          return piece;
        });
      } catch (error) {
        throw storageError(error, path);
      } finally {
        reading--;
        end();
      }
    },
    close() {
      if (closed) return;
      closed = true;
      end();
    },
  };
}

function allocate(length: number, path: string): Uint8Array {
  try {
    return length > CHUNK ? room(Uint8Array, length) : new Uint8Array(length);
  } catch (cause) {
    throw new LimitExceeded(`${length} bytes of ${path} do not fit into memory in one piece`, { where: path, cause });
  }
}

function shrunk(path: string, expected: number, found: number): Corrupt {
  return new Corrupt(`${path} became shorter while it was read: expected ${expected} bytes, found ${found}`, {
    where: path,
    reason: "cut",
  });
}

function fileSink(path: string, staged: ReturnType<typeof stage>, options: SetOptions | undefined): Sink {
  const state = sinkState(path);
  let last: Promise<void> = Promise.resolve(); // pieces land in the order of the calls, also when nobody awaits them
  return {
    async write(bytes) {
      state.mustBeOpen();
      last = last.then(() => staged.write(bytes));
      await last;
    },
    async commit() {
      state.mustBeOpen();
      state.end();
      await last;
      await staged.commit(options);
    },
    async abort() {
      if (!state.open) return;
      state.end();
      await last.catch(() => {});
      staged.discard();
    },
  };
}

/** A plain file, or a link to anything but a directory: what `delete` takes away (the link, never what it leads to). */
function isValue(path: string): boolean {
  const own = fs.lstatSync(path);
  if (!own.isSymbolicLink()) return own.isFile();
  return !fs.statSync(path, { throwIfNoEntry: false })?.isDirectory();
}

interface Entry {
  readonly key: Key;
  readonly kind: "file" | "directory";
  readonly real: string;
}

function* entries(root: Root, prefix: Prefix, options: ListOptions | undefined): Generator<Entry> {
  const path = root.folder(prefix);
  try {
    const real = fs.realpathSync.native(path);
    root.mustHold(real, path);
    for (const entry of fs.readdirSync(real, { withFileTypes: true })) {
      const key = prefix + entry.name;
      if (!Key.is(key)) continue;
      if (entry.name.endsWith(PARTIAL) && !(options?.partial === true && entry.isFile())) continue;
      const at = join(real, entry.name);
      if (entry.isFile()) yield { key, kind: "file", real: at };
      else if (entry.isDirectory()) yield { key, kind: "directory", real: at };
      else if (entry.isSymbolicLink()) yield* followed(root, key, at);
    }
  } catch (error) {
    if (!meansAbsent(error)) throw storageError(error, path);
  }
}

function* followed(root: Root, key: Key, path: string): Generator<Entry> {
  try {
    const real = fs.realpathSync.native(path);
    if (!root.holds(real)) return;
    const stat = fs.statSync(real);
    if (stat.isFile()) yield { key, kind: "file", real };
    else if (stat.isDirectory()) yield { key, kind: "directory", real };
  } catch {
    // leads nowhere, or to itself
  }
}

/** With each directory go the real ones on the way to it: a link to one of them would be walked for ever. */
async function* walk(root: Root, from: Prefix, options: ListOptions | undefined): AsyncGenerator<Listed> {
  const waiting = [{ prefix: from, above: [root.real] }];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    options?.signal?.throwIfAborted();
    for (const { kind, key, real } of entries(root, next.prefix, options)) {
      if (kind === "directory") {
        if (!next.above.includes(real)) waiting.push({ prefix: `${key}/` as Prefix, above: [...next.above, real] });
        continue;
      }
      if (options?.bare === true) {
        yield { key };
        continue;
      }
      const stat = fs.statSync(real, { throwIfNoEntry: false });
      if (stat !== undefined) yield { key, size: stat.size };
      options?.signal?.throwIfAborted();
    }
  }
}
