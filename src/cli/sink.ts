/** Where a result goes: a file (or a key of another store) that appears when it is whole, or stdout. */
import { sinkAt } from "../convert/files.js";
import { openLocation } from "../node.js";
import { scratchFile } from "../store/scratch-file.js";
import type { Sink } from "../store/types.js";
import type { Session } from "./verb.js";

const PIECE = 1 << 20; // bytes that are handed on together

/** "-" is stdout. Nothing that exists is replaced unless `overwrite` says so. */
export async function openSink(target: string, overwrite: boolean, { output, signal }: Session): Promise<Sink> {
  if (target === "-") {
    return { write: (bytes) => output.bytes(bytes), commit: async () => {}, abort: async () => {} };
  }
  return sinkAt(openLocation, target, { overwrite, signal });
}

/** Nothing of it goes on before it is whole. */
export function heldBack(sink: Sink): Sink {
  const file = scratchFile();
  let size = 0;
  return {
    async write(bytes) {
      file.write(size, bytes);
      size += bytes.length;
    },
    async commit() {
      for (let at = 0; at < size; at += PIECE) {
        const piece = new Uint8Array(Math.min(PIECE, size - at));
        file.read(at, piece);
        await sink.write(piece);
      }
      await sink.commit();
    },
    async abort() {
      file.close();
      await sink.abort();
    },
  };
}
