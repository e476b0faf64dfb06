/**
 * STL that is too large to be held. Corners at the same place are one vertex, wherever in the file they are: they are put aside by what
 * their coordinates hash to, so that those of one place come together, some at a time.
 *
 * | step                              | is put aside, for each corner                                              |
 * |-----------------------------------|----------------------------------------------------------------------------|
 * | 1. the file, from start to end    | by hash: its coordinates and its solid, 16 bytes, and its number           |
 * | 2. each hash                      | by block of the file: its number, and that of the first at the same place  |
 * | 3. the file again, block by block | nothing: first corners are vertices, and who was first is known of all     |
 *
 * Where damage may be left out, and there is some, step 3 is taken twice: the first time to see which vertices lie nowhere.
 *
 * The vertices are numbered as the whole file would number them, by first corners. Those are marked by a bit for each corner, which is
 * all that stays in memory: 6 bits and some for the 50 bytes of a triangle.
 */
import { bytesOf } from "../../codec/numeric.js";
import { Unsupported } from "../../errors.js";
import { pick, pickRows } from "../../query/columns.js";
import type { Scratch } from "../../store/scratch.js";
import { words } from "../zarr-vectors/payload/int64.js";
import { type Spool, spool } from "../zarr-vectors/write/spill.js";
import type { BatchParts } from "../zarr-vectors/write/write-batch.js";
import { notFinite } from "./finite.js";
import { Marks } from "./marks.js";
import { column, columns, noVertex } from "./surface.js";
import { lateLinks, mustBeFinite, type ObjectNames, objectRows } from "./surface-passing.js";
import type { OpenFileOptions, Passing } from "./types.js";

/** Triangles one after the other. Of each array the next block may use the memory again. */
export interface Triangles {
  /** 9 numbers each; −0 is 0. */
  readonly corners: Float32Array;
  readonly normals: Float32Array;
  /** What comes after each in the binary form. */
  readonly more?: Uint16Array | undefined;
  /** The solid of each. */
  readonly solid: Uint32Array;
  /** The line of each, in text. */
  readonly line?: Uint32Array | undefined;
}

export interface TriangleFile {
  readonly where: string;
  readonly count: number;
  /** Blocks of BLOCK triangles, the last of fewer; may be asked for again. */
  blocks(): AsyncIterable<Triangles>;
  /** Where a triangle is, for people; in text its line is known. */
  place?(triangle: number): string;
  /** Known when all blocks have come once. */
  objects(): ObjectNames;
}

export const BLOCK = 1 << 15; // triangles
const KEY = 16; // bytes: three coordinates and the solid
const CORNERS = 3 * BLOCK;

export async function passTriangles(
  file: TriangleFile,
  makeScratch: () => Scratch,
  onBad?: OpenFileOptions["onBad"],
): Promise<Passing> {
  const { count, where } = file;
  if (3 * count >= 2 ** 32) throw new Unsupported(`${where} has more corners than there are numbers for`, { where });
  const aside = makeScratch();
  const hashes = Math.max(1, Math.ceil((3 * count * (KEY + 20)) / (aside.memory / 8)));
  const byHash = spool([KEY, 4], aside);
  let [normals, more, damaged, first] = [false, false, false, 0];
  for await (const { corners, solid, line, ...rest } of file.blocks()) {
    if (onBad === undefined) mustBeFinite(corners, where, cornerPlace(file, first, line));
    else damaged ||= notFinite(corners) >= 0;
    normals ||= rest.normals.some((value) => value !== 0);
    more ||= rest.more?.some((value) => value !== 0) === true;
    await putAside(byHash, corners, solid, 3 * first, hashes);
    first += solid.length;
  }
  const marks = new Marks(3 * count);
  const byBlock = spool([4, 4], makeScratch());
  for (let hash = 0; hash < hashes; hash++) await join(byHash, hash, byBlock, marks);
  await aside.clear();
  const found = marks.count();
  const lost = new Marks(damaged ? 3 * count : 0);
  if (damaged) await lookAt(file, marks, lost, onBad!);
  const vertices = found - lost.count();
  return {
    geometry: "mesh",
    linkWidth: 3,
    vertices,
    batches: () => batches(file, byBlock, { marks, lost }, { normals, more }),
  };
}

/** Where the triangle of a corner of a block is, for people; `first`: the first triangle of the block. */
const cornerPlace =
  (file: TriangleFile, first: number, line: Triangles["line"]) =>
  (corner: number): string => {
    const triangle = Math.floor(corner / 3);
    return file.place?.(first + triangle) ?? `line ${line?.[triangle]}`;
  };

/** Tells of the vertices that lie nowhere, which are lost. */
async function lookAt(
  file: TriangleFile,
  marks: Marks,
  lost: Marks,
  onBad: NonNullable<OpenFileOptions["onBad"]>,
): Promise<void> {
  let first = 0;
  for await (const { corners, line, solid } of file.blocks()) {
    const place = cornerPlace(file, first, line);
    for (let at = notFinite(corners); at >= 0; ) {
      const corner = Math.floor(at / 3);
      if (marks.has(3 * first + corner)) {
        lost.set(3 * first + corner);
        onBad(noVertex(file.where, place(corner), corners[at]!));
      }
      at = notFinite(corners, 3 * corner + 3);
    }
    first += solid.length;
  }
}

