// One channel of compressed_segmentation, strict: every offset is compared with the end of the channel before it is followed.
// ../plain/segmentation.ts has the layout.

// @ts-ignore: decorator
@inline
function fillRow<T>(to: usize, n: usize, value: T): void {
  const end = to + n * sizeof<T>();
  const wide = sizeof<T>() == 8 ? i64x2.splat(<i64>value) : i32x4.splat(<i32>value);
  for (; to + 16 <= end; to += 16) v128.store(to, wide);
  for (; to < end; to += sizeof<T>()) store<T>(to, value);
}

// @ts-ignore: decorator
@inline
function put<T>(to: usize, table: usize, index: u32): void {
  store<T>(to, load<T>(table + <usize>index * sizeof<T>()));
}

// Four indices lie in the low bits of one word.
// @ts-ignore: decorator
@inline
function four<T>(to: usize, word: u32, bits: u32, mask: u32, table: usize): void {
  put<T>(to, table, word & mask);
  put<T>(to + sizeof<T>(), table, (word >> bits) & mask);
  put<T>(to + 2 * sizeof<T>(), table, (word >> (2 * bits)) & mask);
  put<T>(to + 3 * sizeof<T>(), table, (word >> (3 * bits)) & mask);
}

// With one bit there are two values, and a lane has one of them where its bit is set.
// @ts-ignore: decorator
@inline
function eightOfTwo<T>(to: usize, word: u32, table: usize): void {
  const spread = i16x8.splat(<i16>word);
  const set = v128.and(spread, i16x8(1, 2, 4, 8, 16, 32, 64, 128));
  const lanes = i16x8.eq(set, i16x8(1, 2, 4, 8, 16, 32, 64, 128));
  const low = i32x4.extend_low_i16x8_s(lanes);
  const high = i32x4.extend_high_i16x8_s(lanes);
  if (sizeof<T>() == 4) {
    const zero = v128.load32_splat(table);
    const one = v128.load32_splat(table, 4);
    v128.store(to, v128.bitselect(one, zero, low));
    v128.store(to, v128.bitselect(one, zero, high), 16);
  } else {
    const zero = v128.load64_splat(table);
    const one = v128.load64_splat(table, 8);
    v128.store(to, v128.bitselect(one, zero, i64x2.extend_low_i32x4_s(low)));
    v128.store(to, v128.bitselect(one, zero, i64x2.extend_high_i32x4_s(low)), 16);
    v128.store(to, v128.bitselect(one, zero, i64x2.extend_low_i32x4_s(high)), 32);
    v128.store(to, v128.bitselect(one, zero, i64x2.extend_high_i32x4_s(high)), 48);
  }
}

// With two bits a table of u32 is one vector, whose bytes are taken by their number. Multiplying moves the four indices to the
// same place in their lanes, then makes four byte numbers of each.
// @ts-ignore: decorator
@inline
function fourOfFour(to: usize, word: u32, table: v128): void {
  const moved = i32x4.shr_u(i32x4.mul(i32x4.splat(word), i32x4(64, 16, 4, 1)), 6);
  const index = v128.and(moved, i32x4.splat(3));
  const bytes = i32x4.add(i32x4.mul(index, i32x4.splat(0x04040404)), i32x4.splat(0x03020100));
  v128.store(to, i8x16.swizzle(table, bytes));
}

// The rest of a row, index by index; false where one points past the `entries` that the table can have.
// @ts-ignore: decorator
@inline
function single<T>(to: usize, n: usize, values: usize, bit: u64, bits: u64, mask: u32, table: usize, entries: u32): bool {
  for (const end = to + n * sizeof<T>(); to < end; to += sizeof<T>()) {
    const index = (load<u32>(values + <usize>((bit >> 5) << 2)) >> <u32>(bit & 31)) & mask;
    if (index >= entries) return false;
    store<T>(to, load<T>(table + <usize>index * sizeof<T>()));
    bit += bits;
  }
  return true;
}

