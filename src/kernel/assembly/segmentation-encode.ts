// One channel to compressed_segmentation, byte for byte as tensorstore and cloud-volume have it; ../plain/segmentation.ts
// has the layout. In the scratch memory, for blocks of `cells`:
//
//   slots    u32 × power of two ≥ 2 cells    a table by hash: 1 + the number of a value, in the order of its first voxel
//   distinct u64 × cells                     the values by that number
//   order    u32 × cells                     their numbers, sorted by value
//   ranks    u32 × cells                     where each stands in that order; before that, the slot that it took
//   indices  u32 × cells                     the number of each voxel's value
//   tables   8 × power of two ≥ 2 blocks     a table by hash: where a table of values lies, and how long it is

// @ts-ignore: decorator
@inline
function above(n: usize): u32 {
  return 32 - clz<u32>(<u32>n * 2 - 1);
}

// @ts-ignore: decorator
@inline
function less<T>(distinct: usize, a: u32, b: u32): bool {
  return load<T>(distinct + (<usize>a << 3)) < load<T>(distinct + (<usize>b << 3));
}

/** Few values are inserted one by one; many go through a heap, which no input makes slow. */
function sort<T>(order: usize, n: usize, distinct: usize): void {
  if (n <= 24) {
    for (let i: usize = 1; i < n; i++) {
      const moved = load<u32>(order + (i << 2));
      let at = order + (i << 2);
      for (; at > order && less<T>(distinct, moved, load<u32>(at - 4)); at -= 4) store<u32>(at, load<u32>(at - 4));
      store<u32>(at, moved);
    }
    return;
  }
  for (let i = n / 2; i > 0; i--) sift<T>(order, i - 1, n, distinct);
  for (let end = n - 1; end > 0; end--) {
    const top = load<u32>(order);
    store<u32>(order, load<u32>(order + (end << 2)));
    store<u32>(order + (end << 2), top);
    sift<T>(order, 0, end, distinct);
  }
}

function sift<T>(order: usize, root: usize, n: usize, distinct: usize): void {
  const moved = load<u32>(order + (root << 2));
  for (;;) {
    let child = (root << 1) + 1;
    if (child >= n) break;
    let other = load<u32>(order + (child << 2));
    if (child + 1 < n && less<T>(distinct, other, load<u32>(order + (child << 2), 4))) {
      child++;
      other = load<u32>(order + (child << 2));
    }
    if (!less<T>(distinct, moved, other)) break;
    store<u32>(order + (root << 2), other);
    root = child;
  }
  store<u32>(order + (root << 2), moved);
}

/** Whether eight voxels all have one value. */
// @ts-ignore: decorator
@inline
function same<T>(from: usize, value: T): bool {
  if (sizeof<T>() == 4) {
    const wide = i32x4.splat(<i32>value);
    return v128.all_true<i32>(v128.and(i32x4.eq(v128.load(from), wide), i32x4.eq(v128.load(from, 16), wide)));
  }
  const wide = i64x2.splat(<i64>value);
  const first = v128.and(i64x2.eq(v128.load(from), wide), i64x2.eq(v128.load(from, 16), wide));
  const last = v128.and(i64x2.eq(v128.load(from, 32), wide), i64x2.eq(v128.load(from, 48), wide));
  return v128.all_true<i64>(v128.and(first, last));
}

// @ts-ignore: decorator
@inline
function mixed(value: u64): u64 {
  value ^= value >> 32;
  return value * 0x9e3779b97f4a7c15;
}

/** The table of the n values in order: an equal one that is there already, or this one at `out`. Answers its offset in words. */
function placeTable<T>(dst: usize, out: usize, order: usize, n: usize, distinct: usize, tables: usize, shift: u32): u32 {
  let hash: u64 = n;
  for (let i: usize = 0; i < n; i++) {
    const value = load<T>(distinct + (<usize>load<u32>(order + (i << 2)) << 3));
    store<T>(out + i * sizeof<T>(), value);
    hash = mixed(hash + <u64>value);
  }
  const mask = (<usize>1 << shift) - 1;
  let slot = <usize>(hash >> (64 - <u64>shift));
  let at = load<u32>(tables + (slot << 3));
  while (at != 0) {
    const known = load<u32>(tables + (slot << 3), 4);
    if (known == <u32>n && memory.compare(dst + (<usize>at << 2), out, n * sizeof<T>()) == 0) return at;
    slot = (slot + 1) & mask;
    at = load<u32>(tables + (slot << 3));
  }
  at = <u32>((out - dst) >> 2);
  store<u32>(tables + (slot << 3), at);
  store<u32>(tables + (slot << 3), <u32>n, 4);
  return at;
}

