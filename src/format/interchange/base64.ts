/** Base64 in files of data: bytes in, bytes out, without a string between; blanks are passed over. */
import { concat } from "../../bytes/concat.js";
import { Corrupt } from "../../errors.js";
import type { Sink } from "../../store/types.js";

const [BLANK, END, BAD] = [64, 65, 66];
const VALUE = new Uint8Array(256).fill(BAD);
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const CODES = Uint8Array.from(LETTERS, (letter) => letter.charCodeAt(0));
for (const [i, code] of CODES.entries()) VALUE[code] = i;
for (const blank of " \n\r\t") VALUE[blank.charCodeAt(0)] = BLANK;
VALUE[0x3d] = END;

/** Base64 that comes piece by piece. */
export class Base64Decoder {
  readonly #where: string;
  #bits = 0;
  #held = 0;
  #padding = 0;
  /** Something follows the padding: that is of others. */
  ended = false;

  constructor(where: string) {
    this.#where = where;
  }

  /** The bytes that this text stands for, with what came before; `end`: how much of it was taken. */
  push(text: Uint8Array): { readonly bytes: Uint8Array; readonly end: number } {
    const where = this.#where;
    const out = new Uint8Array(Math.floor((text.length * 3) / 4) + 3);
    let [size, bits, held, padding] = [0, this.#bits, this.#held, this.#padding];
    let at = this.ended ? text.length : 0;
    for (; at < text.length; at++) {
      const value = VALUE[text[at]!]!;
      if (value < 64) {
        if (padding > 0) {
          this.ended = true;
          break;
        }
        bits = ((bits << 6) | value) & 0xfff;
        held += 6;
        if (held < 8) continue;
        held -= 8;
        out[size++] = bits >> held;
      } else if (value === END) padding++;
      else if (value === BAD)
        throw new Corrupt(`${where} has the character ${JSON.stringify(String.fromCharCode(text[at]!))} in base64`, {
          where,
        });
    }
    [this.#bits, this.#held, this.#padding] = [bits, held, padding];
    return { bytes: out.subarray(0, size), end: at };
  }

  /** Nothing more comes: bytes must be whole. */
  end(): void {
    const [held, padding, where] = [this.#held, this.#padding, this.#where];
    if (held === 6 || (padding > 0 && padding * 2 !== held) || (padding === 0 && held > 0))
      throw new Corrupt(`${where} has base64 that ends within a byte`, { where });
  }
}

/** The bytes that this text stands for; what comes after the padding is another stretch of base64, and `end` its place. */
export function decodeBase64(text: Uint8Array, where: string): { readonly bytes: Uint8Array; readonly end: number } {
  const decoder = new Base64Decoder(where);
  const found = decoder.push(text);
  decoder.end();
  return found;
}

/** The characters of base64. */
export function encodeBase64(bytes: Uint8Array): Uint8Array {
  const out = new Uint8Array(4 * Math.ceil(bytes.length / 3)).fill(0x3d);
  let at = 0;
  for (let i = 0; i < bytes.length; i += 3) {
    const left = bytes.length - i;
    const word = (bytes[i]! << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0);
    out[at] = CODES[word >> 18]!;
    out[at + 1] = CODES[(word >> 12) & 63]!;
    if (left > 1) out[at + 2] = CODES[(word >> 6) & 63]!;
    if (left > 2) out[at + 3] = CODES[word & 63]!;
    at += 4;
  }
  return out;
}

/** What is written becomes base64 in the sink, piece by piece; the end is told. */
export function base64Into(sink: Pick<Sink, "write">): Pick<Sink, "write"> & { end(): Promise<void> } {
  let left = new Uint8Array(); // fewer than the three bytes that stand together
  return {
    async write(bytes) {
      const all = left.length === 0 ? bytes : concat([left, bytes]);
      const whole = all.length - (all.length % 3);
      left = all.slice(whole);
      if (whole > 0) await sink.write(encodeBase64(all.subarray(0, whole)));
    },
    async end() {
      if (left.length > 0) await sink.write(encodeBase64(left));
    },
  };
}
