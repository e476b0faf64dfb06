/**
 * Names of nodes as bytes, and who has which. Where names go from one place to another they are records, one after the other:
 *
 * | words | of a record                                        |
 * |-------|----------------------------------------------------|
 * | 1     | a number: of the node, or of the end that names it |
 * | 1     | the bytes of the name                              |
 * | n     | the name, with zeros up to the next word           |
 */
import { decodeUtf8, encodeUtf8 } from "../../bytes/text.js";
import { LimitExceeded } from "../../errors.js";
import { Growing } from "./growing.js";

const LONGEST = 1 << 20; // bytes

/** Names one after the other. */
export class Names {
  readonly #where: string;
  readonly #bytes = new Growing(new Uint8Array());
  readonly #ends = new Growing(new Uint32Array());

  /** `where` they are, for messages. */
  constructor(where: string) {
    this.#where = where;
  }

  get length(): number {
    return this.#ends.length;
  }

  /** Bytes of all names. */
  get size(): number {
    return this.#bytes.length;
  }

  push(bytes: Uint8Array, from: number, to: number): void {
    if (to - from > LONGEST)
      throw new LimitExceeded(
        `${this.#where}: the name of a node has ${to - from} bytes, at most ${LONGEST} are read`,
        {
          where: this.#where,
        },
      );
    const all = this.#bytes;
    all.reserve(to - from);
    for (let i = from; i < to; i++) all.values[all.length++] = bytes[i]!;
    this.#ends.push(all.length);
  }

  pushText(text: string): void {
    const bytes = encodeUtf8(text, `${this.#where}: the name of a node`);
    this.push(bytes, 0, bytes.length);
  }

  #start(row: number): number {
    return row === 0 ? 0 : this.#ends.values[row - 1]!;
  }

  text(row: number): string {
    const bytes = this.#bytes.values.subarray(this.#start(row), this.#ends.values[row]!);
    return bytes.length < 32 && bytes.every((byte) => byte < 128)
      ? String.fromCharCode(...bytes)
      : decodeUtf8(bytes, `${this.#where}: the name of a node`);
  }

  texts(): string[] {
    return Array.from({ length: this.length }, (_, row) => this.text(row));
  }

  /** The records of some of them, numbered from `first` on. */
  records(first = 0, start = 0, end = this.length): Uint32Array {
    let size = 0;
    for (let row = start; row < end; row++) size += wordsFor(this.#ends.values[row]! - this.#start(row));
    const records = new Uint32Array(size);
    const bytes = new Uint8Array(records.buffer);
    for (let row = start, at = 0; row < end; row++) {
      const [from, to] = [this.#start(row), this.#ends.values[row]!];
      records[at] = first + row - start;
      records[at + 1] = to - from;
      for (let i = from, out = 4 * (at + 2); i < to; i++, out++) bytes[out] = this.#bytes.values[i]!;
      at += wordsFor(to - from);
    }
    return records;
  }
}

const wordsFor = (bytes: number): number => 2 + Math.ceil(bytes / 4);

/** Where the record after the one at `at` begins. */
export const afterRecord = (records: Uint32Array, at: number): number => at + wordsFor(records[at + 1]!);

/** The records of pieces that may end within one, in pieces that do not. */
export async function* wholeRecords(
  pieces: AsyncIterable<Uint32Array> | Iterable<Uint32Array>,
): AsyncGenerator<Uint32Array> {
  let rest = new Uint32Array();
  for await (const piece of pieces) {
    const words = new Uint32Array(rest.length + piece.length);
    words.set(rest);
    words.set(piece, rest.length);
    let end = 0;
    for (let next = 0; next <= words.length; ) {
      end = next;
      next = end + 2 <= words.length ? afterRecord(words, end) : Number.POSITIVE_INFINITY;
    }
    yield words.subarray(0, end);
    rest = words.slice(end);
  }
}

const SEED = crypto.getRandomValues(new Uint32Array(1))[0]!; // nobody can write names that all have the same hash

/** A number that is the same for the same name, in this process. */
export function hashOf(records: Uint32Array, at: number): number {
  let hash = SEED ^ records[at + 1]!;
  for (let i = at + 2, end = afterRecord(records, at); i < end; i++) {
    hash = Math.imul(hash ^ records[i]!, 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash, 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Nodes by name. */
export class NameTable {
  readonly #records = new Growing(new Uint32Array());
  /** Where in the records each begins, + 1. */
  #slots = new Uint32Array(1 << 10);
  #count = 0;

  /** Takes the record of a node; false where another has its name. */
  define(records: Uint32Array, at: number): boolean {
    const slot = this.#slot(records, at);
    if (this.#slots[slot] !== 0) return false;
    this.#slots[slot] = this.#records.length + 1;
    for (let i = at, end = afterRecord(records, at); i < end; i++) this.#records.push(records[i]!);
    if (2 * ++this.#count > this.#slots.length) this.#grow();
    return true;
  }

  /** The number of the node that has the name of a record; −1 where none has. */
  find(records: Uint32Array, at: number): number {
    const place = this.#slots[this.#slot(records, at)]!;
    return place === 0 ? -1 : this.#records.values[place - 1]!;
  }

  /** Where the name is, or would be. */
  #slot(records: Uint32Array, at: number): number {
    const last = this.#slots.length - 1;
    const hash = Math.imul(hashOf(records, at), 0x297a2d39);
    for (let slot = (hash ^ (hash >>> 16)) & last; ; slot = (slot + 1) & last) {
      const place = this.#slots[slot]!;
      if (place === 0 || this.#same(place - 1, records, at)) return slot;
    }
  }

  #same(own: number, records: Uint32Array, at: number): boolean {
    const { values } = this.#records;
    for (let i = 1, count = wordsFor(records[at + 1]!); i < count; i++)
      if (values[own + i] !== records[at + i]) return false;
    return true;
  }

  #grow(): void {
    const places = this.#slots.filter((place) => place !== 0);
    this.#slots = new Uint32Array(2 * this.#slots.length);
    for (const place of places) this.#slots[this.#slot(this.#records.values, place - 1)] = place;
  }
}
