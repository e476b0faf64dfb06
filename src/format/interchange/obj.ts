/**
 * OBJ as a dataset: faces are a mesh, lines alone are paths, vertices alone are points. Vertices stay what the file says they are: a normal or a place in a
 * texture is an attribute of vertices where all corners at a vertex agree, and of faces, corner by corner, where they do not.
 * Objects are what `o` and `g` divide; who is in which `g` are their groups. Names that are whole numbers are ids.
 */
import { Unsupported } from "../../errors.js";
import type { Column } from "../../model/attributes.js";
import type { Columns } from "../../model/vectors.js";
import { pick, pickRows } from "../../query/columns.js";
import { type InputFile, wholeOrPassing } from "./file.js";
import { Growing } from "./growing.js";
import { NOWHERE, type ObjFile, type ObjLines, type ObjSection, parseObj } from "./obj-parse.js";
import { passObj } from "./obj-passing.js";
import { leftOut, looseVertices, named, noPathVertex, unused } from "./obj-sections.js";
import { writeObj } from "./obj-write.js";
import { fan, fanNotes } from "./polygons.js";
import { column, columns, type Surface, surfaceContent } from "./surface.js";
import { passingContent } from "./surface-passing.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";

export const file: FileFormat = { holdsGroups: true, open, write: writeObj };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const bytes = await wholeOrPassing(input, options);
  if (bytes instanceof Unsupported)
    return passingContent({ version: "OBJ", geometry: "mesh" }, bytes, (makeScratch, now) =>
      passObj(input, makeScratch, now, options.onBad),
    );
  const lines = parseObj(bytes, input.where);
  const notes = leftOut(lines.others, lines.faces.line.length, lines.paths.line.length);
  if (lines.faces.line.length > 0) return surfaceContent(mesh(lines, notes), input, options);
  return surfaceContent(
    lines.paths.line.length > 0 ? paths(lines, notes, input.where, options) : cloud(lines, notes),
    input,
    options,
  );
}

const NONE: Columns = new Map();

const colorsOf = ({ colors }: ObjLines): Column[] => (colors === undefined ? [] : [column("color", colors, 3)]);

function cloud(lines: ObjLines, notes: string[]): Surface {
  const { positions, normals, textures } = lines;
  const own = colorsOf(lines);
  const count = positions.length / 3;
  if (count > 0 && normals.length === 3 * count) own.push(column("normal", normals, 3));
  else if (normals.length > 0) notes.push(unused(normals.length / 3));
  if (count > 0 && textures.length === 2 * count) own.push(column("uv", textures, 2));
  return {
    version: "OBJ",
    geometry: "points",
    positions,
    vertexColumns: columns(...own),
    notes,
    place: (_, i) => `line ${lines.vertexLine[i]}`,
  };
}

function mesh(lines: ObjFile, notes: string[]): Surface {
  const { faces, positions, sections, vertexSection } = lines;
  const offsets = faces.offsets.done();
  const { links, from, ...fanned } = fan({ offsets, corners: faces.vertex.done() }, NONE);
  notes.push(...fanNotes(fanned));
  const own = colorsOf(lines);
  const corner: Column[] = [];
  for (const [name, values, channels, list] of [
    ["normal", lines.normals, 3, faces.normal],
    ["uv", lines.textures, 2, faces.texture],
  ] as const) {
    if (list.length === 0) continue;
    while (list.length < faces.vertex.length) list.push(NOWHERE);
    const ends = fan({ offsets, corners: list.done() }, NONE).links;
    const agreed = atVertices(links, ends, values, channels, positions.length / 3);
    if (agreed !== undefined) own.push(column(name, agreed, channels));
    else corner.push(column(name, rowsOf(values, ends, channels), 3 * channels));
  }
  const line = (i: number): string => `line ${faces.line.values[from?.[i] ?? i]}`;
  const surface: Surface = {
    version: "OBJ",
    geometry: "mesh",
    positions,
    vertexColumns: columns(...own),
    links,
    linkColumns: columns(...corner),
    notes,
    place: (what, i) => (what === "link" ? line(i) : `line ${lines.vertexLine[i]}`),
  };
  const section = from === undefined ? faces.section.done() : pick(faces.section.done(), 1, from);
  return divided(surface, section, vertexSection, sections);
}

/** The rows of a table; NaN where there is none. */
function rowsOf(values: Float32Array, rows: ArrayLike<number>, channels: number): Float32Array {
  const out = new Float32Array(rows.length * channels).fill(Number.NaN);
  for (let i = 0; i < rows.length; i++)
    for (let k = 0; k < channels; k++) out[i * channels + k] = values[rows[i]! * channels + k] ?? Number.NaN;
  return out;
}

