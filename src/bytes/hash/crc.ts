/**
 * Cyclic redundancy checks of 32 bits, reflected, start and end inverted: crc32c (Castagnoli, Zarr v3's and iSCSI's) and
 * crc32 (zip, gzip). Sixteen bytes per step ("slicing"): table k gives what a byte does to the sum k bytes later.
 */
const SLICES = 16;

function tables(polynomial: number): Uint32Array {
  const table = new Uint32Array(SLICES * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ polynomial : crc >>> 1;
    table[byte] = crc;
  }
  for (let i = 256; i < table.length; i++) table[i] = (table[i - 256]! >>> 8) ^ table[table[i - 256]! & 255]!;
  return table;
}

/** `before` is the sum of what came before these bytes, so that long data can be summed in pieces. */
export type Crc = (bytes: Uint8Array, before?: number) => number;

function crc(polynomial: number): Crc {
  let made: Uint32Array | undefined; // 16 kB, on first use
  return (bytes, before = 0) => {
    made ??= tables(polynomial);
    return (update(made, bytes, ~before) ^ -1) >>> 0;
  };
}

function update(t: Uint32Array, b: Uint8Array, sum: number): number {
  const end = b.length;
  let i = 0;
  for (; i + 16 <= end; i += 16) {
    sum =
      t[0xf00 + (b[i]! ^ (sum & 255))]! ^
      t[0xe00 + (b[i + 1]! ^ ((sum >>> 8) & 255))]! ^
      t[0xd00 + (b[i + 2]! ^ ((sum >>> 16) & 255))]! ^
      t[0xc00 + (b[i + 3]! ^ (sum >>> 24))]! ^
      t[0xb00 + b[i + 4]!]! ^
      t[0xa00 + b[i + 5]!]! ^
      t[0x900 + b[i + 6]!]! ^
      t[0x800 + b[i + 7]!]! ^
      t[0x700 + b[i + 8]!]! ^
      t[0x600 + b[i + 9]!]! ^
      t[0x500 + b[i + 10]!]! ^
      t[0x400 + b[i + 11]!]! ^
      t[0x300 + b[i + 12]!]! ^
      t[0x200 + b[i + 13]!]! ^
      t[0x100 + b[i + 14]!]! ^
      t[b[i + 15]!]!;
  }
  for (; i < end; i++) sum = t[(sum ^ b[i]!) & 255]! ^ (sum >>> 8);
  return sum;
}

export const crc32c = crc(0x82f63b78);
export const crc32 = crc(0xedb88320);
