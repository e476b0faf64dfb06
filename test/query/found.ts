/** What the brute force finds: things, their vertices, and the values of these. */
import { halfToNumber } from "../../src/bytes/half.js";
import type { Column } from "../../src/model/attributes.js";
import { interpolate, Samples } from "../../src/query/samples.js";
import type { PlainLevel } from "./plain.js";

/** A vertex of a thing: which vertex of the level, and which of its fragments. */
export interface Place {
  readonly vertex: number;
  readonly fragment: number;
}

/** A vertex of the answer: a place, or between two or three of them. */
export interface Found {
  readonly thing: Thing;
  readonly at: readonly [number, number, number];
  readonly weights: readonly [number, number];
  readonly position: readonly number[];
}

/** An object, or the parts without one together. */
export interface Thing {
  /** −1: no object. */
  readonly row: number;
  readonly places: readonly Place[];
  /** Where its parts begin: one of an object, one for each part without. */
  readonly starts: readonly number[];
  /** Its own links: places, and the row of the level's links (−1: implied). */
  readonly links: readonly { readonly ends: readonly number[]; readonly link: number }[];
  readonly satisfies: readonly boolean[];
  readonly linkSatisfies: readonly boolean[] | undefined;
}

/** What is in the answer: of an object, or of one part without one. */
export interface Item {
  readonly row: number;
  readonly parts: readonly (readonly Found[])[];
  readonly order: number;
}

export interface Answer {
  readonly level: PlainLevel;
  readonly items: readonly Item[];
  readonly links: readonly { readonly ends: readonly Found[]; readonly link: number }[];
  /** Whether values between two rows were looked for: float16 are then float32. */
  readonly cut: boolean;
}

export const isPath = ({ geometry }: PlainLevel): boolean => ["lines", "polylines", "streamlines"].includes(geometry);

/** Whether a link of a thing counts: it satisfies, or all of its ends do where nothing is asked of links. */
export const counts = ({ linkSatisfies, satisfies }: Thing, ends: readonly number[], link: number): boolean =>
  linkSatisfies === undefined ? ends.every((end) => satisfies[end]) : linkSatisfies[link]!;

/** The values of a vertex of the answer, channel by channel. */
export function valuesAt({ info, values }: Column, found: Found, cut: boolean): unknown[] {
  const { channels } = info;
  const rows = found.at.map((place) => found.thing.places[place]!.vertex);
  const three = rows.flatMap((row) => Array.from({ length: channels }, (_, c) => values[row * channels + c]!));
  if (!cut) return three.slice(0, channels);
  const half = info.dtype.kind === "float" && info.dtype.size === 2;
  const samples = Samples.like(new Float64Array(1), 1);
  const [a, b, c] = found.at;
  Samples.add(samples, 0, b === a ? 0 : 1, c === a ? 0 : c === b ? 1 : 2, ...found.weights);
  if (Array.isArray(values)) return interpolate(three, channels, samples, []);
  const Type = values.constructor as new (values: unknown[]) => Float32Array;
  const from = half ? Float32Array.from(three as number[], halfToNumber) : new Type(three);
  return Array.from(interpolate(from, channels, samples, from.slice(0, channels)));
}

/** The fragment of a vertex of the answer: that of the nearest of its places. */
export function fragmentAt({ thing, at: [a, b, c], weights: [u, v] }: Found): number {
  const first = 1 - u - v;
  return thing.places[first >= u && first >= v ? a : u >= v ? b : c]!.fragment;
}
