/**
 * OBJ that is too large to be held, block by block from what was put aside (obj-aside.ts), as obj.ts makes it of one that is held. What stays in
 * memory are a bit for each vertex, and what sections are called.
 */
import { bytesOf, numericView } from "../../codec/numeric.js";
import type { Column } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Columns } from "../../model/vectors.js";
import type { Scratch } from "../../store/scratch.js";
import { words } from "../zarr-vectors/payload/int64.js";
import { spool } from "../zarr-vectors/write/spill.js";
import type { InputFile } from "./file.js";
import { LinksByPart } from "./links-by-part.js";
import { Marks } from "./marks.js";
import { NumberRows } from "./number-rows.js";
import { type ObjAside, putAside } from "./obj-aside.js";
import { NOWHERE, type ObjSection } from "./obj-parse.js";
import { pathFile } from "./obj-paths.js";
import { leftOut, named, unused } from "./obj-sections.js";
import { passPaths } from "./paths-passing.js";
import { fanNotes } from "./polygons.js";
import { column, columns, FLOAT32 } from "./surface.js";
import { NO_LINKS, NO_VERTICES } from "./surface-blocks.js";
import { passSurface, type SurfaceBlock, type SurfaceFile } from "./surface-passing.js";
import type { OpenFileOptions, Passing } from "./types.js";
import { VertexSet } from "./vertex-set.js";

const BLOCK = 1 << 15; // rows

/** An attribute of vertices, by their rows. */
interface VertexRows {
  readonly name: string;
  readonly rows: NumberRows<Float32Array>;
}

/** An attribute of faces: what each corner points to. */
interface CornerRows {
  readonly name: string;
  readonly values: NumberRows<Float32Array>;
  readonly ends: NumberRows<Uint32Array>;
}

interface Attributes {
  readonly vertex: readonly VertexRows[];
  readonly corner: readonly CornerRows[];
}

export async function passObj(
  input: InputFile,
  makeScratch: () => Scratch,
  options: ReadOptions,
  onBad: OpenFileOptions["onBad"],
): Promise<Passing> {
  const scratch = makeScratch();
  const aside = await putAside(input, scratch, options);
  const { parser, counts } = aside;
  const notes = leftOut(parser.others, counts.faces, counts.paths);
  if (counts.faces === 0 && counts.paths > 0) return passPaths(pathFile(aside, notes, scratch.memory), onBad);
  const file = counts.faces === 0 ? cloud(aside, notes) : await mesh(aside, notes, makeScratch);
  return passSurface(file, makeScratch, onBad);
}

async function mesh(aside: ObjAside, notes: readonly string[], makeScratch: () => Scratch): Promise<SurfaceFile> {
  const { where, section, nowhere, parser, counts } = aside;
  const attributes = await attributesOf(aside, makeScratch);
  const told = [...notes, ...fanNotes(counts)];
  if (section === undefined && !nowhere) return divided(aside, attributes, told, makeScratch());
  const names = section === undefined ? {} : named([parser.sections[section]!]);
  return {
    where,
    geometry: "mesh",
    blocks: (what) => inOrder(aside, attributes, what),
    told: () => ({ notes: told, ...names }),
  };
}

function cloud(aside: ObjAside, notes: readonly string[]): SurfaceFile {
  const { where, positions, normals, textures } = aside;
  const vertex = colorsOf(aside);
  const all = positions.count > 0 && normals.count === positions.count;
  if (all) vertex.push({ name: "normal", rows: normals });
  if (positions.count > 0 && textures.count === positions.count) vertex.push({ name: "uv", rows: textures });
  return {
    where,
    geometry: "points",
    blocks: (what) => inOrder(aside, { vertex, corner: [] }, what),
    told: () => ({ notes: all || normals.count === 0 ? notes : [...notes, unused(normals.count)] }),
  };
}

const colorsOf = ({ colors }: ObjAside): VertexRows[] => (colors.count === 0 ? [] : [{ name: "color", rows: colors }]);

