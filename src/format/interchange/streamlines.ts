/**
 * What files of streamlines have in common: paths in millimetres from left to right, from back to front and upwards (RAS+), numbered in
 * the order of the file, in pieces that hold whole streamlines.
 */
import type { FixedDataType } from "../../bytes/dtype.js";
import type { NumericArray } from "../../codec/types.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { Axis, Schema } from "../../model/vectors.js";
import type { PieceIndex } from "./types.js";

export const RAS_MM: readonly Axis[] = ["x", "y", "z"].map((name) => ({ name, type: "space", unit: "millimeter" }));

/** What all of these files are, for `FileContent`. */
export const STREAMLINES = { geometry: "streamlines", axes: RAS_MM, linkWidth: 0 } as const;

export const PIECE_BYTES = 2 << 20; // from here on a piece ends with the streamline

export const FLOAT32 = { kind: "float", size: 4, endian: "little" } as const satisfies FixedDataType;

/** The pieces of a file, while it is gone through. */
export class Stretches {
  readonly offsets: number[] = [];
  readonly bytes: number[] = [];
  readonly vertices: number[] = [];
  readonly #starts: number[] = [0];
  readonly #empty: number[] = [];
  #from: number;
  #end: number;
  #vertices = 0;
  /** Streamlines so far. */
  objects = 0;

  constructor(offset: number) {
    this.#from = offset;
    this.#end = offset;
  }

  /** A streamline ends at that byte. */
  add(vertices: number, end: number): void {
    if (vertices === 0) this.#empty.push(this.objects);
    this.objects++;
    this.#vertices += vertices;
    this.#end = end;
    if (end - this.#from >= PIECE_BYTES) this.#cut();
  }

  #cut(): void {
    this.offsets.push(this.#from);
    this.bytes.push(this.#end - this.#from);
    this.vertices.push(this.#vertices);
    this.#starts.push(this.objects);
    this.#from = this.#end;
    this.#vertices = 0;
  }

  /** After the last one. */
  done(): Pick<PieceIndex, "objects" | "empty" | "vertices" | "bytes"> {
    if (this.objects > this.#starts.at(-1)!) this.#cut();
    return {
      objects: { ids: numbered(this.objects), starts: Uint32Array.from(this.#starts) },
      empty: Uint32Array.from(this.#empty),
      vertices: Uint32Array.from(this.vertices),
      bytes: Float64Array.from(this.bytes),
    };
  }
}

/** The ids 0, 1, 2 … */
export function numbered(count: number): BigInt64Array {
  const words = new Uint32Array(2 * count);
  for (let i = 0; i < count; i++) words[2 * i] = i;
  return new BigInt64Array(words.buffer);
}

export const schemaOf = (
  vertex: readonly AttributeInfo[] = [],
  object: readonly AttributeInfo[] = [],
  group: readonly AttributeInfo[] = [],
): Schema => ({ vertex, link: [], fragment: [], object, group });

export const columnsOf = (
  infos: readonly AttributeInfo[],
  values: readonly (NumericArray | readonly string[])[],
): Map<string, Column> => new Map(infos.map((info, i) => [info.name, { info, values: values[i]! }]));
