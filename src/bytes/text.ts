/** Text as bytes: strict UTF-8, and the UCS-4 of numpy's U types. */
import { Corrupt, InvalidInput } from "../errors.js";

// ignoreBOM keeps the mark: whether it is data is for the caller to say, and dropping it would lose bytes in silence.
const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

export function decodeUtf8(bytes: Uint8Array, what: string): string {
  try {
    return strict.decode(bytes);
  } catch (cause) {
    throw new Corrupt(`${what} is not valid UTF-8`, { cause });
  }
}

/** A lone surrogate has no UTF-8; TextEncoder would replace it in silence. */
export function encodeUtf8(text: string, what: string): Uint8Array<ArrayBuffer> {
  if (/[\ud800-\udfff]/u.test(text))
    throw new InvalidInput(`${what} has half of a surrogate pair, which UTF-8 cannot hold`);
  return encoder.encode(text);
}

/** Little-endian UCS-4 up to the padding: zeros at the end are not text. */
export function decodeUcs4(bytes: Uint8Array, what: string): string {
  let end = bytes.length & ~3;
  while (end > 0 && (bytes[end - 4]! | bytes[end - 3]! | bytes[end - 2]! | bytes[end - 1]!) === 0) end -= 4;
  let text = "";
  for (let at = 0; at < end; at += 4) {
    const code = (bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)) >>> 0;
    if (code > 0x10ffff) throw new Corrupt(`${what} has 0x${code.toString(16)}, which is no Unicode code point`);
    text += String.fromCodePoint(code);
  }
  return text;
}

/** Little-endian UCS-4 in exactly `size` bytes; what does not fit is cut off, as numpy does. */
export function encodeUcs4(text: string, size: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const character of text) {
    if (at + 4 > size) break;
    const code = character.codePointAt(0)!;
    bytes[at] = code;
    bytes[at + 1] = code >>> 8;
    bytes[at + 2] = code >>> 16;
    at += 4;
  }
  return bytes;
}
