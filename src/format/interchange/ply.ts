/**
 * PLY, the polygon file: vertices with any numbers, faces as lists of vertices, edges. A file without faces and edges is a cloud of points,
 * read in pieces; the others are held, or pass where they are too large for that. Numbers of faces and edges are attributes of links.
 *
 * | element  | what of it                                                                                              |
 * |----------|---------------------------------------------------------------------------------------------------------|
 * | `vertex` | `x y z`, the rest are attributes: `nx ny nz` normal, `red green blue [alpha]` color, `s t` uv           |
 * | `face`   | the list `vertex_indices` or `vertex_index`, as triangles; numbers are attributes, other lists left out |
 * | `edge`   | `vertex1`, `vertex2`, the rest are attributes                                                           |
 */
import { Corrupt, Unsupported } from "../../errors.js";
import { exactly, type InputFile, wholeOrPassing } from "./file.js";
import { type PlyElement, type PlyHeader, readPlyHeader } from "./ply-header.js";
import { surfaceFile } from "./ply-passing.js";
import { byteNumbers, fieldsOf, type Numbers, readRows, textNumbers } from "./ply-rows.js";
import { little, outlineOf, readSurface, rolesOf, split } from "./ply-surface.js";
import { writePly } from "./ply-write.js";
import { surfaceContent } from "./surface.js";
import { passingContent, passSurface } from "./surface-passing.js";
import { countLines, Scanner, textBlocks } from "./text.js";
import type { FileContent, FileFormat, OpenFileOptions, PieceIndex } from "./types.js";

export const file: FileFormat = { open, write: writePly };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const header = await readPlyHeader(input, options);
  const vertex = header.elements.find(({ name }) => name === "vertex");
  const { where } = input;
  if (vertex === undefined || !fieldsOf(vertex).some(({ name, type }) => name === "position" && type.kind === "float"))
    throw new Unsupported(`${where} should have an element vertex with x, y and z in a row, float or double`, {
      where,
    });
  const links = header.elements.some(({ name, count }) => (name === "face" || name === "edge") && count > 0);
  const plain = header.elements
    .slice(0, header.elements.indexOf(vertex) + 1)
    .every(({ properties }) => properties.every(({ count }) => count === undefined));
  if (!links && plain) return cloud(input, header, vertex);
  return surface(input, header, options);
}

/** One with links: held, or passing where it is too large for that. */
async function surface(input: InputFile, header: PlyHeader, options: OpenFileOptions): Promise<FileContent> {
  const { where } = input;
  const bytes = await wholeOrPassing(input, options);
  if (bytes instanceof Unsupported) {
    const { geometry } = rolesOf(header, where);
    return passingContent({ ...outlineOf(header), geometry }, bytes, (makeScratch, now) =>
      passSurface(surfaceFile(input, header, now), makeScratch, options.onBad),
    );
  }
  const data = bytes.subarray(header.length);
  const ascii = header.format === "ascii";
  const scanner = new Scanner({ bytes: data, line: header.lines + 1 }, where);
  const numbers = ascii ? textNumbers(scanner) : byteNumbers(data, little(header), where, header.length);
  return surfaceContent(
    readSurface(header, where, numbers, () => (ascii ? scanner.line : undefined)),
    input,
    options,
  );
}

const PIECE_BYTES = 4 << 20;
const PIECE_LINES = 1 << 16;

function cloud(input: InputFile, header: PlyHeader, vertex: PlyElement): FileContent {
  const { where } = input;
  const ascii = header.format === "ascii";
  const before = header.elements.slice(0, header.elements.indexOf(vertex));
  const skipped = before.reduce((sum, { count, stride }) => sum + count * (ascii ? 1 : stride), 0);
  const attributes = fieldsOf(vertex)
    .filter(({ name }) => name !== "position")
    .map(({ name, type, properties }) => ({ name, dtype: type, channels: properties.length }));
  return {
    ...outlineOf(header),
    geometry: "points",
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space" })),
    linkWidth: 0,
    vertices: vertex.count,
    objects: 0,
    async index(options): Promise<PieceIndex> {
      const rows = ascii ? PIECE_LINES : Math.ceil(PIECE_BYTES / vertex.stride);
      const places = ascii
        ? await linePlaces(input, header.length, skipped, vertex.count, rows, options)
        : bytePlaces(header.length + skipped, vertex, rows, input);
      const pieces = places.length - 1;
      const firstLine = header.lines + 1 + skipped;
      const size = (piece: number): number => Math.min(rows, vertex.count - piece * rows);
      return {
        schema: { vertex: attributes, link: [], fragment: [], object: [], group: [] },
        objects: undefined,
        vertices: Uint32Array.from({ length: pieces }, (_, piece) => size(piece)),
        bytes: Float64Array.from({ length: pieces }, (_, piece) => places[piece + 1]! - places[piece]!),
        place: ({ piece, vertex: row }) => ({
          place: ascii ? `line ${firstLine + piece * rows + row}` : `byte ${places[piece]! + row * vertex.stride}`,
        }),
        async load(piece, now) {
          const [from, to] = [places[piece]!, places[piece + 1]!];
          const bytes = await exactly(input, from, to - from, "the vertices", now);
          const line = firstLine + piece * rows;
          const numbers: Numbers = ascii
            ? textNumbers(new Scanner({ bytes, line }, where))
            : byteNumbers(bytes, little(header), where, from);
          const { positions, vertexColumns } = split(readRows(vertex, size(piece), numbers).columns);
          return { positions, parts: Uint32Array.of(0, size(piece)), vertexColumns, objectColumns: new Map() };
        },
      };
    },
  };
}

function bytePlaces(start: number, { count, stride }: PlyElement, rows: number, { size, where }: InputFile): number[] {
  if (size !== undefined && start + count * stride > size)
    throw new Corrupt(`${where} ends at byte ${size}, and its ${count} vertices at ${start + count * stride}`, {
      where,
    });
  const places: number[] = [];
  for (let at = 0; at < count; at += rows) places.push(start + at * stride);
  return [...places, start + count * stride];
}

/** Where every so many lines begin, and where the last of them ends. */
async function linePlaces(
  input: InputFile,
  start: number,
  skipped: number,
  count: number,
  rows: number,
  options: OpenFileOptions,
): Promise<number[]> {
  const places: number[] = [];
  let [line, next, end] = [0, skipped, start];
  const last = skipped + count;
  for await (const { bytes, offset } of textBlocks(input, options, start)) {
    const lines = countLines(bytes);
    if (line + lines < next && line + lines < last && bytes.at(-1) === 10) {
      line += lines;
      end = offset + bytes.length;
      continue;
    }
    for (let at = 0; at < bytes.length && line <= last; ) {
      if (line === last) return [...places, offset + at];
      if (line === next) {
        places.push(offset + at);
        next += rows;
      }
      const found = bytes.indexOf(10, at);
      at = found < 0 ? bytes.length : found + 1;
      end = offset + at;
      line++;
    }
  }
  if (line < last)
    throw new Corrupt(`${input.where} ends at byte ${end} after ${line - skipped} of its ${count} vertices`, {
      where: input.where,
    });
  return [...places, end];
}
