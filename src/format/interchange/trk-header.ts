/**
 * The header of a TRK, TrackVis' file of streamlines: 1000 bytes, in the byte order in which its last field is 1000.
 *
 * | byte | type      | what                                                                                                     |
 * |------|-----------|----------------------------------------------------------------------------------------------------------|
 * | 0    | char 6    | "TRACK"                                                                                                   |
 * | 6    | i16 × 3   | dimensions of the image                                                                                   |
 * | 12   | f32 × 3   | size of a voxel                                                                                           |
 * | 24   | f32 × 3   | origin, which nobody uses                                                                                 |
 * | 36   | i16       | scalars: numbers that follow each vertex                                                                  |
 * | 38   | char 10×20| their names; nibabel writes "name\0N" where N of them belong together                                     |
 * | 238  | i16       | properties: numbers that follow each streamline                                                           |
 * | 240  | char 10×20| their names                                                                                               |
 * | 440  | f32 × 16  | from voxel to RAS+, row by row; not there if the last number is 0, nor in version 1                        |
 * | 504  | char 444  | reserved                                                                                                  |
 * | 948  | char 4    | order of the axes, "LPS" where nothing is said                                                            |
 * | 952  | char 4    | padding                                                                                                   |
 * | 956  | f32 × 6   | orientation of the image as DICOM has it                                                                  |
 * | 980  | char 2    | padding                                                                                                   |
 * | 982  | char 6    | invert x, y, z, swap xy, yz, zx, which nobody uses                                                         |
 * | 988  | i32       | number of streamlines; 0 if nobody counted                                                                 |
 * | 992  | i32       | version                                                                                                   |
 * | 996  | i32       | 1000                                                                                                      |
 *
 * Among the headers of a store it has the words that zarr-vectors-tools uses for those of them that it keeps.
 */
import type { Endian } from "../../bytes/dtype.js";
import type { Json, JsonObject } from "../../bytes/json.js";
import { Corrupt, Unsupported } from "../../errors.js";
import type { AttributeInfo } from "../../model/attributes.js";
import { orientationOf } from "./orientation.js";
import { FLOAT32 } from "./streamlines.js";
import { trkToRas } from "./trk-space.js";

export const TRK_BYTES = 1000;
const [SLOTS, SLOT] = [10, 20];
const IDENTITY = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];

/** The numbers, and the texts without the zeros after them: what is kept as it is. */
const NUMBERS = {
  dimensions: { at: 6, type: "i16", count: 3 },
  voxel_size: { at: 12, type: "f32", count: 3 },
  origin: { at: 24, type: "f32", count: 3 },
  n_scalars: { at: 36, type: "i16", count: 1 },
  n_properties: { at: 238, type: "i16", count: 1 },
  vox_to_ras: { at: 440, type: "f32", count: 16 },
  image_orientation_patient: { at: 956, type: "f32", count: 6 },
  n_count: { at: 988, type: "i32", count: 1 },
  version: { at: 992, type: "i32", count: 1 },
} as const;
const TEXTS = {
  reserved: { at: 504, length: 444 },
  voxel_order: { at: 948, length: 4 },
  pad2: { at: 952, length: 4 },
  pad1: { at: 980, length: 2 },
  flips: { at: 982, length: 6 },
} as const;

export interface TrkHeader {
  readonly endian: Endian;
  readonly version: number;
  readonly count: number;
  readonly scalars: readonly AttributeInfo[];
  readonly properties: readonly AttributeInfo[];
  /** Numbers per vertex besides its coordinates, and per streamline. */
  readonly perVertex: number;
  readonly perObject: number;
  /** From the coordinates of the file to RAS+, 4 × 4. */
  readonly toRas: Float32Array;
  /** All of it, to be written again. */
  readonly json: JsonObject;
  readonly notes: readonly string[];
}

