/** Datasets as plain arrays, made from a number: what the brute force looks at, and what sources and stores are made from. */

import type { DataType } from "../../src/bytes/dtype.js";
import { numberToHalf } from "../../src/bytes/half.js";
import type { NumericArray } from "../../src/codec/types.js";
import type { AttributeInfo, Column } from "../../src/model/attributes.js";
import type { Domain, Geometry, Positions } from "../../src/model/vectors.js";
import { type Random, random } from "../fuzz/mutate.js";

export interface PlainLevel {
  readonly level: number;
  readonly dims: number;
  readonly geometry: Geometry;
  readonly linkWidth: number;
  readonly sequential: boolean;
  readonly chunkShape: readonly number[];
  readonly binShape: readonly number[];
  /** All vertices. */
  readonly positions: Positions;
  /** The vertices of each fragment, all in one chunk: `vertices` are consecutive numbers. */
  readonly fragments: readonly PlainFragment[];
  readonly objects: readonly PlainObject[] | undefined;
  /** Rows of vertices. */
  readonly links: readonly (readonly number[])[];
  /** Rows of objects. */
  readonly groups: readonly (readonly number[])[];
  readonly columns: { readonly [D in Domain]: readonly Column[] };
}

export interface PlainFragment {
  /** Its chunk. */
  readonly chunk: readonly number[];
  readonly vertices: readonly number[];
}

export interface PlainObject {
  readonly id: bigint;
  /** Its fragments, in order; one may be in several objects, and more than once in one. */
  readonly fragments: readonly number[];
}

export interface PlainDataset {
  readonly levels: readonly PlainLevel[];
}

export const GEOMETRIES: readonly Geometry[] = [
  "points",
  "lines",
  "polylines",
  "streamlines",
  "graph",
  "skeletons",
  "mesh",
  "parametric",
];

/** A dice with more faces. */
export class Dice {
  readonly #random: Random;
  constructor(seed: number) {
    this.#random = random(seed);
  }
  below(n: number): number {
    return this.#random.below(n);
  }
  /** True in one of n cases. */
  one(n: number): boolean {
    return this.below(n) === 0;
  }
  of<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }
  some<T>(list: readonly T[], most: number): T[] {
    return Array.from({ length: list.length === 0 ? 0 : this.below(most + 1) }, () => this.of(list));
  }
}

export function plainDataset(seed: number): PlainDataset {
  const dice = new Dice(seed);
  const geometry = dice.of(GEOMETRIES);
  const dims = dice.of([1, 2, 2, 3, 3, 3, 4, 5]);
  const levels = dice.one(3) ? 1 + dice.below(3) : 1;
  return {
    levels: Array.from({ length: levels }, (_, level) => plainLevel(dice, geometry, dims, level, levels - level)),
  };
}

const isPath = (geometry: Geometry): boolean => ["lines", "polylines", "streamlines"].includes(geometry);