/** The corners of a block by their hash. */
async function putAside(
  byHash: Spool,
  corners: Float32Array,
  solid: Uint32Array,
  first: number,
  hashes: number,
): Promise<void> {
  const count = corners.length / 3;
  const bits = new Uint32Array(corners.buffer, corners.byteOffset, corners.length);
  const [keys, numbers, buckets] = [new Uint32Array(4 * count), new Uint32Array(count), new Uint32Array(count)];
  for (let i = 0; i < count; i++) {
    for (let k = 0; k < 3; k++) keys[4 * i + k] = bits[3 * i + k]!;
    keys[4 * i + 3] = solid[Math.floor(i / 3)]!;
    numbers[i] = first + i;
    buckets[i] = hashOf(keys, 4 * i) % hashes;
  }
  await byHash.add([bytesOf(keys), bytesOf(numbers)], { count, rows: count, buckets, starts: undefined });
}

function hashOf(keys: Uint32Array, at: number): number {
  let hash =
    Math.imul(keys[at]!, 0x9e3779b1) ^
    Math.imul(keys[at + 1]!, 0x85ebca77) ^
    Math.imul(keys[at + 2]!, 0xc2b2ae3d) ^
    Math.imul(keys[at + 3]!, 0x27d4eb2f);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/** Of all corners of one hash, which was the first at its place. They come in the order of the file. */
async function join(byHash: Spool, hash: number, byBlock: Spool, marks: Marks): Promise<void> {
  const [bucket] = await byHash.read([hash]);
  const { rows, columns: found } = bucket!;
  const [keys, numbers] = [words(found[0]!), words(found[1]!)];
  const room = 2 ** Math.ceil(Math.log2(2 * rows + 2));
  const table = new Uint32Array(room); // the row of the first + 1
  const [firsts, blocks] = [new Uint32Array(rows), new Uint32Array(rows)];
  for (let row = 0; row < rows; row++) {
    let slot = Math.imul(hashOf(keys, 4 * row), 0x297a2d39) >>> 0;
    for (slot = (slot ^ (slot >>> 16)) & (room - 1); table[slot] !== 0; slot = (slot + 1) & (room - 1)) {
      const [a, b] = [4 * row, 4 * (table[slot]! - 1)];
      if (
        keys[a] === keys[b] &&
        keys[a + 1] === keys[b + 1] &&
        keys[a + 2] === keys[b + 2] &&
        keys[a + 3] === keys[b + 3]
      )
        break;
    }
    if (table[slot] === 0) {
      table[slot] = row + 1;
      marks.set(numbers[row]!);
    }
    firsts[row] = numbers[table[slot]! - 1]!;
    blocks[row] = Math.floor(numbers[row]! / CORNERS);
  }
  await byBlock.add([found[1]!, bytesOf(firsts)], { count: rows, rows, buckets: blocks, starts: undefined });
}

async function* batches(
  file: TriangleFile,
  byBlock: Spool,
  { marks, lost }: { readonly marks: Marks; readonly lost: Marks },
  has: { readonly normals: boolean; readonly more: boolean },
): AsyncGenerator<BatchParts> {
  const objects = objectRows(file.objects());
  let block = 0;
  for await (const { corners, normals, more, solid } of file.blocks()) {
    const base = block * CORNERS;
    const [bucket] = await byBlock.read([block++]);
    const [numbers, firsts] = [words(bucket!.columns[0]!), words(bucket!.columns[1]!)];
    const positions = new Float32Array(corners.length);
    const parts: number[] = [];
    const owners: number[] = [];
    let vertices = 0;
    for (let i = 0; i < corners.length / 3; i++) {
      if (!marks.has(base + i) || lost.has(base + i)) continue;
      const own = solid[Math.floor(i / 3)]!;
      if (owners.at(-1) !== own) {
        owners.push(own);
        parts.push(vertices);
      }
      for (let k = 0; k < 3; k++) positions[3 * vertices + k] = corners[3 * i + k]!;
      vertices++;
    }
    if (vertices > 0) yield objects.batch(positions.slice(0, 3 * vertices), [...parts, vertices], owners);
    const ends = new Uint32Array(corners.length / 3);
    const loose = new Set<number>();
    for (let i = 0; i < numbers.length; i++) {
      const [corner, vertex] = [numbers[i]! - base, firsts[i]!];
      if (lost.has(vertex)) loose.add(Math.floor(corner / 3));
      ends[corner] = marks.before(vertex) - lost.before(vertex);
    }
    const own = [];
    if (has.normals) own.push(column("normal", normals.slice(), 3));
    if (has.more) own.push(column("attribute", more!.slice()));
    yield* lateLinks(withoutRows({ width: 3, ends, columns: columns(...own) }, loose));
  }
  yield* objects.rest();
}

function withoutRows(links: NonNullable<BatchParts["links"]>, lost: ReadonlySet<number>): typeof links {
  if (lost.size === 0) return links;
  const { width, ends, columns: own } = links;
  const rows = Array.from({ length: ends.length / width }, (_, row) => row).filter((row) => !lost.has(row));
  return { width, ends: pick(ends, width, rows), columns: pickRows(own, rows) };
}
