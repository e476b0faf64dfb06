/**
 * The lines that most OBJ files are made of, in one go: `v x y z` with plain decimal numbers, and `f a b c` with nothing but the
 * numbers of three vertices; one blank between them, and nothing else. A line that is any different is left to who reads all of them
 * (obj-parse.ts), so nothing is decided here twice.
 */
import type { Growing } from "./growing.js";

const [SPACE, NEWLINE, MINUS, POINT, V, F] = [32, 10, 0x2d, 0x2e, 0x76, 0x66];
const DIGITS = 15; // of which every number is one of float64
const POWERS = Float64Array.from({ length: DIGITS + 1 }, (_, i) => 10 ** i);

/** Vertices from the start of a line on; gives the start of the first line that is no such vertex. */
export function plainVertices(bytes: Uint8Array, start: number, positions: Growing<Float64Array>): number {
  let line = start;
  while (bytes[line] === V && bytes[line + 1] === SPACE) {
    positions.reserve(3);
    const { values, length } = positions;
    let at = line + 2;
    for (let k = 0; k < 3; k++) {
      const minus = bytes[at] === MINUS;
      if (minus) at++;
      const first = at;
      let value = 0;
      let digit = bytes[at]! - 48;
      while (digit >= 0 && digit <= 9) {
        value = value * 10 + digit;
        digit = bytes[++at]! - 48;
      }
      let digits = at - first;
      let after = 0;
      if (bytes[at] === POINT) {
        const point = ++at;
        digit = bytes[at]! - 48;
        while (digit >= 0 && digit <= 9) {
          value = value * 10 + digit;
          digit = bytes[++at]! - 48;
        }
        after = at - point;
        digits += after;
      }
      if (digits === 0 || digits > DIGITS || bytes[at] !== (k < 2 ? SPACE : NEWLINE)) return line;
      at++;
      const size = value / POWERS[after]!;
      values[length + k] = minus ? -size : size;
    }
    positions.length += 3;
    line = at;
  }
  return line;
}

/** Triangles from the start of a line on, counted from 0; gives the start of the first line that is no such face. */
export function plainFaces(bytes: Uint8Array, start: number, corners: Growing<Uint32Array>): number {
  let line = start;
  while (bytes[line] === F && bytes[line + 1] === SPACE) {
    corners.reserve(3);
    const { values, length } = corners;
    let at = line + 2;
    for (let k = 0; k < 3; k++) {
      const first = at;
      let value = 0;
      let digit = bytes[at]! - 48;
      while (digit >= 0 && digit <= 9) {
        value = value * 10 + digit;
        digit = bytes[++at]! - 48;
      }
      if (value === 0 || at - first > 9 || bytes[at] !== (k < 2 ? SPACE : NEWLINE)) return line;
      at++;
      values[length + k] = value - 1;
    }
    corners.length += 3;
    line = at;
  }
  return line;
}
