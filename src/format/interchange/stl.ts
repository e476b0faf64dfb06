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
import { Corrupt } from "../../errors.js";
import { withLimits } from "../../limits.js";
import { type InputFile, whole } from "./file.js";
import { Growing } from "./growing.js";
import { writeStl } from "./stl-write.js";
import { calledBy, column, columns, type Surface, surfaceContent } from "./surface.js";
import { Scanner } from "./text.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";

export const file: FileFormat = { open, write: writeStl };

async function open(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const bytes = await whole(input, withLimits(options.limits).resultBytes, options);
  const { where } = input;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const count = bytes.length < 84 ? -1 : view.getUint32(80, true);
  const text = new TextDecoder("latin1").decode(bytes.subarray(0, 80));
  if (count >= 0 && bytes.length === 84 + 50 * count) return surfaceContent(binary(view, count, text), input, options);
  if (/^\s*solid\b/.test(text)) return surfaceContent(ascii(bytes, where), input, options);
  if (count < 0) throw new Corrupt(`${where} ends at byte ${bytes.length}, within the header of STL`, { where });
  const needed = 84 + 50 * count;
  throw new Corrupt(`${where} has ${bytes.length} bytes, and its ${count} triangles need ${needed}`, { where });
}

function binary(view: DataView, count: number, text: string): Surface {
  const [corners, normals, more] = [new Float32Array(9 * count), new Float32Array(3 * count), new Uint16Array(count)];
  for (let i = 0, at = 84; i < count; i++, at += 50) {
    for (let k = 0; k < 3; k++) normals[3 * i + k] = view.getFloat32(at + 4 * k, true);
    for (let k = 0; k < 9; k++) corners[9 * i + k] = view.getFloat32(at + 12 + 4 * k, true);
    more[i] = view.getUint16(at + 48, true);
  }
  const { positions, links, first } = merged(corners, [0, 3 * count]);
  const own = [];
  if (normals.some((value) => value !== 0)) own.push(column("normal", normals, 3));
  if (more.some((value) => value !== 0)) own.push(column("attribute", more));
  return {
    version: "STL binary",
    geometry: "mesh",
    positions,
    vertexColumns: columns(),
    links,
    linkColumns: columns(...own),
    header: { text: text.replace(/[\0 ]+$/, "") },
    place: (what, i) => `byte ${84 + 50 * (what === "link" ? i : Math.floor(first[i]! / 3))}`,
  };
}

function ascii(bytes: Uint8Array, where: string): Surface {
  const scanner = new Scanner({ bytes }, where);
  const [corners, normals] = [new Growing(new Float64Array()), new Growing(new Float64Array())];
  const [lines, starts, names] = [new Growing(new Uint32Array()), [0], [] as string[]];
  let inside = false;
  do {
    if (scanner.ends()) continue;
    const word = scanner.word().toLowerCase();
    if (word === "vertex") for (let k = 0; k < 3; k++) corners.push(scanner.number("a coordinate"));
    else if (word === "facet") {
      scanner.word(); // "normal"
      for (let k = 0; k < 3; k++) normals.push(scanner.number("a number of the normal"));
      lines.push(scanner.line);
    } else if (word === "endfacet") {
      if (corners.length !== 3 * normals.length) throw scanner.corrupt("a facet that has not three vertices");
    } else if (word === "solid" && !inside) {
      names.push(scanner.rest());
      inside = true;
    } else if (word === "endsolid" && inside) {
      starts.push(corners.length / 3);
      inside = false;
    } else if (word !== "outer" && word !== "endloop")
      throw scanner.corrupt(`${JSON.stringify(word.slice(0, 40))} is no word of STL here`);
  } while (scanner.next());
  if (inside || corners.length !== 3 * normals.length)
    throw new Corrupt(`${where} ends at line ${scanner.line} without endsolid`, { where });
  const { positions, links, first, parts } = merged(Float32Array.from(corners.done()), starts);
  const faceNormals = Float32Array.from(normals.done());
  return {
    version: "STL ascii",
    geometry: "mesh",
    positions,
    vertexColumns: columns(),
    links,
    linkColumns: faceNormals.some((value) => value !== 0) ? columns(column("normal", faceNormals, 3)) : columns(),
    parts,
    ...calledBy(names),
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
