/** A packed file, put aside as it is unpacked: going back in it costs nothing then. */
import { concat } from "../../bytes/concat.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Scratch } from "../../store/scratch.js";
import type { InputFile } from "./file.js";
import { lastUpTo } from "./surface.js";

export async function fileAside<F extends InputFile>(file: F, scratch: Scratch, options: ReadOptions): Promise<F> {
  const [starts, keys] = [[0], [] as number[]];
  for await (const bytes of file.stream(0, options)) {
    keys.push(await scratch.put(bytes));
    starts.push(starts.at(-1)! + bytes.length);
  }
  return {
    ...file,
    async read(offset, length) {
      const pieces: Uint8Array[] = [];
      const end = Math.min(offset + length, starts.at(-1)!);
      for (let at = offset; at < end; ) {
        const piece = lastUpTo(starts, at);
        const to = Math.min(end, starts[piece + 1]!);
        pieces.push(await scratch.get(keys[piece]!, at - starts[piece]!, to - at));
        at = to;
      }
      return pieces.length === 1 ? pieces[0]! : concat(pieces);
    },
  };
}
