/** What is taken out of Draco's memory after decoding, and the checks that make it safe to take. */
import { Corrupt, Unsupported } from "../errors.js";
import type { DracoHeader } from "./draco-header.js";
import type { DracoInstance } from "./draco-host.js";

export interface DracoQuantization {
  readonly bits: number;
  readonly origin: readonly number[];
  readonly range: number;
}

export interface DracoAttribute {
  readonly kind: "position" | "normal" | "color" | "texture" | "generic";
  /** The stream's own number for it. */
  readonly id: number;
  readonly components: number;
  readonly values: DracoArray;
}
export type DracoArray = Int8Array | Uint8Array | Int16Array | Uint16Array | Int32Array | Uint32Array | Float32Array;

export const POSITION = 0;
const KINDS = ["position", "normal", "color", "texture", "generic"] as const;
const [UINT8, INT32, UINT32, BOOL] = [2, 5, 6, 11] as const;
type TypedArrayOf = { readonly BYTES_PER_ELEMENT: number; new (buffer: ArrayBuffer): DracoArray };
/** By Draco's number for the type; those of 64 bits cannot be had. */
const ARRAYS = new Map<number, TypedArrayOf>([
  [1, Int8Array],
  [UINT8, Uint8Array],
  [3, Int16Array],
  [4, Uint16Array],
  [INT32, Int32Array],
  [UINT32, Uint32Array],
  [9, Float32Array],
  [BOOL, Uint8Array],
]);

/** One decoded stream inside Draco. */
export interface Decoded {
  readonly draco: DracoInstance;
  readonly decoder: number;
  readonly cloud: number;
  readonly points: number;
  readonly what: string;
  readonly where: string;
}

/** An attribute inside Draco. */
export interface StoredAttribute {
  readonly at: number;
  readonly kind: DracoAttribute["kind"];
  readonly id: number;
  readonly type: number;
  readonly components: number;
  /** How many values are stored; points may share them. */
  readonly size: number;
}

export function attributesOf({ draco: { call }, decoder, cloud, what, where }: Decoded): StoredAttribute[] {
  return Array.from({ length: call("PointCloud_num_attributes_0", cloud) }, (_, i) => {
    const at = call("Decoder_GetAttribute_2", decoder, cloud, i);
    const kind = KINDS[call("PointAttribute_attribute_type_0", at)];
    if (kind === undefined) throw new Corrupt(`${what} has attribute ${i} of an unknown kind`, { where });
    return {
      at,
      kind,
      id: call("PointAttribute_unique_id_0", at) >>> 0,
      type: call("PointAttribute_data_type_0", at),
      components: call("PointAttribute_num_components_0", at) & 0xff,
      size: call("PointAttribute_size_0", at) >>> 0,
    };
  });
}

export function readFaces({ draco, decoder, cloud, points, what, where }: Decoded, count: number): Uint32Array {
  const faces = readOut(draco, 12 * count, (size, at) =>
    draco.call("Decoder_GetTrianglesUInt32Array_3", decoder, cloud, size, at),
  );
  const corners = new Uint32Array(faces!);
  for (let i = 0; i < corners.length; i++) {
    if (corners[i]! >= points)
      throw new Corrupt(`${what} has ${points} points, but face ${Math.floor(i / 3)} refers to ${corners[i]}`, {
        where,
      });
  }
  return corners;
}

/**
 * Draco does not look where it reads: a point for which a damaged stream gave no value would get what lies there. Points of
 * an edgebreaker mesh get their values through faces, all others each have their own.
 */
export function checkMapping(
  header: DracoHeader,
  decoded: Decoded,
  stored: readonly StoredAttribute[],
  faces?: Uint32Array,
): void {
  const { points, what, where } = decoded;
  if (header.method === "edgebreaker") {
    const seen = new Uint8Array(points);
    for (let i = 0; i < faces!.length; i++) seen[faces![i]!] = 1;
    const lost = seen.indexOf(0);
    if (lost >= 0) throw new Corrupt(`${what} has no face with its point ${lost}`, { where });
    return;
  }
  if (points !== header.points || (faces?.length ?? 0) !== 3 * header.faces)
    throw new Corrupt(
      `${what} should have ${header.points} points and ${header.faces} faces, found ${points} and ${(faces?.length ?? 0) / 3}`,
      { where },
    );
  for (const { size, id } of stored) {
    if (size < points)
      throw new Corrupt(`${what} should have ${points} values of attribute ${id}, found ${size}`, { where });
  }
}

/** Runs what fills so many bytes, and copies them out; undefined where it says that it could not. */
function readOut(draco: DracoInstance, size: number, fill: (size: number, at: number) => number) {
  const at = draco.room(size);
  if ((fill(size, at) & 1) === 0) return undefined;
  return draco.bytes().slice(at, at + size).buffer;
}

/** The values of every point as Draco's type, converted where they are stored as another. */
function readAs({ draco, decoder, cloud, points }: Decoded, { at, components }: StoredAttribute, type: number) {
  const Typed = ARRAYS.get(type)!;
  const buffer = readOut(draco, points * components * Typed.BYTES_PER_ELEMENT, (size, to) =>
    draco.call("Decoder_GetAttributeDataArrayForAllPoints_5", decoder, cloud, at, type, size, to),
  );
  return buffer && new Typed(buffer);
}

export function readStored(decoded: Decoded, attribute: StoredAttribute): DracoArray {
  const { type, id } = attribute;
  const values = ARRAYS.has(type) ? readAs(decoded, attribute, type === BOOL ? UINT8 : type) : undefined;
  if (values !== undefined) return values;
  const { what, where } = decoded;
  throw new Unsupported(`attribute ${id} of ${what} should have at most 32 bits, found Draco's type ${type}`, {
    where,
  });
}

const EXACT = 2 ** 24; // up to here, float32 holds every integer

export function readFloats(decoded: Decoded, attribute: StoredAttribute): Float32Array {
  const values = readStored(decoded, attribute);
  if (values instanceof Float32Array) return values;
  for (let i = 0; i < values.length; i++) {
    if (Math.abs(values[i]!) > EXACT)
      throw new Unsupported(`${decoded.what} has the integer ${values[i]} as a position, which float32 cannot hold`, {
        where: decoded.where,
      });
  }
  return Float32Array.from(values);
}

export function readIntegers(decoded: Decoded, attribute: StoredAttribute): Int32Array {
  const { what, where } = decoded;
  if (attribute.type > UINT32)
    throw new Unsupported(`${what} should have integers as positions, found Draco's type ${attribute.type}`, { where });
  const values = readAs(decoded, attribute, INT32);
  if (values === undefined) throw new Unsupported(`${what} should have positions below 2^31, found larger`, { where });
  return values as Int32Array;
}

export function quantizationOf(
  { draco: { call, make } }: Decoded,
  { at, components }: StoredAttribute,
): DracoQuantization | undefined {
  const transform = make("AttributeQuantizationTransform");
  if ((call("AttributeQuantizationTransform_InitFromAttribute_1", transform, at) & 1) === 0) return undefined;
  return {
    bits: call("AttributeQuantizationTransform_quantization_bits_0", transform),
    origin: Array.from({ length: components }, (_, i) =>
      call("AttributeQuantizationTransform_min_value_1", transform, i),
    ),
    range: call("AttributeQuantizationTransform_range_0", transform),
  };
}