function plainLevel(dice: Dice, geometry: Geometry, dims: number, level: number, size: number): PlainLevel {
  const chunkShape = Array.from({ length: dims }, () => dice.of([1, 2, 3, 4, 8]));
  const [points, fragments] = [[] as number[][], [] as { chunk: number[]; vertices: number[] }[]];
  const chunkOf = (point: readonly number[]): number[] => point.map((x, axis) => Math.floor(x / chunkShape[axis]!));
  /** Adds vertices as fragments: runs that stay in one chunk, sometimes shorter. */
  const add = (sequence: readonly number[][]): number[] => {
    const made: number[] = [];
    for (const point of sequence) {
      const chunk = chunkOf(point);
      const last = fragments[made.at(-1) ?? -1];
      if (last !== undefined && last.chunk.join() === chunk.join() && !dice.one(6)) last.vertices.push(points.length);
      else made.push(fragments.push({ chunk, vertices: [points.length] }) - 1);
      points.push(point);
    }
    return made;
  };
  const hasObjects = !dice.one(5);
  const objects: { id: bigint; fragments: number[] }[] = [];
  let id = 0n;
  const count = hasObjects ? dice.below(5 * size + 1) : 0;
  const most = geometry === "lines" ? 2 : 8;
  for (let i = 0; i < count; i++) {
    id += dice.one(4) ? BigInt(1 + dice.below(1000)) : 1n;
    const sequence = walk(
      dice,
      dims,
      dice.one(8) ? 0 : geometry === "lines" && !dice.one(5) ? 2 : dice.below(most + 1),
    );
    objects.push({ id: dice.one(50) ? id + 2n ** 54n : id, fragments: add(sequence) });
  }
  const lone = hasObjects ? (dice.one(3) ? dice.below(4) : 0) : dice.below(6 * size);
  for (let i = 0; i < lone; i++) add(walk(dice, dims, dice.below(most + 1)));
  if (hasObjects && dice.one(3)) mix(dice, objects, fragments, chunkOf, dims);
  const vertices = points.length;
  const links = plainLinks(dice, geometry, objects, fragments, vertices);
  const groups = Array.from({ length: count > 0 && dice.one(2) ? dice.below(4) : 0 }, () => [
    ...new Set(
      dice.some(
        objects.map((_, row) => row),
        count,
      ),
    ),
  ]);
  const Type = dice.one(3) ? Float64Array : Float32Array;
  return {
    level,
    dims,
    geometry,
    linkWidth: links.width,
    sequential: isPath(geometry) || (geometry === "skeletons" && !dice.one(4)),
    chunkShape,
    binShape: chunkShape.map((shape) => (shape / 4) * 2 ** level),
    positions: Type.from(points.flat()),
    fragments,
    objects: hasObjects ? objects : undefined,
    links: links.rows,
    groups,
    columns: {
      vertex: [serial("serial", vertices), ...columns(dice, vertices)],
      fragment: columns(dice, fragments.length),
      object: hasObjects ? columns(dice, count) : [],
      link: links.width === 0 || geometry === "points" || isPath(geometry) ? [] : columns(dice, links.rows.length),
      group: columns(dice, groups.length),
    },
  };
}

/** Mostly whole quarters, so that much lies on borders and faces. */
const coordinate = (dice: Dice): number => (dice.one(4) ? Math.fround(dice.below(1600) / 97) : dice.below(65) / 4) - 8;

function walk(dice: Dice, dims: number, length: number): number[][] {
  const far = dice.one(3);
  const out: number[][] = [];
  for (let i = 0; i < length; i++) {
    const before = out.at(-1);
    out.push(
      Array.from({ length: dims }, (_, axis) =>
        before === undefined || far
          ? coordinate(dice)
          : Math.min(8, Math.max(-8, before[axis]! + (dice.below(17) - 8) / 4)),
      ),
    );
  }
  return out;
}

/** Shared fragments, some more than once in one object, and fragments without vertices. */
function mix(
  dice: Dice,
  objects: readonly { fragments: number[] }[],
  fragments: { chunk: number[]; vertices: number[] }[],
  chunkOf: (point: readonly number[]) => number[],
  dims: number,
): void {
  for (const object of objects) {
    if (dice.one(2) && fragments.length > 0)
      object.fragments.splice(dice.below(object.fragments.length + 1), 0, dice.below(fragments.length));
    if (!dice.one(3)) continue;
    const empty =
      fragments.push({ chunk: chunkOf(Array.from({ length: dims }, () => coordinate(dice))), vertices: [] }) - 1;
    object.fragments.splice(dice.below(object.fragments.length + 1), 0, empty);
  }
}