function decode<T>(src: usize, words: usize, dst: usize, sx: usize, sy: usize, sz: usize, bx: usize, by: usize, bz: usize): i32 {
  const headers = ((sx + bx - 1) / bx) * ((sy + by - 1) / by) * ((sz + bz - 1) / bz) << 1;
  if (headers > words) return -1;
  const cells = <u64>bx * by * bz;
  let header = src;
  for (let z0: usize = 0; z0 < sz; z0 += bz) {
    const nz = min(bz, sz - z0);
    for (let y0: usize = 0; y0 < sy; y0 += by) {
      const ny = min(by, sy - y0);
      for (let x0: usize = 0; x0 < sx; x0 += bx) {
        const nx = min(bx, sx - x0);
        const first = load<u32>(header);
        const at = <usize>(first & 0xffffff);
        const bits = <u64>(first >> 24);
        const valuesAt = <usize>load<u32>(header, 4);
        header += 8;
        if (bits > 32 || (bits & (bits - 1)) != 0) return -7;
        if (at < headers || at >= words) return -8;
        const table = src + (at << 2);
        const entries = <u32>min(<usize>0xffffffff, ((words - at) << 2) / sizeof<T>());
        if (entries == 0) return -8;
        if (bits == 0) {
          const value = load<T>(table);
          for (let z: usize = 0; z < nz; z++) {
            let to = dst + (((z0 + z) * sy + y0) * sx + x0) * sizeof<T>();
            for (let y: usize = 0; y < ny; y++, to += sx * sizeof<T>()) fillRow<T>(to, nx, value);
          }
          continue;
        }
        if (valuesAt < headers || <u64>valuesAt + ((bits * cells + 31) >> 5) > <u64>words) return -9;
        const values = src + (valuesAt << 2);
        const mask = <u32>((<u64>1 << bits) - 1);
        // A table that ends with the channel may be shorter than its bits could count: only then are indices looked at.
        const eights = (bx & 7) == 0 && bits <= 8 && <u64>entries >= <u64>1 << bits ? nx & ~7 : 0;
        for (let z: usize = 0; z < nz; z++) {
          let to = dst + (((z0 + z) * sy + y0) * sx + x0) * sizeof<T>();
          let bit = <u64>(z * by * bx) * bits;
          for (let y: usize = 0; y < ny; y++) {
            let from = values + <usize>(bit >> 3);
            let x: usize = 0;
            if (bits == 1) {
              for (; x < eights; x += 8, from++) eightOfTwo<T>(to + x * sizeof<T>(), load<u8>(from), table);
            } else if (sizeof<T>() == 4 && bits == 2) {
              const whole = v128.load(table);
              for (; x < eights; x += 8, from += 2) {
                fourOfFour(to + x * 4, load<u8>(from), whole);
                fourOfFour(to + x * 4 + 16, load<u8>(from, 1), whole);
              }
            } else {
              for (; x < eights; x += 8, from += <usize>bits) {
                const word = load<u64>(from);
                four<T>(to + x * sizeof<T>(), <u32>word, <u32>bits, mask, table);
                four<T>(to + (x + 4) * sizeof<T>(), <u32>(word >> (4 * bits)), <u32>bits, mask, table);
              }
            }
            if (x < nx && !single<T>(to + x * sizeof<T>(), nx - x, values, bit + x * bits, bits, mask, table, entries)) return -10;
            to += sx * sizeof<T>();
            bit += <u64>bx * bits;
          }
        }
      }
    }
  }
  return 0;
}

export function segmentationDecode(
  size: usize, src: usize, words: usize, dst: usize,
  sx: usize, sy: usize, sz: usize, bx: usize, by: usize, bz: usize,
): i32 {
  return size == 8 ? decode<u64>(src, words, dst, sx, sy, sz, bx, by, bz) : decode<u32>(src, words, dst, sx, sy, sz, bx, by, bz);
}
