/**
 * STL: triangles, each with its own three corners. Corners at exactly the same place are one vertex here, so that neighbours know
 * each other; files without that have no surface, only loose triangles. Normals are attributes of faces.
 *
 * | bytes | of the binary form                                     |
 * |-------|--------------------------------------------------------|
 * | 80    | for people                                             |
 * | 4     | u32 number of triangles                                |
 * | 50 ×  | normal 3 × f32, corners 9 × f32, u16 that is usually 0 |
 *
 * The text form has `solid NAME`, then `facet normal x y z`, `outer loop`, three times `vertex x y z`, `endloop`, `endfacet`, and `endsolid`;
 * several solids are several objects. Binary files may begin with "solid", too: their length gives them away.
 */
import { Corrupt, Unsupported } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import { exactly, type InputFile, wholeOrPassing } from "./file.js";
import { BLOCK, passTriangles, type TriangleFile } from "./stl-passing.js";
import { StlText, textFile } from "./stl-text.js";
import { writeStl } from "./stl-write.js";
import { calledBy, column, columns, type Surface, surfaceContent } from "./surface.js";
import { passingContent } from "./surface-passing.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";

export const file: FileFormat = { open, write: writeStl };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const { where } = input;
  const bytes = await wholeOrPassing(input, options);
  const start = bytes instanceof Unsupported ? await input.read(0, HEADER, options) : bytes;
  const size = bytes instanceof Unsupported ? input.size : bytes.length;
  const view = new DataView(start.buffer, start.byteOffset, start.byteLength);
  const count = start.length < HEADER ? -1 : view.getUint32(80, true);
  const text = new TextDecoder("latin1").decode(start.subarray(0, 80));
  if (count >= 0 && size === HEADER + TRIANGLE * count) {
    if (!(bytes instanceof Unsupported)) return surfaceContent(binary(view, count, text), input, options);
    return passingContent({ ...BINARY, header: headerOf(text) }, bytes, (makeScratch, now) =>
      passTriangles(binaryFile(input, count, now), makeScratch, options.onBad),
    );
  }
  if (/^\s*solid\b/.test(text)) {
    if (!(bytes instanceof Unsupported)) return surfaceContent(ascii(bytes, where), input, options);
    return passingContent(ASCII, bytes, async (makeScratch, now) =>
      passTriangles(await textFile(input, now), makeScratch, options.onBad),
    );
  }
  if (bytes instanceof Unsupported && size === undefined) throw bytes; // packed, so that nobody knows how long it is
  if (count < 0) throw new Corrupt(`${where} ends at byte ${size}, within the header of STL`, { where });
  const needed = HEADER + TRIANGLE * count;
  throw new Corrupt(`${where} has ${size} bytes, and its ${count} triangles need ${needed}`, { where });
}

const [HEADER, TRIANGLE] = [84, 50]; // bytes
const BINARY = { version: "STL binary", geometry: "mesh" } as const;
const ASCII = { version: "STL ascii", geometry: "mesh" } as const;
const headerOf = (text: string) => ({ text: text.replace(/[\0 ]+$/, "") });

/** The triangles of a stretch of bytes. */
function trianglesIn(view: DataView, start: number, count: number) {
  const [corners, normals, more] = [new Float32Array(9 * count), new Float32Array(3 * count), new Uint16Array(count)];
  for (let i = 0, at = start; i < count; i++, at += TRIANGLE) {
    for (let k = 0; k < 3; k++) normals[3 * i + k] = view.getFloat32(at + 4 * k, true);
    for (let k = 0; k < 9; k++) corners[9 * i + k] = view.getFloat32(at + 12 + 4 * k, true);
    more[i] = view.getUint16(at + 48, true);
  }
  return { corners, normals, more };
}

