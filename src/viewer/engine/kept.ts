/** The pieces that are in memory, by their keys, in the order of their use. */
import type { Piece } from "./piece.js";

export class Kept {
  readonly #pieces = new Map<string, Piece>();

  get size(): number {
    return this.#pieces.size;
  }

  get bytes(): number {
    let sum = 0;
    for (const { bytes } of this.#pieces.values()) sum += bytes;
    return sum;
  }

  has(key: string): boolean {
    return this.#pieces.has(key);
  }

  put(piece: Piece): void {
    this.#pieces.set(piece.key, piece);
  }

  /** Those of these that are there. */
  at(keys: readonly string[]): Piece[] {
    return keys.flatMap((key) => this.#pieces.get(key) ?? []);
  }

  /** These are used just now. */
  touch(keys: readonly string[]): void {
    for (const piece of this.at(keys)) {
      this.#pieces.delete(piece.key);
      this.#pieces.set(piece.key, piece);
    }
  }

  drop(keys: readonly string[]): void {
    for (const key of keys) this.#pieces.delete(key);
  }

  /** Drops what was not used for longest and is not needed until so many bytes are left; gives the bytes of each. */
  evict(most: number, needed: ReadonlySet<string>): number[] {
    let over = this.bytes - most;
    const gone: number[] = [];
    for (const [key, { bytes }] of this.#pieces) {
      if (over <= 0) break;
      if (needed.has(key)) continue;
      this.#pieces.delete(key);
      gone.push(bytes);
      over -= bytes;
    }
    return gone;
  }

  clear(): void {
    this.#pieces.clear();
  }
}
