/**
 * The older form of a mesh: a document `<id>:0` that names files, `{"fragments": ["name", …]}`, and in each file a part.
 *
 * | bytes | holds                                                              |
 * |-------|--------------------------------------------------------------------|
 * | 4     | number of vertices, v                                              |
 * | 12 v  | positions in nanometres: x, y, z as float32                        |
 * | the rest | faces: three vertex numbers each as uint32                      |
 *
 * All numbers are little-endian. The 0 in the name of the document was meant as a level of detail; nothing ever wrote another.
 */
import { type Json, parseJson, stringifyJson } from "../../../bytes/json.js";
import { Reader } from "../../../bytes/reader.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { Corrupt, InvalidInput } from "../../../errors.js";
import type { Limits } from "../../../limits.js";
import { Key } from "../../../store/key.js";
import { asList, asObject, wrong } from "../../zarr/document.js";
import { decimalNames } from "../unsharded.js";
import type { ValueNames } from "../values.js";

/** Vertices, and the triangles between them. */
export interface Mesh {
  /** x, y, z of each. */
  readonly positions: Float32Array | Float64Array;
  /** Three vertex numbers each. */
  readonly faces: Uint32Array;
}

/** The documents of older meshes. */
export const legacyNames: ValueNames = {
  nameOf: (id) => `${id}:0`,
  idOf: (name) => (name.endsWith(":0") ? decimalNames.idOf(name.slice(0, -2)) : undefined),
};

/** The document: names of files, relative to the folder of the info. */
export const LegacyManifest = {
  parse(bytes: Uint8Array, limits: Limits, where: string): string[] {
    const { fragments } = asObject(parseJson(bytes, limits, where), "a JSON object", where);
    return asList(fragments, "a list of names as fragments", where).map((name: Json) => {
      if (typeof name !== "string" || !Key.is(name)) throw wrong(where, "names of files as fragments", name);
      return name;
    });
  },

  encode(fragments: readonly string[]): Uint8Array {
    const bad = fragments.find((name) => !Key.is(name));
    if (bad !== undefined) throw new InvalidInput(`the fragment of a mesh cannot have the name ${JSON.stringify(bad)}`);
    return encodeUtf8(stringifyJson({ fragments: [...fragments] }), "the manifest of a mesh");
  },
};

/** A part of a mesh. */
export const LegacyFragment = {
  parse(bytes: Uint8Array, where: string): Mesh & { readonly positions: Float32Array } {
    const reader = new Reader(bytes, where);
    const count = reader.count(reader.u32(), 12);
    reader.skip(12 * count);
    if (reader.remaining % 12 !== 0)
      throw new Corrupt(`${where} should have 12 bytes for each face, found ${reader.remaining} after its vertices`, {
        where,
      });
    const own = new Uint8Array(bytes); // aligned, as all parts are multiples of 4
    const positions = new Float32Array(own.buffer, 4, 3 * count);
    const faces = new Uint32Array(own.buffer, 4 + 12 * count);
    const lost = strayCorner(faces, count);
    if (lost !== undefined)
      throw new Corrupt(`${where} has a face with vertex ${lost}, but there are ${count} vertices`, { where });
    return { positions, faces };
  },

  encode({ positions, faces }: Mesh): Uint8Array<ArrayBuffer> {
    const count = positions.length / 3;
    if (!Number.isInteger(count) || faces.length % 3 !== 0)
      throw new InvalidInput(
        `a mesh has 3 numbers for each vertex and face, found ${positions.length} and ${faces.length} numbers`,
      );
    const lost = strayCorner(faces, count);
    if (lost !== undefined)
      throw new InvalidInput(`a mesh of ${count} vertices cannot have a face with vertex ${lost}`);
    const out = new Uint8Array(4 + 12 * count + 4 * faces.length);
    new Uint32Array(out.buffer, 0, 1)[0] = count;
    new Float32Array(out.buffer, 4, 3 * count).set(positions);
    new Uint32Array(out.buffer, 4 + 12 * count).set(faces);
    return out;
  },
};

function strayCorner(faces: Uint32Array, count: number): number | undefined {
  for (let i = 0; i < faces.length; i++) if (faces[i]! >= count) return faces[i];
  return undefined;
}