export function parseTrkHeader(bytes: Uint8Array, where: string): TrkHeader {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (textAt(bytes, 0, 5) !== "TRACK") throw new Corrupt(`${where} does not begin with "TRACK"`, { where });
  const endian = ([true, false] as const).find((little) => view.getInt32(996, little) === TRK_BYTES);
  if (endian === undefined)
    throw new Corrupt(`${where} says that its header has ${view.getInt32(996, true)} bytes, expected 1000`, { where });
  const json: { [key: string]: Json } = { endianness: endian ? "little" : "big" };
  for (const [name, field] of Object.entries(NUMBERS)) {
    const values = Array.from({ length: field.count }, (_, i) => numberAt(view, field, i, endian));
    json[name] = field.count === 1 ? values[0]! : values;
  }
  for (const [name, { at, length }] of Object.entries(TEXTS)) json[name] = textAt(bytes, at, length);
  const names = (at: number): string[] =>
    Array.from({ length: SLOTS }, (_, slot) => textAt(bytes, at + SLOT * slot, SLOT));
  json.scalar_names = names(38);
  json.property_names = names(240);
  return { ...trkHeaderOf(json, where), endian: endian ? "little" : "big" };
}

/** What a header means, whether it comes from a file or from a store. */
export function trkHeaderOf(json: JsonObject, where: string): TrkHeader {
  const notes: string[] = [];
  const numbers = (name: keyof typeof NUMBERS, otherwise: readonly number[]): number[] => {
    const value = json[name] ?? otherwise;
    const found = (Array.isArray(value) ? value : [value]).map(Number);
    return found.length === NUMBERS[name].count ? found : [...otherwise];
  };
  const [version] = numbers("version", [2]) as [number];
  if (version < 1 || version > 3) throw new Unsupported(`${where} is TRK ${version}, expected 1 or 2`, { where });
  if (version === 3) notes.push("it is TRK 3, which is read as TRK 2: nobody has written down what is new in it");
  let voxToRas = numbers("vox_to_ras", IDENTITY);
  if (version === 1 || voxToRas[15] === 0) {
    notes.push("its header does not say how voxels become millimetres; their axes are taken for right, front and up");
    voxToRas = IDENTITY;
  }
  const order = typeof json.voxel_order === "string" && json.voxel_order !== "" ? json.voxel_order : undefined;
  if (order === undefined) notes.push("its header does not say the order of axes; LPS is taken, as TrackVis does");
  const voxelOrder = orientationOf(order ?? "LPS");
  if (voxelOrder === undefined) throw wrong(where, "the order of axes", "letters such as LPS", JSON.stringify(order));
  const voxelSize = numbers("voxel_size", [1, 1, 1]);
  if (!voxelSize.every((size) => size > 0 && size < Number.POSITIVE_INFINITY))
    throw wrong(where, "the size of a voxel", "three numbers above 0", `[${voxelSize}]`);
  const dimensions = numbers("dimensions", [1, 1, 1]);
  const toRas = trkToRas({ dimensions, voxelSize, voxelOrder, voxToRas });
  if (toRas?.every(Number.isFinite) !== true)
    throw wrong(where, "vox_to_ras", "an affine whose axes span space", `[${voxToRas}]`);
  const [perVertex] = numbers("n_scalars", [0]) as [number];
  const [perObject] = numbers("n_properties", [0]) as [number];
  if (perVertex < 0 || perObject < 0)
    throw wrong(where, "the number of scalars and properties", "0 or more", `${perVertex} and ${perObject}`);
  return {
    endian: json.endianness === "big" ? "big" : "little",
    version,
    count: numbers("n_count", [0])[0]!,
    scalars: attributesOf(listOf(json.scalar_names), perVertex, "scalars", notes),
    properties: attributesOf(listOf(json.property_names), perObject, "properties", notes),
    perVertex,
    perObject,
    toRas,
    json,
    notes,
  };
}

const wrong = (where: string, what: string, expected: string, found: string): Corrupt =>
  new Corrupt(`${where} should have ${expected} as ${what}, found ${found}`, { where });

export const listOf = (value: Json | undefined): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === "string") : [];

