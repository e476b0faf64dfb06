/**
 * The inverse cosine transform of JPEG in whole numbers, the slow and accurate one that libjpeg has as its default, step by
 * step: every decoder built on libjpeg gives these samples, and another sum in another order would differ by one here and
 * there. Loeffler, Ligtenberg and Moschytz (1989); 13 bits for the factors, 2 more kept between columns and rows.
 */
const F_0_298 = 2446;
const F_0_390 = 3196;
const F_0_541 = 4433;
const F_0_765 = 6270;
const F_0_899 = 7373;
const F_1_175 = 9633;
const F_1_501 = 12299;
const F_1_847 = 15137;
const F_1_961 = 16069;
const F_2_053 = 16819;
const F_2_562 = 20995;
const F_3_072 = 25172;

const work = new Int32Array(64);

/** One pass over eight rows or columns: `step` from value to value, `next` from one to the next, `shift` what is taken away. */
function pass(from: Int32Array, to: Int32Array, step: number, next: number, shift: number): void {
  const half = 1 << (shift - 1);
  for (let i = 0, at = 0; i < 8; i++, at += next) {
    const s0 = from[at]!;
    const s1 = from[at + step]!;
    const s2 = from[at + 2 * step]!;
    const s3 = from[at + 3 * step]!;
    const s4 = from[at + 4 * step]!;
    const s5 = from[at + 5 * step]!;
    const s6 = from[at + 6 * step]!;
    const s7 = from[at + 7 * step]!;

    const even = Math.imul(s2 + s6, F_0_541);
    const e2 = even - Math.imul(s6, F_1_847);
    const e3 = even + Math.imul(s2, F_0_765);
    const e0 = (s0 + s4) << 13;
    const e1 = (s0 - s4) << 13;
    const a0 = e0 + e3;
    const a3 = e0 - e3;
    const a1 = e1 + e2;
    const a2 = e1 - e2;

    const z5 = Math.imul(s7 + s3 + s5 + s1, F_1_175);
    const z1 = -Math.imul(s7 + s1, F_0_899);
    const z2 = -Math.imul(s5 + s3, F_2_562);
    const z3 = z5 - Math.imul(s7 + s3, F_1_961);
    const z4 = z5 - Math.imul(s5 + s1, F_0_390);
    const o0 = Math.imul(s7, F_0_298) + z1 + z3;
    const o1 = Math.imul(s5, F_2_053) + z2 + z4;
    const o2 = Math.imul(s3, F_3_072) + z2 + z3;
    const o3 = Math.imul(s1, F_1_501) + z1 + z4;

    to[at] = (a0 + o3 + half) >> shift;
    to[at + 7 * step] = (a0 - o3 + half) >> shift;
    to[at + step] = (a1 + o2 + half) >> shift;
    to[at + 6 * step] = (a1 - o2 + half) >> shift;
    to[at + 2 * step] = (a2 + o1 + half) >> shift;
    to[at + 5 * step] = (a2 - o1 + half) >> shift;
    to[at + 3 * step] = (a3 + o0 + half) >> shift;
    to[at + 4 * step] = (a3 - o0 + half) >> shift;
  }
}

/** The samples of a block: `values` are its dequantised coefficients in rows, `out` gets eight rows, `stride` apart. */
export function idct(values: Int32Array, out: Uint8ClampedArray, at: number, stride: number): void {
  pass(values, work, 8, 1, 11);
  pass(work, work, 1, 8, 18);
  for (let y = 0; y < 8; y++) for (let x = 0; x < 8; x++) out[at + y * stride + x] = work[8 * y + x]! + 128;
}