async function attributesOf(aside: ObjAside, makeScratch: () => Scratch): Promise<Attributes> {
  const { normals, normalEnds, textures, textureEnds } = aside;
  const [vertex, corner]: [VertexRows[], CornerRows[]] = [colorsOf(aside), []];
  for (const own of [
    { name: "normal", values: normals, ends: normalEnds },
    { name: "uv", values: textures, ends: textureEnds },
  ]) {
    if (own.ends.count === 0) continue;
    const rows = await atVertices(aside, own, makeScratch());
    if (rows === undefined) corner.push(own);
    else vertex.push({ name: own.name, rows });
  }
  return { vertex, corner };
}

/** Rows of a table; NaN where there is none. */
async function rowsOf(values: NumberRows<Float32Array>, rows: Uint32Array): Promise<Float32Array> {
  const { channels, count } = values;
  if (count === 0) return new Float32Array(rows.length * channels).fill(Number.NaN);
  const found = await values.pick(rows.map((row) => (row < count ? row : 0)));
  for (let i = 0; i < rows.length; i++) if (rows[i]! >= count) found.fill(Number.NaN, i * channels, (i + 1) * channels);
  return found;
}

/** The value of each vertex, where all corners at it have the same; undefined where some differ. */
async function atVertices(
  { positions, triangles }: ObjAside,
  { values, ends }: CornerRows,
  scratch: Scratch,
): Promise<NumberRows<Float32Array> | undefined> {
  const { channels, count } = values;
  const byVertex = spool([4, 4, 4 * channels], scratch);
  for (let from = 0; from < triangles.count; from += BLOCK) {
    const to = Math.min(from + BLOCK, triangles.count);
    const [vertices, own] = [await triangles.slice(from, to), await ends.slice(from, to)];
    if (vertices.some((vertex, i) => vertex >= positions.count && own[i]! < count)) return undefined;
    const buckets = vertices.map((vertex) => (vertex < positions.count ? Math.floor(vertex / BLOCK) : 0));
    const rows = buckets.length;
    const found = [vertices, own, await rowsOf(values, own)].map(bytesOf);
    await byVertex.add(found, { count: rows, rows, buckets, starts: undefined });
  }
  const out = new NumberRows<Float32Array>(Float32Array, channels, scratch);
  for (let first = 0; first < positions.count; first += BLOCK) {
    const [bucket] = await byVertex.read([first / BLOCK]);
    const [vertices, own] = [words(bucket!.columns[0]!), words(bucket!.columns[1]!)];
    const all = numericView(FLOAT32, bucket!.columns[2]!) as Float32Array;
    const size = Math.min(BLOCK, positions.count - first);
    const agreed = agreedIn({ vertices, own, all, channels, count, first }, size);
    if (agreed === undefined) return undefined;
    await out.add(agreed);
  }
  return out;
}

interface CornersOf {
  readonly vertices: Uint32Array;
  /** The row of each corner, and what is there. */
  readonly own: Uint32Array;
  readonly all: Float32Array;
  readonly channels: number;
  /** Rows that there are. */
  readonly count: number;
  readonly first: number;
}

function agreedIn({ vertices, own, all, channels, count, first }: CornersOf, size: number): Float32Array | undefined {
  const chosen = new Uint32Array(size).fill(NOWHERE); // corners
  const values = new Float32Array(size * channels).fill(Number.NaN);
  for (let i = 0; i < vertices.length; i++) {
    const vertex = vertices[i]! - first;
    if (vertex >= size) continue; // it is nowhere
    const other = chosen[vertex]!;
    if (other === NOWHERE || own[other] === NOWHERE) {
      chosen[vertex] = i;
      values.set(all.subarray(i * channels, (i + 1) * channels), vertex * channels);
    } else if (own[other] !== own[i]) {
      if (own[other]! < count !== own[i]! < count) return undefined;
      for (let k = 0; own[i]! < count && k < channels; k++)
        if (all[i * channels + k] !== all[other * channels + k]) return undefined;
    }
  }
  return values;
}

const lineAt = (at: Uint32Array, i: number): string => `line ${at[2 * i]}`;

async function vertexBlock(aside: ObjAside, { vertex }: Attributes, rows: Uint32Array): Promise<SurfaceBlock> {
  const own: Column[] = [];
  for (const { name, rows: values } of vertex) own.push(column(name, await values.pick(rows), values.channels));
  const at = await aside.vertexAt.pick(rows);
  const positions = await aside.positions.pick(rows);
  return { positions, vertexColumns: columns(...own), ...NO_LINKS, place: (_, i) => lineAt(at, i) };
}