function pack(out: usize, bits: u32, indices: usize, ranks: usize, nx: usize, ny: usize, nz: usize, bx: usize, by: usize): void {
  const inEights = bits <= 8 && ((bx | nx) & 7) == 0;
  for (let z: usize = 0; z < nz; z++) {
    for (let y: usize = 0; y < ny; y++) {
      let bit = <u64>((z * by + y) * bx) * bits;
      for (let x: usize = 0; x < nx; ) {
        if (inEights) {
          let word: u64 = 0;
          for (let k: u32 = 0; k < 8; k++)
            word |= <u64>load<u32>(ranks + (<usize>load<u32>(indices + ((x + k) << 2)) << 2)) << <u64>(k * bits);
          const to = out + <usize>(bit >> 3);
          if (bits == 1) store<u8>(to, <u8>word);
          else if (bits == 2) store<u16>(to, <u16>word);
          else if (bits == 4) store<u32>(to, <u32>word);
          else store<u64>(to, word);
          x += 8;
          bit += 8 * bits;
        } else {
          const to = out + <usize>((bit >> 5) << 2);
          store<u32>(to, load<u32>(to) | (load<u32>(ranks + (<usize>load<u32>(indices + (x << 2)) << 2)) << <u32>(bit & 31)));
          x++;
          bit += bits;
        }
      }
      indices += nx << 2;
    }
  }
}

function encode<T>(
  src: usize, dst: usize, scratch: usize,
  sx: usize, sy: usize, sz: usize, bx: usize, by: usize, bz: usize,
): i32 {
  const blocks = ((sx + bx - 1) / bx) * ((sy + by - 1) / by) * ((sz + bz - 1) / bz);
  const cells = min(bx, sx) * min(by, sy) * min(bz, sz);
  const shift = above(cells);
  const tableShift = above(blocks);
  const distinct = scratch;
  const order = distinct + (cells << 3);
  const ranks = order + (cells << 2);
  const indices = ranks + (cells << 2);
  const slots = indices + (cells << 2);
  const tables = slots + (<usize>4 << shift);
  memory.fill(slots, 0, (<usize>4 << shift) + (<usize>8 << tableShift));
  const slotMask = (<u64>1 << shift) - 1;
  let header = dst;
  let out = dst + (blocks << 3);
  for (let z0: usize = 0; z0 < sz; z0 += bz) {
    const nz = min(bz, sz - z0);
    for (let y0: usize = 0; y0 < sy; y0 += by) {
      const ny = min(by, sy - y0);
      for (let x0: usize = 0; x0 < sx; x0 += bx) {
        const nx = min(bx, sx - x0);
        let n: usize = 0;
        let number: u32 = 0;
        let last: T = 0;
        let to = indices;
        for (let z: usize = 0; z < nz; z++) {
          let row = src + (((z0 + z) * sy + y0) * sx + x0) * sizeof<T>();
          for (let y: usize = 0; y < ny; y++, row += sx * sizeof<T>()) {
            let from = row;
            const end = row + nx * sizeof<T>();
            while (from < end) {
              if (n > 0 && from + 8 * sizeof<T>() <= end && same<T>(from, last)) {
                const wide = i32x4.splat(number);
                v128.store(to, wide);
                v128.store(to, wide, 16);
                to += 32;
                from += 8 * sizeof<T>();
                continue;
              }
              // Up to eight of them before the next look at all at once.
              for (const stop = min(end, from + 8 * sizeof<T>()); from < stop; from += sizeof<T>(), to += 4) {
                const value = load<T>(from);
                if (n == 0 || value != last) {
                  last = value;
                  for (let slot = mixed(value) >> (64 - <u64>shift); ; slot = (slot + 1) & slotMask) {
                    const at = slots + (<usize>slot << 2);
                    number = load<u32>(at);
                    if (number == 0) {
                      store<T>(distinct + (n << 3), value);
                      store<u32>(order + (n << 2), <u32>n);
                      store<u32>(ranks + (n << 2), <u32>at);
                      number = <u32>n;
                      n++;
                      store<u32>(at, <u32>n);
                      break;
                    }
                    number--;
                    if (load<T>(distinct + (<usize>number << 3)) == value) break;
                  }
                }
                store<u32>(to, number);
              }
            }
          }
        }
        for (let i: usize = 0; i < n; i++) store<u32>(<usize>load<u32>(ranks + (i << 2)), 0);
        sort<T>(order, n, distinct);
        for (let i: usize = 0; i < n; i++) store<u32>(ranks + (<usize>load<u32>(order + (i << 2)) << 2), <u32>i);
        let bits: u32 = 0;
        if (n > 1) for (bits = 1; bits < 32 && n > <usize>1 << bits; ) bits <<= 1;
        const values = (out - dst) >> 2;
        if (bits > 0) {
          const size = <usize>((<u64>bits * bx * by * bz + 31) >> 5) << 2;
          memory.fill(out, 0, size);
          pack(out, bits, indices, ranks, nx, ny, nz, bx, by);
          out += size;
        }
        const table = placeTable<T>(dst, out, order, n, distinct, tables, tableShift);
        if (table > 0xffffff) return -1;
        if (table == <u32>((out - dst) >> 2)) out += n * sizeof<T>();
        store<u32>(header, table | (bits << 24));
        store<u32>(header, <u32>values, 4);
        header += 8;
      }
    }
  }
  return <i32>(out - dst);
}

export function segmentationEncode(
  size: usize, src: usize, dst: usize, scratch: usize,
  sx: usize, sy: usize, sz: usize, bx: usize, by: usize, bz: usize,
): i32 {
  return size == 8 ? encode<u64>(src, dst, scratch, sx, sy, sz, bx, by, bz) : encode<u32>(src, dst, scratch, sx, sy, sz, bx, by, bz);
}
