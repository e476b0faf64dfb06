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