async function cornerColumns({ corner }: Attributes, from: number, to: number): Promise<Columns> {
  const own: Column[] = [];
  for (const { name, values, ends } of corner)
    own.push(column(name, await rowsOf(values, await ends.slice(from, to)), 3 * values.channels));
  return columns(...own);
}

/** All vertices and all triangles, as the file has them. */
async function* inOrder(
  aside: ObjAside,
  attributes: Attributes,
  what: "vertices" | "links" | undefined,
): AsyncGenerator<SurfaceBlock> {
  const { positions, triangles, triangleAt } = aside;
  for (let from = 0; what !== "links" && from < positions.count; from += BLOCK) {
    const size = Math.min(BLOCK, positions.count - from);
    const rows = Uint32Array.from({ length: size }, (_, i) => from + i);
    yield vertexBlock(aside, attributes, rows);
  }
  for (let from = 0; what !== "vertices" && from < triangles.count; from += BLOCK) {
    const to = Math.min(from + BLOCK, triangles.count);
    const at = await triangleAt.slice(from, to);
    const linkColumns = await cornerColumns(attributes, from, to);
    const links = await triangles.slice(from, to);
    yield { ...NO_VERTICES, links, linkColumns, place: (_, i) => lineAt(at, i) };
  }
}

const LINES = "lines of faces"; // an attribute on the way only

/** Triangles by section: each has its own vertices, and those of no face stay where they were written. */
async function divided(
  aside: ObjAside,
  attributes: Attributes,
  notes: readonly string[],
  scratch: Scratch,
): Promise<SurfaceFile> {
  const { where, positions, triangles, triangleAt, vertexAt } = aside;
  const { sections } = aside.parser;
  const [bySection, loose] = [new LinksByPart(3, scratch), new LinksByPart(1, scratch)];
  const used = new Marks(positions.count);
  for (let from = 0; from < triangles.count; from += BLOCK) {
    const to = Math.min(from + BLOCK, triangles.count);
    const [links, at] = [await triangles.slice(from, to), await triangleAt.slice(from, to)];
    for (const end of links) used.set(end);
    const linkColumns = new Map(await cornerColumns(attributes, from, to));
    linkColumns.set(
      LINES,
      column(
        LINES,
        at.filter((_, i) => i % 2 === 0),
      ),
    );
    await bySection.add(
      { links, linkColumns },
      at.filter((_, i) => i % 2 === 1),
    );
  }
  for (let from = 0; from < positions.count; from += BLOCK) {
    const at = await vertexAt.slice(from, Math.min(from + BLOCK, positions.count));
    const rows = Uint32Array.from({ length: at.length / 2 }, (_, i) => i).filter((i) => !used.has(from + i));
    await loose.add(
      { links: rows.map((i) => from + i), linkColumns: new Map() },
      rows.map((i) => at[2 * i + 1]!),
    );
  }
  let [parts, kept] = [[0], [] as ObjSection[]];

  async function* blocks(): AsyncGenerator<SurfaceBlock> {
    [parts, kept] = [[0], []];
    for (const [number, section] of sections.entries()) {
      const own = new VertexSet(positions.count);
      for (const from of [loose, bySection]) for await (const { links } of from.of(number)) own.add(links);
      const size = own.end();
      if (size === 0) continue;
      const base = parts.at(-1)!;
      parts.push(base + size);
      kept.push(section);
      for (const rows of own.slices(BLOCK)) yield vertexBlock(aside, attributes, rows);
      for await (const found of bySection.of(number)) {
        const linkColumns = new Map(found.linkColumns);
        const lines = linkColumns.get(LINES)!.values;
        linkColumns.delete(LINES);
        const links = found.links.map((vertex) => base + own.before(vertex));
        yield { ...NO_VERTICES, links, linkColumns, place: (_, i) => `line ${lines[i]}` };
      }
    }
  }
  return {
    where,
    geometry: "mesh",
    blocks,
    told: () => ({ notes, parts: Uint32Array.from(parts), ...named(kept) }),
  };
}