/** The value of each vertex, where all corners at it have the same; undefined where some differ. */
function atVertices(
  links: Uint32Array,
  ends: Uint32Array,
  values: Float32Array,
  channels: number,
  vertices: number,
): Float32Array | undefined {
  const chosen = new Uint32Array(vertices).fill(NOWHERE);
  for (let i = 0; i < links.length; i++) {
    const [vertex, end] = [links[i]!, ends[i]!];
    const other = chosen[vertex]!;
    if (other === NOWHERE) chosen[vertex] = end;
    else if (other !== end)
      for (let k = 0; k < channels; k++)
        if (values[channels * end + k] !== values[channels * other + k]) return undefined;
  }
  return rowsOf(values, chosen, channels);
}

/** Faces by section: each has its own vertices, and those of no face stay where they were written. */
function divided(
  surface: Surface,
  faceSection: Uint32Array,
  vertexSection: Uint32Array,
  sections: readonly ObjSection[],
): Surface {
  const links = surface.links!;
  const count = vertexSection.length;
  const one = faceSection[0]!;
  if (faceSection.every((own) => own === one)) return { ...surface, ...named([sections[one]!]) };
  if (links.some((end) => end >= count)) return surface; // refused, or left out, by who looks at every link
  const used = new Uint8Array(count);
  for (const end of links) used[end] = 1;
  const facesOf = buckets(faceSection, sections.length);
  const loose = buckets(vertexSection, sections.length);
  const [stamp, place] = [new Uint32Array(count), new Uint32Array(count)];
  const [rows, faceRows, parts, kept] = [[] as Uint32Array[], [] as Uint32Array[], [0], [] as ObjSection[]];
  const moved = new Uint32Array(links.length);
  let [vertices, at] = [0, 0];
  for (const [number, section] of sections.entries()) {
    const faces = facesOf(number);
    const own = loose(number).filter((vertex) => used[vertex] === 0);
    const touched = new Uint32Array(3 * faces.length + own.length);
    touched.set(own);
    let size = own.length;
    for (const face of faces)
      for (let i = 3 * face; i < 3 * face + 3; i++) {
        const vertex = links[i]!;
        if (stamp[vertex] === number + 1) continue;
        stamp[vertex] = number + 1;
        touched[size++] = vertex;
      }
    if (size === 0) continue;
    const sorted = touched.subarray(0, size).sort();
    for (const [i, vertex] of sorted.entries()) place[vertex] = vertices + i;
    for (const face of faces) for (let i = 3 * face; i < 3 * face + 3; i++) moved[at++] = place[links[i]!]!;
    rows.push(sorted);
    faceRows.push(faces);
    vertices += size;
    parts.push(vertices);
    kept.push(section);
  }
  const [order, faceOrder] = [joined(rows), joined(faceRows)];
  return {
    ...surface,
    positions: pick(surface.positions, 3, order),
    vertexColumns: pickRows(surface.vertexColumns, order),
    links: moved,
    linkColumns: pickRows(surface.linkColumns ?? NONE, faceOrder),
    parts: Uint32Array.from(parts),
    ...named(kept),
    place: (what, i) => surface.place(what, (what === "vertex" ? order : faceOrder)[i]!),
  };
}

/** The rows with each number, ascending. */
function buckets(numbers: Uint32Array, count: number): (number: number) => Uint32Array {
  const starts = new Uint32Array(count + 1);
  for (const number of numbers) starts[number + 1]!++;
  for (let i = 0; i < count; i++) starts[i + 1]! += starts[i]!;
  const [rows, next] = [new Uint32Array(numbers.length), starts.slice()];
  for (let i = 0; i < numbers.length; i++) rows[next[numbers[i]!]!++] = i;
  return (number) => rows.subarray(starts[number]!, starts[number + 1]!);
}

function joined(lists: readonly Uint32Array[]): Uint32Array {
  const out = new Uint32Array(lists.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const list of lists) {
    out.set(list, at);
    at += list.length;
  }
  return out;
}

/** Each `l` is an object with vertices of its own. */
function paths(lines: ObjFile, notes: string[], where: string, { onBad }: OpenFileOptions): Surface {
  const { paths: list, positions, sections } = lines;
  const count = positions.length / 3;
  const [all, offsets] = [list.vertex.done(), list.offsets.done()];
  const [rows, parts, of] = [new Growing(new Uint32Array()), new Growing(new Uint32Array()), [] as ObjSection[]];
  parts.push(0);
  for (let path = 0; path < list.line.length; path++) {
    const own = all.subarray(offsets[path]!, offsets[path + 1]!);
    const wrong = own.find((row) => row >= count);
    if (wrong !== undefined) {
      const problem = noPathVertex(where, list.line.values[path]!, wrong, count);
      if (onBad === undefined) throw problem;
      onBad(problem);
      continue;
    }
    for (const row of own) rows.push(row);
    parts.push(rows.length);
    of.push(sections[list.section.values[path]!]!);
  }
  const order = rows.done();
  notes.push(...looseVertices(count - new Set(order).size));
  return {
    version: "OBJ",
    geometry: "polylines",
    positions: pick(positions, 3, order),
    vertexColumns: pickRows(columns(...colorsOf(lines)), order),
    parts: parts.done(),
    ...named(of),
    notes,
    place: (_, i) => `line ${lines.vertexLine[order[i]!]}`,
  };
}
