/**
 * Particles on disk: positions, the numbers that particles had, and each attribute in a scratch file of its own, row by row in the order
 * that the particles have so far. What is on either side of a plane is found as it is in memory (src/kernel/tree.ts): pieces from
 * both ends, of which the k-th from below that lies wrong changes places with the k-th from above.
 */
import type { ParticleRoom } from "../../kernel/tree.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { ScratchFile } from "../../store/scratch.js";

/** Values of all particles. */
export interface DiskColumn {
  readonly file: ScratchFile;
  /** Bytes for each particle. */
  readonly size: number;
}

/** Particles that were put on disk. */
export interface DiskParticles {
  readonly count: number;
  /** Bytes of a coordinate. */
  readonly precision: 4 | 8;
  readonly positions: DiskColumn;
  /** What goes where its particle goes: the numbers from before, then the attributes. */
  readonly carried: readonly DiskColumn[];
  readonly attributes: readonly AttributeInfo[];
  /** The lower and the upper corner around all of them. */
  readonly around: Float64Array;
}

/** Where a range was cut in two, and the corners around either part. */
export interface Cut {
  readonly at: number;
  readonly lower: Float64Array;
  readonly upper: Float64Array;
}

/** Rows of a column, as bytes of some memory. */
export function readRows({ file, size }: DiskColumn, start: number, stop: number, into: Uint8Array): Uint8Array {
  const bytes = into.subarray(0, (stop - start) * size);
  file.read(start * size, bytes);
  return bytes;
}

/** Cuts ranges of particles on disk, with pieces of so many at a time; `pause` lets others run between two pieces. */
export function diskPartition(disk: DiskParticles, piece: number, pause: () => Promise<void>) {
  const { precision, positions, carried } = disk;
  const widest = Math.max(...carried.map(({ size }) => size));
  const Floats = precision === 4 ? Float32Array : Float64Array;
  const [low, high] = [new Floats(3 * piece), new Floats(3 * piece)];
  const [lefts, rights] = [new Uint32Array(piece + 1), new Uint32Array(piece + 1)];
  const [lowBytes, highBytes] = [low, high].map((values) => new Uint8Array(values.buffer)) as [Uint8Array, Uint8Array];
  const [lowRows, highRows] = [new Uint8Array(piece * widest), new Uint8Array(piece * widest)];

  return async (start: number, stop: number, axis: number, mid: number): Promise<Cut> => {
    const [lower, upper] = [corners(), corners()];
    let [from, to] = [start, stop];
    while (to > from) {
      const n = Math.max(1, Math.min(piece, Math.floor((to - from) / 2)));
      const top = to - n; // the same as `from` where one is left
      readRows(positions, from, from + n, lowBytes);
      const left = wrong(low, n, axis, mid, false, lefts, lower, upper);
      if (top === from) {
        if (left === 0) from++;
        break;
      }
      readRows(positions, top, to, highBytes);
      const right = wrong(high, n, axis, mid, true, rights, lower, upper);
      const few = Math.min(left, right);
      if (few > 0) {
        const change = ({ file, size }: DiskColumn, a: Uint8Array, b: Uint8Array): void => {
          swapRows(a, b, size, lefts, rights, few);
          file.write(from * size, a.subarray(0, n * size));
          file.write(top * size, b.subarray(0, n * size));
        };
        change(positions, lowBytes, highBytes);
        for (const column of carried)
          change(column, readRows(column, from, from + n, lowRows), readRows(column, top, to, highRows));
      }
      from += left > few ? lefts[few]! : n;
      to = right > few ? top + rights[few]! + 1 : top;
      await pause();
    }
    return { at: from, lower, upper };
  };
}

const corners = (): Float64Array => Float64Array.of(Infinity, Infinity, Infinity, -Infinity, -Infinity, -Infinity);

/** Lists those of n particles that lie on the wrong side, from the outer end of the piece on; grows the corners around either side. */
function wrong(
  p: Float32Array | Float64Array,
  n: number,
  axis: number,
  mid: number,
  isHigh: boolean,
  list: Uint32Array,
  lower: Float64Array,
  upper: Float64Array,
): number {
  let found = 0;
  const step = isHigh ? -1 : 1;
  for (let k = 0, i = isHigh ? n - 1 : 0; k < n; k++, i += step) {
    const isUpper = p[3 * i + axis]! >= mid;
    list[found] = i;
    found += Number(isUpper !== isHigh);
    const box = isUpper ? upper : lower;
    for (let a = 0; a < 3; a++) {
      const value = p[3 * i + a]!;
      if (value < box[a]!) box[a] = value;
      if (value > box[a + 3]!) box[a + 3] = value;
    }
  }
  return found;
}

/** Numbers of 32 bits where rows are made of such, else bytes. */
const unitsOf = (bytes: Uint8Array, size: number): Uint32Array | Uint8Array =>
  size % 4 === 0 ? new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length >> 2) : bytes;

function swapRows(
  a: Uint8Array,
  b: Uint8Array,
  size: number,
  lefts: Uint32Array,
  rights: Uint32Array,
  few: number,
): void {
  const [p, q] = [unitsOf(a, size), unitsOf(b, size)];
  const width = size / p.BYTES_PER_ELEMENT;
  for (let k = 0; k < few; k++) {
    let [i, j] = [width * lefts[k]!, width * rights[k]!];
    for (const end = i + width; i < end; i++, j++) {
      const value = p[i]!;
      p[i] = q[j]!;
      q[j] = value;
    }
  }
}

/** Puts particles from `start` on into a room, each with its number from there. */
export function loadRoom({ positions }: DiskParticles, room: ParticleRoom, start: number, count: number): void {
  readRows(positions, start, start + count, bytesOfRoom(room));
  const { order } = room;
  for (let i = 0; i < count; i++) order[i] = i;
}

/** Puts them back, in the order that they have got; `column` has room for as many of the widest values, `out` for some. */
export function saveRoom(
  { positions, carried }: DiskParticles,
  room: ParticleRoom,
  start: number,
  count: number,
  column: Uint8Array,
  out: Uint8Array,
): void {
  positions.file.write(start * positions.size, bytesOfRoom(room).subarray(0, count * positions.size));
  for (const { file, size } of carried) {
    const rows = readRows({ file, size }, start, start + count, column);
    const some = Math.floor(out.length / size);
    for (let from = 0; from < count; from += some) {
      const n = Math.min(some, count - from);
      gather(rows, size, room.order, from, n, out);
      file.write((start + from) * size, out.subarray(0, n * size));
    }
  }
}

const bytesOfRoom = ({ positions }: ParticleRoom): Uint8Array =>
  new Uint8Array(positions.buffer as ArrayBuffer, positions.byteOffset, positions.byteLength);

function gather(from: Uint8Array, size: number, order: Uint32Array, start: number, n: number, to: Uint8Array): void {
  const [p, q] = [unitsOf(from, size), unitsOf(to, size)];
  const width = size / p.BYTES_PER_ELEMENT;
  for (let i = start, at = 0; i < start + n; i++) {
    const first = width * order[i]!;
    for (let k = first; k < first + width; k++) q[at++] = p[k]!;
  }
}
