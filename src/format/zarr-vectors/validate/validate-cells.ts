/** Cells, each by itself: what cannot be read or decoded is a finding, and does not hide the others. */
import type { Room } from "../../../codec/types.js";
import { Corrupt } from "../../../errors.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import type { Finding } from "../../../model/format.js";
import type { ChunkTable } from "../../../model/source.js";
import { Directory } from "../nodes/nodes-directory.js";
import { attributeInfo } from "../read/schema.js";
import type { Cells } from "../types.js";
import type { LevelCheck } from "./validate-level.js";
import { attempt, failure, isFinding, type RuleId } from "./validate-rules.js";

/** A payload, what went wrong, or nothing: there is none, or a finding of the directory says so. */
export type Blob = Uint8Array | Finding | undefined;

export const placeAt = ({ at }: LevelCheck, path: string, coords: ArrayLike<number>, i: number, rank: number): string =>
  `${at(path)} of chunk ${Directory.key(coords, i * rank, rank)}`;

/** The blobs of chunks, by coordinates; in `room` where there is some. */
export async function readCells(
  check: LevelCheck,
  cells: Cells,
  coords: Int32Array,
  rank: number,
  room?: Room,
): Promise<Blob[]> {
  const { at, options } = check;
  const all = await attempt("cell-decodes", at(cells.path), () => cells.read(coords, { ...options, room }));
  if (!isFinding(all)) return [...all];
  const stored = await quiet(async () => cells.stored?.(options));
  return Promise.all(
    Array.from({ length: coords.length / rank }, async (_, i) => {
      if (stored !== undefined && Directory.find(stored, coords, i * rank) < 0) return undefined;
      const place = coords.slice(i * rank, (i + 1) * rank);
      const where = placeAt(check, cells.path, coords, i, rank);
      const one = await attempt("cell-decodes", where, () => cells.read(place, options));
      return isFinding(one) ? one : one[0];
    }),
  );
}

/** The coordinates of some chunks of a table. */
export function coordsOf({ rank, coords }: ChunkTable, from: number, to: number): Int32Array {
  return coords.slice(from * rank, to * rank);
}

/** What a payload decodes to; undefined where there is none, or nothing that can be decoded, which is a finding. */
export function* decoded<T>(
  rule: RuleId,
  where: string,
  blob: Blob,
  decode: (bytes: Uint8Array) => T,
): Generator<Finding, T | undefined> {
  if (blob === undefined) return undefined;
  if (isFinding(blob)) return void (yield blob);
  try {
    return decode(blob);
  } catch (error) {
    return void (yield failure(rule, where, error));
  }
}

/** The value, or undefined where that is a finding which is made elsewhere. */
export async function quiet<T>(work: () => Promise<T>): Promise<T | undefined> {
  const found = await attempt("array", "", work);
  return isFinding(found) ? undefined : found;
}

/** An attribute as its document describes it; Corrupt where the categories cannot be. */
export function checkedInfo(name: string, { attributes }: Pick<Cells, "attributes">, where: string): AttributeInfo {
  const info = attributeInfo(name, attributes, where);
  if (attributes.encoding !== "dictionary") return info;
  const { categories, dtype } = info;
  if (categories === undefined || new Set(categories).size < categories.length)
    throw new Corrupt(`the dictionary ${where} should have a list of different texts as categories`, { where });
  if (dtype.kind !== "int" && dtype.kind !== "uint")
    throw new Corrupt(`the dictionary ${where} should have whole numbers as codes, found ${dtype.kind}`, { where });
  return info;
}