/** The attributes that `total` numbers are, by the names in the slots; numbers without a name are one attribute together. */
function attributesOf(slots: readonly string[], total: number, rest: string, notes: string[]): AttributeInfo[] {
  const found: AttributeInfo[] = [];
  const taken = new Set<string>();
  let left = total;
  const add = (name: string, channels: number): void => {
    let own = name;
    for (let n = 2; taken.has(own); n++) own = `${name}_${n}`;
    if (own !== name) notes.push(`two of its ${rest} are called ${name}; one of them is ${own} here`);
    taken.add(own);
    found.push({ name: own, dtype: FLOAT32, channels });
    left -= channels;
  };
  for (const slot of slots) {
    const [name = "", many = ""] = slot.split("\0");
    if (name === "" || left === 0) continue;
    const channels = /^\d{1,5}$/.test(many) ? Math.max(1, Number(many)) : 1;
    if (channels > left) notes.push(`its ${rest} have names for more numbers than there are; ${name} has ${left} here`);
    add(name, Math.min(channels, left));
  }
  if (left > 0) add(rest, left);
  return found;
}

/** A name in a slot, as nibabel has it; undefined where it does not fit. */
export function slotOf({ name, channels }: Pick<AttributeInfo, "name" | "channels">): string | undefined {
  const slot = channels > 1 ? `${name}\0${channels}` : name;
  return slot.length <= SLOT && /^[\x20-\xff]+$/.test(name) ? slot : undefined;
}

/** A header from elsewhere with everything that a file must have: what it does not say, or says in another shape, is as usual. */
export function wholeTrkHeader(json: JsonObject): JsonObject {
  const usual: JsonObject = { version: 2, dimensions: [1, 1, 1], voxel_size: [1, 1, 1], vox_to_ras: IDENTITY };
  const whole: { [key: string]: Json } = { ...json };
  for (const [name, { count }] of Object.entries(NUMBERS)) {
    const value = json[name] ?? [];
    const list: readonly Json[] = Array.isArray(value) ? value.flat() : [value];
    whole[name] = list.length !== count ? (usual[name] ?? 0) : count === 1 ? list[0]! : list;
  }
  return whole;
}

/** The 1000 bytes; what `json` does not say is zero. */
export function encodeTrkHeader(json: JsonObject, endian: Endian): Uint8Array {
  const bytes = new Uint8Array(TRK_BYTES);
  const view = new DataView(bytes.buffer);
  const little = endian === "little";
  putText(bytes, 0, 6, "TRACK");
  for (const [name, { at, type, count }] of Object.entries(NUMBERS)) {
    const value = json[name];
    const values = Array.isArray(value) ? value : [value ?? 0];
    for (let i = 0; i < count; i++) {
      const number = Number(values[i] ?? 0);
      if (type === "i16") view.setInt16(at + 2 * i, number, little);
      else if (type === "i32") view.setInt32(at + 4 * i, number, little);
      else view.setFloat32(at + 4 * i, number, little);
    }
  }
  for (const [name, { at, length }] of Object.entries(TEXTS)) putText(bytes, at, length, json[name]);
  for (const [name, at] of [
    ["scalar_names", 38],
    ["property_names", 240],
  ] as const)
    for (const [slot, text] of listOf(json[name]).slice(0, SLOTS).entries())
      putText(bytes, at + SLOT * slot, SLOT, text);
  view.setInt32(996, TRK_BYTES, little);
  return bytes;
}

function numberAt(view: DataView, { at, type }: { at: number; type: string }, i: number, little: boolean): Json {
  if (type === "i16") return view.getInt16(at + 2 * i, little);
  if (type === "i32") return view.getInt32(at + 4 * i, little);
  const value = view.getFloat32(at + 4 * i, little);
  return Number.isFinite(value) ? value : String(value); // JSON has no other way
}

/** Latin-1 without the zeros at its end. */
const textAt = (bytes: Uint8Array, at: number, length: number): string =>
  String.fromCharCode(...bytes.subarray(at, at + length)).replace(/\0+$/, "");

function putText(bytes: Uint8Array, at: number, length: number, text: Json | undefined): void {
  if (typeof text !== "string") return;
  for (let i = 0; i < Math.min(length, text.length); i++) bytes[at + i] = text.charCodeAt(i);
}
