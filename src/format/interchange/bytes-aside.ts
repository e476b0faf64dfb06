/** Bytes in the order in which they come, and asked for by their places: in memory, or put aside. */
import { concat } from "../../bytes/concat.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Scratch } from "../../store/scratch.js";
import type { InputFile } from "./file.js";
import { lastUpTo } from "./surface.js";

export class BytesAside {
  readonly #scratch: Scratch | undefined;
  readonly #starts = [0];
  readonly #pieces: (Uint8Array | number)[] = [];

  /** Without scratch they are held. */
  constructor(scratch?: Scratch) {
    this.#scratch = scratch;
  }

  get size(): number {
    return this.#starts.at(-1)!;
  }

  async add(bytes: Uint8Array): Promise<void> {
    if (bytes.length === 0) return;
    this.#pieces.push((await this.#scratch?.put(bytes)) ?? bytes);
    this.#starts.push(this.size + bytes.length);
  }

  /** These bytes; fewer only where there are no more. */
  async read(offset: number, length: number): Promise<Uint8Array> {
    const found: Uint8Array[] = [];
    const end = Math.min(offset + length, this.size);
    for (let at = offset; at < end; ) {
      const piece = lastUpTo(this.#starts, at);
      const to = Math.min(end, this.#starts[piece + 1]!);
      found.push(await this.#within(piece, at, to));
      at = to;
    }
    return found.length === 1 ? found[0]! : concat(found);
  }

  async #within(piece: number, from: number, to: number): Promise<Uint8Array> {
    const own = this.#pieces[piece]!;
    const at = from - this.#starts[piece]!;
    return typeof own === "number" ? this.#scratch!.get(own, at, to - from) : own.subarray(at, at + to - from);
  }
}

/** A packed file, put aside as it is unpacked: going back in it costs nothing then. */
export async function fileAside<F extends InputFile>(file: F, scratch: Scratch, options: ReadOptions): Promise<F> {
  const aside = new BytesAside(scratch);
  for await (const bytes of file.stream(0, options)) await aside.add(bytes);
  return { ...file, read: (offset, length) => aside.read(offset, length) };
}
