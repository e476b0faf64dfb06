/** Text on its way into a file: small pieces are handed on together. */
import { encodeUtf8 } from "../../bytes/text.js";
import type { Sink } from "../../store/types.js";

const PIECE = 1 << 16; // characters

export interface TextSink {
  /** Something to wait for only now and then. */
  write(text: string): Promise<void> | undefined;
  /** Everything that is still held, without its last so many characters. */
  end(without?: number): Promise<void>;
}

export function textSink(
  sink: Pick<Sink, "write">,
  encode: (text: string) => Uint8Array = (text) => encodeUtf8(text, "the text"),
): TextSink {
  let held = "";
  return {
    write(text) {
      held += text;
      if (held.length < PIECE) return undefined;
      const pair = /[\ud800-\udbff]$/.test(held) ? 2 : 1; // one stays behind, for `end`
      const ready = held.slice(0, -pair);
      held = held.slice(-pair);
      return sink.write(encode(ready));
    },
    async end(without = 0) {
      const ready = held.slice(0, held.length - without);
      held = "";
      if (ready !== "") await sink.write(encode(ready));
    },
  };
}
