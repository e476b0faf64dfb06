// The loops of Zarr Vectors, a module of their own: `scripts/kernel.mjs` compiles this file to ../vectors-wasm.ts. What each loop
// promises is written once, in ../types.ts.
export { start } from "./start";

/** Manifests with single fragments only, from a vlen chunk; nothing is believed before its length is known. */
export function placeManifests(
  src: usize,
  size: usize,
  rows: u32,
  dims: u32,
  grid: usize,
  offsets: usize,
  chunks: usize,
  first: usize,
): i32 {
  if (size < 4) return -1;
  const found = load<u32>(src);
  if (found < rows) return -1;
  const cells = grid + (dims << 3);
  const block = <u64>(8 * dims + 9);
  const end = src + size;
  let at = src + 4;
  let to: u32 = 0;
  store<u32>(offsets, 0);
  for (let row: u32 = 0; row < found; row++) {
    if (end - at < 4) return -1;
    const length = load<u32>(at);
    at += 4;
    if (<usize>length > end - at) return -1;
    const stop = at + length;
    if (row < rows) {
      if (length < 4 || <u64>load<u32>(at) * block !== <u64>(length - 4)) return -1;
      for (at += 4; at < stop; at += 9, to++) {
        let cell: u32 = 0;
        let inside = true;
        for (let axis: u32 = 0; axis < dims; axis++, at += 8) {
          const own = load<i32>(at);
          if (load<i32>(at, 4) !== own >> 31) return -1;
          const extent = load<u32>(grid + (axis << 3), 4);
          const place = <u32>(own - load<i32>(grid + (axis << 3)));
          inside = inside && place < extent;
          cell = cell * extent + place;
        }
        if (load<u8>(at) !== 0 || load<u32>(at, 5) !== 0) return -1;
        store<i32>(chunks + (to << 2), inside ? load<i32>(cells + (cell << 2)) : -1);
        store<u32>(first + (to << 2), load<u32>(at, 1));
      }
      store<u32>(offsets + (row << 2), to, 4);
    }
    at = stop;
  }
  return at === end ? <i32>to : -1;
}

/** The chunk of each point, as far as the table knows them. */
export function placePoints(
  src: usize,
  wide: bool,
  dims: u32,
  count: u32,
  grid: usize,
  table: usize,
  buckets: usize,
): u32 {
  for (let row: u32 = 0; row < count; row++) {
    let cell: u32 = 0;
    for (let axis: u32 = 0; axis < dims; axis++) {
      const own = grid + (axis << 4);
      const value = wide ? load<f64>(src) : <f64>load<f32>(src);
      src += wide ? 8 : 4;
      const place = Math.floor(value / load<f64>(own)) - <f64>load<i32>(own, 8);
      const extent = load<u32>(own, 12);
      if (!(place >= 0 && place < <f64>extent)) return row;
      cell = cell * extent + <u32>place;
    }
    const number = load<u32>(table + (cell << 2));
    if (number === 0) return row;
    store<u32>(buckets + (row << 2), number - 1);
  }
  return count;
}

/** Rows to the next free places of their buckets. */
export function spreadRows(width: u32, src: usize, count: u32, buckets: usize, next: usize): void {
  if (width === 1) spread<u8>(src, count, buckets, next);
  else if (width === 2) spread<u16>(src, count, buckets, next);
  else if (width === 4) spread<u32>(src, count, buckets, next);
  else if (width === 8) spread<u64>(src, count, buckets, next);
  else
    for (let row: u32 = 0; row < count; row++) {
      let to = take(buckets + (row << 2), next, width);
      const end = src + width;
      for (; src + 8 <= end; src += 8, to += 8) store<u64>(to, load<u64>(src));
      if (src + 4 <= end) {
        store<u32>(to, load<u32>(src));
        src += 4;
        to += 4;
      }
      for (; src < end; src++, to++) store<u8>(to, load<u8>(src));
    }
}

function spread<T>(src: usize, count: u32, buckets: usize, next: usize): void {
  for (let row: u32 = 0; row < count; row++, src += sizeof<T>())
    store<T>(take(buckets + (row << 2), next, <u32>sizeof<T>()), load<T>(src));
}

/** The next free place of a bucket, which then begins behind it. */
// @ts-ignore: decorator
@inline
function take(bucket: usize, next: usize, width: u32): usize {
  const at = next + (<usize>load<u32>(bucket) << 2);
  const to = load<u32>(at);
  store<u32>(at, to + width);
  return <usize>to;
}
