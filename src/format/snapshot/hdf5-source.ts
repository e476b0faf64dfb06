/**
 * Where the bytes of an HDF5 file come from. The library reads here and there and cannot wait, so a file of this machine is read
 * from its disk, piece by piece; from everywhere else (memory, zip, the web) it comes whole, up to 1 GB.
 *
 * A file is open only while something is read of it: a snapshot may have hundreds. One that others change meanwhile is noticed by its
 * size and the time of its last change.
 */
import { Conflict, Corrupt, LimitExceeded, NotFound } from "../../errors.js";
import { type Limits, withLimits } from "../../limits.js";
import { builtin } from "../../platform.js";
import type { FileStore } from "../../store/file.js";
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { type Hdf5File, readHdf5 } from "./hdf5-file.js";
import { loadHdf5, type RandomBytes } from "./hdf5-library.js";

/** The most that is taken into memory of a file that is not on this machine. */
export const WHOLE_BYTES = 2 ** 30;

export interface SourceOptions {
  readonly signal?: AbortSignal | undefined;
  readonly limits?: Partial<Limits> | undefined;
}

/** A file that can be opened again and again. */
export interface Hdf5Source {
  readonly where: string;
  readonly size: number;
  use<T>(work: (file: Hdf5File) => T): T;
}

/** A value as an HDF5 file; NotFound where there is none. */
export async function openHdf5(store: Store, key: Key, options: SourceOptions = {}): Promise<Hdf5Source> {
  const { signal } = options;
  const where = `${store.url}/${key}`;
  const [library, bytes] = await Promise.all([
    loadHdf5(),
    (await onDisk(store, key, where, signal)) ?? inMemory(store, key, where, options),
  ]);
  return {
    where,
    size: bytes.size,
    use(work) {
      const opened = bytes.open();
      try {
        return readHdf5(library, where, opened, work);
      } finally {
        opened.close();
      }
    },
  };
}

interface Bytes {
  readonly size: number;
  open(): RandomBytes & { close(): void };
}

/** A file of this machine, where the store says where it lies. */
async function onDisk(
  store: Store,
  key: Key,
  where: string,
  signal: AbortSignal | undefined,
): Promise<Bytes | undefined> {
  const path = (store as Partial<FileStore>).pathOf?.(key);
  const fs = path === undefined ? undefined : builtin("node:fs");
  const value = fs && (await store.open?.(key, { signal })); // refuses what leads out of the store
  if (path === undefined || fs === undefined || value === undefined) return undefined;
  value.close();
  const stampOf = (fd: number): string => {
    const { size, mtimeNs, ino } = fs.fstatSync(fd, { bigint: true });
    return `${size} ${mtimeNs} ${ino}`;
  };
  let first: string | undefined;
  return {
    size: value.size,
    open() {
      const fd = fs.openSync(path, "r");
      const stamp = stampOf(fd);
      first ??= stamp;
      if (stamp !== first) {
        fs.closeSync(fd);
        throw new Conflict(`${where} has changed since it was opened`, { where });
      }
      return {
        size: value.size,
        read(into, at) {
          for (let done = 0; done < into.length; ) {
            const n = fs.readSync(fd, into, done, into.length - done, at + done);
            if (n === 0) throw new Corrupt(`${where} ends at byte ${at + done} while it is read`, { where });
            done += n;
          }
        },
        close: () => fs.closeSync(fd),
      };
    },
  };
}

async function inMemory(store: Store, key: Key, where: string, { signal, limits }: SourceOptions): Promise<Bytes> {
  const most = Math.min(WHOLE_BYTES, withLimits(limits).resultBytes);
  const stat = await store.stat(key, { signal });
  if (stat !== undefined && stat.size > most)
    throw new LimitExceeded(
      `${where} has ${stat.size} bytes, and HDF5 that is not a file of this machine is read whole, up to ${most}`,
      { where, hint: "Copy it to a disk first." },
    );
  const bytes = await store.get(key, { signal, most });
  if (bytes === undefined) throw new NotFound(`${where} is not there`, { where });
  const source = {
    size: bytes.length,
    read: (into: Uint8Array, at: number) => into.set(bytes.subarray(at, at + into.length)),
    close() {},
  };
  return { size: bytes.length, open: () => source };
}
