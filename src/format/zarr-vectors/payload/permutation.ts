/**
 * The order in which the endpoints of a link were given. Links across chunks are stored with their endpoints sorted by chunk and
 * row; the column `perm_idx` keeps what that did, so that faces get their winding and edges their direction back.
 *
 * It is the Lehmer code of sigma, where stored[i] = given[sigma[i]]: digit i is how many of sigma[i + 1 …] are smaller than
 * sigma[i], in the factorial base, first digit most significant. 0 is the order as it is; for two endpoints 1 is the swap.
 */
import { Corrupt, InvalidInput } from "../../../errors.js";

/** 12! is the last factorial below 2^32. */
export const MAX_WIDTH = 12;

type Rows = Uint32Array | Int32Array | Float64Array;

export const Permutation = {
  /** How many there are of `width` things. */
  count(width: number): number {
    if (!(Number.isInteger(width) && width >= 1 && width <= MAX_WIDTH))
      throw new InvalidInput(`links with an order have 1 to ${MAX_WIDTH} endpoints, found ${width}`);
    let count = 1;
    for (let i = 2; i <= width; i++) count *= i;
    return count;
  },

  encode(sigma: ArrayLike<number>): number {
    let code = 0;
    for (let i = 0; i < sigma.length; i++) {
      let smaller = 0;
      for (let j = i + 1; j < sigma.length; j++) if (sigma[j]! < sigma[i]!) smaller++;
      code = code * (sigma.length - i) + smaller;
    }
    return code;
  },

  decode(code: number, width: number, where: string): number[] {
    if (!(code >= 0 && code < Permutation.count(width)))
      throw new Corrupt(`${where} has the order ${code}, but ${width} endpoints have ${Permutation.count(width)}`, {
        where,
      });
    const digits = new Array<number>(width);
    for (let i = width - 1, rest = code; i >= 0; i--) {
      digits[i] = rest % (width - i);
      rest = Math.floor(rest / (width - i));
    }
    const left = Array.from({ length: width }, (_, i) => i);
    return digits.map((digit) => left.splice(digit, 1)[0]!);
  },

  /** Puts rows of `width` values each, stored in the order of their codes, back into the order in which they were given. */
  restore(rows: Rows, width: number, codes: ArrayLike<number>, where: string): void {
    const orders: number[][] = [];
    const stored = new Array<number>(width).fill(0);
    for (let i = 0, at = 0; i < codes.length; i++, at += width) {
      const code = codes[i]!;
      if (code === 0) continue;
      let sigma = orders[code];
      if (sigma === undefined) {
        sigma = Permutation.decode(code, width, where);
        orders[code] = sigma;
      }
      for (let k = 0; k < width; k++) stored[k] = rows[at + k]!;
      for (let k = 0; k < width; k++) rows[at + sigma[k]!] = stored[k]!;
    }
  },

  /**
   * Sorts each link's endpoints by chunk, then row, in place, and answers the codes that undo it. `chunks` has a number for each
   * endpoint that orders as the coordinates of its chunk do. Equal endpoints keep their order.
   */
  sort(chunks: Rows, ends: Rows, width: number): Uint32Array {
    const codes = new Uint32Array(ends.length / width);
    Permutation.count(width);
    const sigma = new Array<number>(width);
    const [c, e] = [new Array<number>(width), new Array<number>(width)];
    for (let i = 0; i < codes.length; i++) {
      const at = i * width;
      for (let k = 0; k < width; k++) {
        const chunk = chunks[at + k]!;
        const end = ends[at + k]!;
        let to = k;
        for (; to > 0 && (c[to - 1]! > chunk || (c[to - 1] === chunk && e[to - 1]! > end)); to--) {
          c[to] = c[to - 1]!;
          e[to] = e[to - 1]!;
          sigma[to] = sigma[to - 1]!;
        }
        c[to] = chunk;
        e[to] = end;
        sigma[to] = k;
      }
      for (let k = 0; k < width; k++) {
        chunks[at + k] = c[k]!;
        ends[at + k] = e[k]!;
      }
      codes[i] = Permutation.encode(sigma);
    }
    return codes;
  },
};
