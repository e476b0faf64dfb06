/** What comes later in a file than in the data: put aside, in memory as long as there is room, and written when its turn has come. */
import { concat } from "../../bytes/concat.js";
import type { Scratch } from "../../store/scratch.js";
import type { Sink } from "../../store/types.js";

export interface Spool {
  /** Bytes so far. */
  readonly length: number;
  write(bytes: Uint8Array): Promise<void>;
  /** Everything, in order; the spool is empty then. */
  pour(sink: Pick<Sink, "write">): Promise<void>;
}

const PIECE = 1 << 20; // bytes that are put aside together

/** What is handed in may be used again by the caller. */
export function spoolIn(scratch: Scratch): Spool {
  const aside: { number: number; length: number }[] = [];
  let held: Uint8Array[] = [];
  let [length, heldBytes] = [0, 0];
  return {
    get length() {
      return length;
    },
    async write(bytes) {
      held.push(bytes.slice());
      length += bytes.length;
      heldBytes += bytes.length;
      scratch.held += bytes.length;
      if (heldBytes < PIECE || scratch.held < scratch.memory) return;
      const piece = concat(held);
      aside.push({ number: await scratch.put(piece), length: piece.length });
      scratch.held -= heldBytes;
      [held, heldBytes] = [[], 0];
    },
    async pour(sink) {
      for (const { number, length: size } of aside)
        for (let at = 0; at < size; at += 4 * PIECE)
          await sink.write(await scratch.get(number, at, Math.min(4 * PIECE, size - at)));
      for (const bytes of held) await sink.write(bytes);
      scratch.held -= heldBytes;
      aside.length = 0;
      [held, heldBytes, length] = [[], 0, 0];
    },
  };
}
