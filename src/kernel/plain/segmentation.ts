/**
 * One channel of compressed_segmentation over `m`. Words are of 32 bits; offsets count words from the start of the channel.
 * The volume is cut into blocks, x fastest, also where a block sticks out.
 *
 * | words                   | what                                                                                         |
 * |-------------------------|----------------------------------------------------------------------------------------------|
 * | 2 for each block        | u24 where its table lies, u8 bits of an index (0 1 2 4 8 16 32), u32 where its indices lie    |
 * | ⌈bits × block / 32⌉     | an index for each voxel of the full block, x fastest, from the low end; 0 outside the volume  |
 * | 1 or 2 for each value   | a table: the different values of a block, ascending                                          |
 *
 * A writer puts the indices of a block, then its table unless an equal one is there already. The promises are in ../types.ts.
 */
type Triple = readonly [x: number, y: number, z: number];

/** A block: where it begins and how much of it lies inside. */
interface Block {
  readonly at: Triple;
  readonly size: Triple;
}

function* blocks([sx, sy, sz]: Triple, [bx, by, bz]: Triple): Generator<Block> {
  for (let z = 0; z < sz; z += bz) {
    for (let y = 0; y < sy; y += by) {
      for (let x = 0; x < sx; x += bx)
        yield { at: [x, y, z], size: [Math.min(bx, sx - x), Math.min(by, sy - y), Math.min(bz, sz - z)] };
    }
  }
}

const count = ([sx, sy, sz]: Triple, [bx, by, bz]: Triple): number =>
  Math.ceil(sx / bx) * Math.ceil(sy / by) * Math.ceil(sz / bz);

export function segmentationDecode(
  m: Uint8Array,
  size: number,
  src: number,
  words: number,
  dst: number,
  shape: Triple,
  block: Triple,
): number {
  const headers = 2 * count(shape, block);
  if (headers > words) return -1;
  const channel = new Uint32Array(m.buffer, src, words);
  const wide = size / 4;
  const out = new Uint32Array(m.buffer, dst, shape[0] * shape[1] * shape[2] * wide);
  let header = 0;
  for (const { at, size: inside } of blocks(shape, block)) {
    const table = channel[header]! & 0xffffff;
    const bits = channel[header]! >>> 24;
    const values = channel[header + 1]!;
    header += 2;
    if (bits > 32 || (bits & (bits - 1)) !== 0) return -7;
    const entries = Math.floor((words - table) / wide);
    if (table < headers || entries < 1) return -8;
    if (bits > 0 && (values < headers || values + Math.ceil((bits * block[0] * block[1] * block[2]) / 32) > words))
      return -9;
    const mask = bits === 32 ? -1 : (1 << bits) - 1;
    for (let z = 0; z < inside[2]; z++) {
      for (let y = 0; y < inside[1]; y++) {
        let bit = (z * block[1] + y) * block[0] * bits;
        let to = (((at[2] + z) * shape[1] + at[1] + y) * shape[0] + at[0]) * wide;
        for (let x = 0; x < inside[0]; x++, bit += bits) {
          const index = bits === 0 ? 0 : ((channel[values + Math.floor(bit / 32)]! >>> (bit % 32)) & mask) >>> 0;
          if (index >= entries) return -10;
          for (let i = 0; i < wide; i++) out[to++] = channel[table + index * wide + i]!;
        }
      }
    }
  }
  return 0;
}

export function segmentationEncode(
  m: Uint8Array,
  size: number,
  src: number,
  dst: number,
  shape: Triple,
  block: Triple,
): number {
  const Voxels = size === 8 ? BigUint64Array : Uint32Array;
  const voxels = new Voxels(m.buffer as ArrayBuffer, src, shape[0] * shape[1] * shape[2]);
  const channel = new Uint32Array(m.buffer, dst, (m.length - dst) >>> 2);
  const tables = new Map<string, number>();
  let header = 0;
  let end = 2 * count(shape, block);
  for (const { at, size: inside } of blocks(shape, block)) {
    const numbers = new Map<number | bigint, number>();
    const each = (visit: (value: number | bigint, cell: number) => void): void => {
      for (let z = 0; z < inside[2]; z++) {
        for (let y = 0; y < inside[1]; y++) {
          const from = ((at[2] + z) * shape[1] + at[1] + y) * shape[0] + at[0];
          const cell = (z * block[1] + y) * block[0];
          for (let x = 0; x < inside[0]; x++) visit(voxels[from + x]!, cell + x);
        }
      }
    };
    each((value) => numbers.set(value, 0));
    const table = [...numbers.keys()].sort((a, b) => (a < b ? -1 : 1));
    table.forEach((value, i) => {
      numbers.set(value, i);
    });
    const bits = [0, 1, 2, 4, 8, 16, 32].find((n) => 2 ** n >= table.length)!;
    const values = end;
    end += Math.ceil((bits * block[0] * block[1] * block[2]) / 32);
    channel.fill(0, values, end);
    if (bits > 0)
      each((value, cell) => {
        const bit = cell * bits;
        channel[values + Math.floor(bit / 32)]! |= numbers.get(value)! << (bit % 32);
      });
    const known = tables.get(String(table));
    const offset = known ?? end;
    if (offset > 0xffffff) return -1;
    if (known === undefined) {
      tables.set(String(table), end);
      for (const value of table) {
        const [low, high] = size === 8 ? [Number(BigInt(value) & 0xffffffffn), Number(BigInt(value) >> 32n)] : [value];
        channel[end++] = low as number;
        if (high !== undefined) channel[end++] = high;
      }
    }
    channel[header++] = offset | (bits << 24);
    channel[header++] = values;
  }
  return end * 4;
}