function binaryFile(input: InputFile, count: number, options: ReadOptions): TriangleFile {
  return {
    where: input.where,
    count,
    place: (triangle) => `byte ${HEADER + TRIANGLE * triangle}`,
    objects: () => ({ count: 1 }),
    async *blocks() {
      for (let first = 0; first < count; first += BLOCK) {
        const size = Math.min(BLOCK, count - first);
        const bytes = await exactly(input, HEADER + TRIANGLE * first, TRIANGLE * size, "the triangles", options);
        const own = trianglesIn(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), 0, size);
        yield { ...own, corners: withoutMinus(own.corners), solid: new Uint32Array(size) };
      }
    },
  };
}

/** −0 is 0, in place. */
function withoutMinus(corners: Float32Array): Float32Array {
  const bits = new Uint32Array(corners.buffer, corners.byteOffset, corners.length);
  for (let i = 0; i < bits.length; i++) if (bits[i] === 0x8000_0000) bits[i] = 0;
  return corners;
}

function binary(view: DataView, count: number, text: string): Surface {
  const { corners, normals, more } = trianglesIn(view, HEADER, count);
  const { positions, links, first } = merged(corners, [0, 3 * count]);
  const own = [];
  if (normals.some((value) => value !== 0)) own.push(column("normal", normals, 3));
  if (more.some((value) => value !== 0)) own.push(column("attribute", more));
  return {
    ...BINARY,
    positions,
    vertexColumns: columns(),
    links,
    linkColumns: columns(...own),
    header: headerOf(text),
    place: (what, i) => `byte ${HEADER + TRIANGLE * (what === "link" ? i : Math.floor(first[i]! / 3))}`,
  };
}

function ascii(bytes: Uint8Array, where: string): Surface {
  const text = new StlText(where);
  text.take({ bytes, line: 1 });
  text.end();
  const { starts, lines } = text;
  const { positions, links, first, parts } = merged(Float32Array.from(text.corners.done()), starts);
  const faceNormals = Float32Array.from(text.normals.done());
  return {
    ...ASCII,
    positions,
    vertexColumns: columns(),
    links,
    linkColumns: faceNormals.some((value) => value !== 0) ? columns(column("normal", faceNormals, 3)) : columns(),
    parts,
    ...calledBy(text.names),
    place: (what, i) => `line ${lines.values[what === "link" ? i : Math.floor(first[i]! / 3)]}`,
  };
}

/** Corners at the same place as one vertex, within each stretch of corners. */
function merged(corners: Float32Array, starts: readonly number[]) {
  const count = corners.length / 3;
  const bits = new Uint32Array(corners.buffer);
  const room = 2 ** Math.ceil(Math.log2(2 * count + 2));
  const [table, links, first] = [new Uint32Array(room), new Uint32Array(count), new Uint32Array(count)];
  const parts = new Uint32Array(starts.length);
  let vertices = 0;
  for (let part = 0; part + 1 < starts.length; part++) {
    const low = vertices; // what was found before this stretch is not of it
    for (let i = starts[part]!; i < starts[part + 1]!; i++) {
      for (let k = 3 * i; k < 3 * i + 3; k++) if (bits[k] === 0x8000_0000) bits[k] = 0; // −0 is 0
      const [x, y, z] = [bits[3 * i]!, bits[3 * i + 1]!, bits[3 * i + 2]!];
      let slot = (Math.imul(x, 0x9e3779b1) ^ Math.imul(y, 0x85ebca77) ^ Math.imul(z, 0xc2b2ae3d)) >>> 0;
      slot = (slot ^ (slot >>> 15)) & (room - 1);
      for (; ; slot = (slot + 1) & (room - 1)) {
        const vertex = table[slot]! - 1;
        if (vertex < low) break; // empty, or of an earlier stretch
        const at = 3 * first[vertex]!;
        if (bits[at] === x && bits[at + 1] === y && bits[at + 2] === z) break;
      }
      if (table[slot]! <= low) {
        first[vertices] = i;
        table[slot] = ++vertices;
      }
      links[i] = table[slot]! - 1;
    }
    parts[part + 1] = vertices;
  }
  const positions = new Float32Array(3 * vertices);
  for (let i = 0; i < vertices; i++) for (let k = 0; k < 3; k++) positions[3 * i + k] = corners[3 * first[i]! + k]!;
  return { positions, links, first, parts };
}