function plainLinks(
  dice: Dice,
  geometry: Geometry,
  objects: readonly PlainObject[],
  fragments: readonly PlainFragment[],
  vertices: number,
): { width: number; rows: number[][] } {
  const width = geometry === "mesh" ? dice.of([3, 3, 4]) : geometry === "points" || geometry === "parametric" ? 0 : 2;
  if (width === 0 || vertices === 0 || dice.one(8)) return { width: 0, rows: [] };
  const owned = new Set(objects.flatMap((object) => object.fragments));
  const lone = fragments.flatMap((fragment, f) => (owned.has(f) ? [] : fragment.vertices));
  const all = Array.from({ length: vertices }, (_, v) => v);
  const rows: number[][] = [];
  const within = (pool: readonly number[], count: number): void => {
    for (let i = 0; i < count && pool.length > 0; i++) rows.push(Array.from({ length: width }, () => dice.of(pool)));
  };
  for (const object of objects)
    within(
      object.fragments.flatMap((f) => fragments[f]!.vertices),
      dice.below(5),
    );
  within(lone, dice.below(12));
  if (dice.one(2)) within(all, dice.below(8));
  for (let i = rows.length - 1; i > 0; i--) {
    const j = dice.below(i + 1);
    [rows[i], rows[j]] = [rows[j]!, rows[i]!];
  }
  return { width, rows };
}

const serial = (name: string, count: number): Column => ({
  info: { name, dtype: { kind: "uint", size: 4, endian: "little" }, channels: 1 },
  values: Uint32Array.from({ length: count }, (_, i) => i),
});

type Make = (count: number, dice: Dice) => Column["values"];
const typed =
  <T extends NumericArray>(Type: new (length: number) => T, value: (dice: Dice) => number | bigint): Make =>
  (count, dice) => {
    const out = new Type(count);
    for (let i = 0; i < count; i++) (out as unknown as unknown[])[i] = value(dice);
    return out;
  };
const number = (kind: "int" | "uint" | "float", size: 1 | 2 | 4 | 8): DataType =>
  ({ kind, size, endian: "little" }) as DataType;
const quarter = (dice: Dice): number => (dice.one(10) ? Number.NaN : (dice.below(21) - 10) / 4);

/** Attributes of every type, a few values each. */
const KINDS: readonly { readonly info: Omit<AttributeInfo, "name" | "channels">; readonly make: Make }[] = [
  { info: { dtype: number("float", 4) }, make: typed(Float32Array, quarter) },
  { info: { dtype: number("float", 8), absent: 0.5 }, make: typed(Float64Array, quarter) },
  { info: { dtype: number("float", 2) }, make: typed(Uint16Array, (dice) => numberToHalf(quarter(dice))) },
  { info: { dtype: number("int", 1) }, make: typed(Int8Array, (dice) => dice.below(9) - 4) },
  { info: { dtype: number("int", 4), absent: 2 }, make: typed(Int32Array, (dice) => dice.below(9) - 4) },
  { info: { dtype: number("uint", 2) }, make: typed(Uint16Array, (dice) => dice.below(5)) },
  { info: { dtype: number("int", 8) }, make: typed(BigInt64Array, (dice) => BigInt(dice.below(7) - 3) * 2n ** 60n) },
  { info: { dtype: number("uint", 8), absent: 3n }, make: typed(BigUint64Array, (dice) => BigInt(dice.below(5))) },
  { info: { dtype: { kind: "bool", size: 1 } }, make: typed(Uint8Array, (dice) => dice.below(2)) },
  {
    info: { dtype: number("uint", 1), categories: ["axon", "dendrite", "soma"] },
    make: typed(Uint8Array, (dice) => dice.below(4)),
  },
  {
    info: { dtype: { kind: "utf32", size: 20, endian: "little" } },
    make: (count, dice) => Array.from({ length: count }, () => dice.of(["", "a", "b", "äö"])),
  },
];

function columns(dice: Dice, count: number): Column[] {
  return Array.from({ length: dice.below(4) }, (_, i) => {
    const { info, make } = dice.of(KINDS);
    const channels = dice.one(4) ? 1 + dice.below(3) : 1;
    return { info: { ...info, name: `a${i}`, channels }, values: make(count * channels, dice) };
  });
}
