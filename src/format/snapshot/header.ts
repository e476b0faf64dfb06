/**
 * What a snapshot says of itself, as Gadget began it and AREPO, GIZMO, EAGLE and SWIFT go on:
 *
 * | attribute of /Header                        | holds                                                                 |
 * |---------------------------------------------|-----------------------------------------------------------------------|
 * | NumPart_Total, NumPart_Total_HighWord       | particles of each type in all files; the upper 32 bits where there are |
 * | NumPart_ThisFile                            | those in this file                                                    |
 * | NumFilesPerSnapshot                         | how many files there are; 1 where it does not say                     |
 * | BoxSize                                     | one length, three, or a corner and three; 0 for none                  |
 * | Time, Redshift, HubbleParam, MassTable …    | kept as they are, and shown                                           |
 *
 * Units of a field are its own attributes. Each code has its names for the same three numbers: the factor to CGS, and the powers
 * of the scale factor a and of the Hubble parameter h that belong to it.
 */
import type { Json, JsonObject } from "../../bytes/json.js";
import { Corrupt } from "../../errors.js";
import type { Hdf5File, Hdf5Value } from "./hdf5-file.js";

export interface SnapshotHeader {
  /** Particles by the number of their type, in all files; undefined where it does not say. */
  readonly total: readonly number[] | undefined;
  /** The same of this file. */
  readonly here: readonly number[] | undefined;
  readonly files: number;
  /** Where particles lie, if that is told. */
  readonly bounds: { readonly min: readonly number[]; readonly max: readonly number[] } | undefined;
  /** The numbers that people look for first, whatever their names are: box, time, redshift, scale factor and h. */
  readonly summary: JsonObject;
  /** The attributes of the groups that describe a snapshot, by the group's name. */
  readonly groups: { readonly [group: string]: JsonObject };
}

const MOST_FILES = 100_000;
export const DESCRIBING = ["Header", "Units", "InternalCodeUnits", "Cosmology"];

export function readHeader(file: Hdf5File): SnapshotHeader {
  const groups = Object.fromEntries(
    DESCRIBING.flatMap((name) => {
      if (file.kindOf(name) !== "group") return [];
      return [[name, Object.fromEntries(file.attributes(name)) as JsonObject]];
    }),
  );
  const header = groups.Header ?? {};
  const numbers = (name: string): readonly number[] | undefined => numbersOf(header[name], name, file.where);
  const high = numbers("NumPart_Total_HighWord");
  const files = numbers("NumFilesPerSnapshot")?.[0] ?? 1;
  if (!Number.isInteger(files) || files < 1 || files > MOST_FILES)
    throw new Corrupt(`${file.where} should be one of 1 to ${MOST_FILES} files, found NumFilesPerSnapshot ${files}`, {
      where: file.where,
    });
  return {
    total: numbers("NumPart_Total")?.map((low, type) => counted(low + (high?.[type] ?? 0) * 2 ** 32, file.where)),
    here: numbers("NumPart_ThisFile")?.map((count) => counted(count, file.where)),
    files,
    bounds: boundsOf(numbers("BoxSize"), file.where),
    summary: summaryOf(groups),
    groups,
  };
}

/** Told by the header or by the cosmology; a scale factor follows from a redshift as well. */
function summaryOf({ Header = {}, Cosmology = {} }: { readonly [group: string]: JsonObject }): JsonObject {
  const one = (value: Json | undefined): Json | undefined =>
    Array.isArray(value) && value.length === 1 ? (value as readonly Json[])[0] : value;
  const redshift = one(Header.Redshift ?? Cosmology.Redshift);
  const told: { readonly [name: string]: Json | undefined } = {
    box: one(Header.BoxSize),
    time: one(Header.Time),
    redshift,
    scaleFactor: one(
      Header["Scale-factor"] ??
        Cosmology["Scale-factor"] ??
        (typeof redshift === "number" ? 1 / (1 + redshift) : undefined),
    ),
    h: one(Header.HubbleParam ?? Cosmology.h),
  };
  return Object.fromEntries(Object.entries(told).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

/** One number or several; NaN where there is text. */
function numbersOf(value: Json | undefined, name: string, where: string): readonly number[] | undefined {
  if (value === undefined) return undefined;
  const numbers = (Array.isArray(value) ? (value as readonly Json[]) : [value]).map(Number);
  if (numbers.every((number) => Number.isFinite(number))) return numbers;
  throw new Corrupt(`${where} should have numbers as ${name} of its header, found ${JSON.stringify(numbers)}`, {
    where,
  });
}

function counted(count: number, where: string): number {
  if (Number.isSafeInteger(count) && count >= 0) return count;
  throw new Corrupt(`${where} should have a whole number of particles of each type, found ${count}`, { where });
}

function boundsOf(box: readonly number[] | undefined, where: string): SnapshotHeader["bounds"] {
  if (box === undefined) return undefined;
  const [min, size] =
    box.length === 6
      ? [box.slice(0, 3), box.slice(3)]
      : [[0, 0, 0], box.length === 1 ? [box[0]!, box[0]!, box[0]!] : box];
  if (size.length !== 3 || size.some((length) => length < 0))
    throw new Corrupt(`${where} should have a BoxSize of 1, 3 or 6 numbers, found ${box.join(", ")}`, { where });
  if (size.every((length) => length === 0)) return undefined; // space without an end, as several codes write it
  return { min, max: min.map((low, axis) => low + size[axis]!) };
}

const FACTORS = [
  "Conversion factor to CGS (not including cosmological corrections)", // SWIFT
  "CGSConversionFactor", // EAGLE
  "to_cgs", // AREPO, Gadget-4
];
const A_POWERS = ["a-scale exponent", "aexp-scale-exponent", "a_scaling"];
const H_POWERS = ["h-scale exponent", "h-scale-exponent", "h_scaling"];
const DESCRIPTIONS = ["Description", "VarDescription", "description"];

/** "3.085678e+24 cm a h^-1": what one of the stored numbers is; undefined where the field does not say. */
export function unitOf(attributes: ReadonlyMap<string, Hdf5Value>, base = "cgs"): string | undefined {
  const [factor, a, h] = [FACTORS, A_POWERS, H_POWERS].map((names) => numberAmong(attributes, names));
  if (factor === undefined || factor === 0) return undefined; // 0 is AREPO's word for "no unit"
  const power = (name: string, exponent = 0): readonly string[] =>
    exponent === 0 ? [] : [exponent === 1 ? name : `${name}^${exponent}`];
  return [`${factor} ${base}`, ...power("a", a), ...power("h", h)].join(" ");
}

export function descriptionOf(attributes: ReadonlyMap<string, Hdf5Value>): string | undefined {
  const found = DESCRIPTIONS.map((name) => attributes.get(name)).find((value) => typeof value === "string");
  return found?.trim() || undefined;
}

function numberAmong(attributes: ReadonlyMap<string, Hdf5Value>, names: readonly string[]): number | undefined {
  const value = names.map((name) => attributes.get(name)).find((own) => own !== undefined);
  const first = Array.isArray(value) ? (value as readonly Hdf5Value[])[0] : value;
  return typeof first === "number" ? first : undefined;
}
