/** Where a writer puts aside what does not fit into memory: keys of a store that are gone when the writing ends. */
import { Corrupt } from "../errors.js";
import { Key, Prefix } from "./key.js";
import type { Store } from "./types.js";

export interface Scratch {
  /** Bytes that everything together may hold, and what it holds now. */
  readonly memory: number;
  held: number;
  /** Whether that was not enough: then all that follows is put aside as it comes, and memory is for what is under way. */
  full: boolean;
  /** Puts bytes aside; the number by which they are got back. */
  put(bytes: Uint8Array): Promise<number>;
  get(number: number, offset: number, length: number): Promise<Uint8Array>;
  /** Gives up what has that number, where each lies by itself: nobody asks for it again. */
  drop(number: number): Promise<void>;
  /** Deletes everything that was put aside. */
  clear(): Promise<void>;
}

/** Bytes that are written and read in any order, without waiting; a file of its owner alone (scratch-file.ts), or what a program has. */
export interface ScratchFile {
  /** Fills `into` with the bytes from `at` on, all of which were written before. */
  read(at: number, into: Uint8Array): void;
  /** Puts bytes at `at`, over what is there. */
  write(at: number, bytes: Uint8Array): void;
  /** Takes it away; safe to call twice. */
  close(): void;
}

/** Where writers may put things aside. */
export interface ScratchPlace {
  readonly store: Store;
  readonly at?: Prefix | undefined;
}

/** A folder of this writer alone, in that place. */
export function scratchIn({ store, at: place }: ScratchPlace, memory: number, signal?: AbortSignal): Scratch {
  const at = Prefix.join(place ?? Prefix.root, `spill-${crypto.randomUUID()}`);
  let count = 0;
  const keyOf = (number: number): Key => Key.join(at, `${number}`);
  return {
    memory,
    held: 0,
    full: false,
    async put(bytes) {
      const number = count++;
      await store.set(keyOf(number), bytes, { signal, passing: true });
      return number;
    },
    async get(number, offset, length) {
      const key = keyOf(number);
      const bytes = await store.get(key, { range: { offset, length }, signal });
      if (bytes === undefined) {
        const where = `${store.url}/${key}`;
        throw new Corrupt(`${where}, which this writer had put aside, is no longer there`, { where });
      }
      return bytes;
    },
    drop: (number) => store.delete(keyOf(number), { passing: true }),
    async clear() {
      for (; count > 0; count--) await store.delete(keyOf(count - 1), { passing: true });
    },
  };
}

/** The same in a file of this writer alone, which is made when it is needed. */
export function scratchOn(make: () => ScratchFile, memory: number): Scratch {
  let file: ScratchFile | undefined;
  const ends = [0];
  return {
    memory,
    held: 0,
    full: false,
    async put(bytes) {
      file ??= make();
      const start = ends.at(-1)!;
      file.write(start, bytes);
      return ends.push(start + bytes.length) - 2;
    },
    async get(number, offset, length) {
      const into = new Uint8Array(length);
      file!.read(ends[number]! + offset, into);
      return into;
    },
    async drop() {},
    async clear() {
      file?.close();
    },
  };
}
