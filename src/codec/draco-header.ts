/**
 * How a Draco stream begins, as far as it says how much will come out of it. Little-endian; `v`: seven bits per byte, the
 * lowest first, the eighth says that more follow.
 *
 * | bytes | what                                                                              |
 * |-------|-----------------------------------------------------------------------------------|
 * | 5     | "DRACO"                                                                           |
 * | 1, 1  | version: 2.2, in newer point clouds 2.3                                           |
 * | 1     | 0 point cloud, 1 mesh                                                             |
 * | 1     | method: 0 sequential, 1 kd-tree (point cloud) or edgebreaker (mesh)               |
 * | 2     | flags; 0x8000: metadata follow                                                    |
 * | …     | metadata: v blocks, each v id and a block; then one more block without id         |
 * |       | block: v entries of (u8 name length, name, v size, value), v blocks within, named |
 * | …     | point cloud: u32 points; sequential mesh: v faces, v points;                      |
 * |       | edgebreaker mesh: u8 traversal, v vertices, v faces                               |
 */
import { Reader } from "../bytes/reader.js";
import { Corrupt, Unsupported } from "../errors.js";

export interface DracoHeader {
  readonly kind: "points" | "mesh";
  readonly method: "sequential" | "kd-tree" | "edgebreaker";
  /** Edgebreaker: vertices; a vertex becomes several points where attributes differ between its faces. */
  readonly points: number;
  readonly faces: number;
}

const MAGIC = [0x44, 0x52, 0x41, 0x43, 0x4f];
const METADATA = 0x8000;

export function parseDracoHeader(bytes: Uint8Array, where: string): DracoHeader {
  const reader = new Reader(bytes, `the Draco stream of ${where}`);
  const magic = reader.bytes(5);
  if (MAGIC.some((byte, i) => magic[i] !== byte))
    throw new Corrupt(`${reader.what} should begin with "DRACO", found bytes ${magic.join(" ")}`, { where });
  const [major, minor, type, method] = [reader.u8(), reader.u8(), reader.u8(), reader.u8()];
  if (type > 1 || method > 1)
    throw new Corrupt(`${reader.what} should be of type and method 0 or 1, found ${type} and ${method}`, { where });
  if (major !== 2 || minor < 2 || minor > (type === 0 ? 3 : 2)) {
    const expected = type === 0 ? "2.2 or 2.3" : "2.2";
    throw new Unsupported(`${reader.what} should have version ${expected}, found ${major}.${minor}`, { where });
  }
  if (reader.u16() & METADATA) skipMetadata(reader);
  if (type === 0)
    return { kind: "points", method: method === 0 ? "sequential" : "kd-tree", points: reader.u32(), faces: 0 };
  if (method === 1) {
    reader.skip(1);
    return { kind: "mesh", method: "edgebreaker", points: varint(reader), faces: varint(reader) };
  }
  const faces = varint(reader);
  return { kind: "mesh", method: "sequential", points: varint(reader), faces };
}

/** Every round reads at least one byte, so the stream's own length bounds the work. */
function skipMetadata(reader: Reader): void {
  for (let attributes = varint(reader); attributes > 0; attributes--) {
    varint(reader);
    skipBlocks(reader);
  }
  skipBlocks(reader);
}

/** A block and all those within it, which stand one after another in whatever order. */
function skipBlocks(reader: Reader): void {
  let named = false;
  for (let blocks = 1; blocks > 0; blocks--) {
    if (named) reader.skip(reader.u8());
    for (let entries = varint(reader); entries > 0; entries--) {
      reader.skip(reader.u8());
      reader.skip(varint(reader));
    }
    blocks += varint(reader);
    named = true;
  }
}

function varint(reader: Reader): number {
  let value = 0;
  for (let shift = 0; shift < 35; shift += 7) {
    const byte = reader.u8();
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) {
      if (value >= 2 ** 32) break;
      return value;
    }
  }
  throw new Corrupt(`${reader.what} should have a number below 2^32 before byte ${reader.offset}`);
}
