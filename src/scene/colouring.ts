/**
 * Which colour a vertex has, and what a legend says of it. What is said as text, on the command line and in addresses of the viewer:
 *
 * | text                          | colour                                                              |
 * |-------------------------------|---------------------------------------------------------------------|
 * | "#ff8800", "orange"           | this one                                                            |
 * | "orientation"                 | red, green and blue are how much the line or normal is along x, y, z |
 * | "object"                      | one for each object                                                 |
 * | "fa", "vertex.fa", "object.n" | the value of an attribute, on a palette or as a kind of thing       |
 *
 * Values become one float32 per vertex: a number that a palette shows, the number of a kind of thing, or (`direct`) a colour
 * 0xRRGGBB, which a float32 holds.
 */
import { halfToNumber } from "../bytes/half.js";
import { InvalidInput } from "../errors.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import type { Batch, Domain, Schema } from "../model/vectors.js";
import { ABSENT, colourNamed, colourOfId, KINDS, PLAIN } from "./palette.js";
import { directionsOf, type Shape } from "./shape.js";

/** By what vertices are coloured. */
export type Colouring =
  | { readonly by: "constant"; readonly colour: number }
  | { readonly by: "orientation" }
  | { readonly by: "object" }
  | { readonly by: "attribute"; readonly domain: ColouredDomain; readonly info: AttributeInfo };

/** What vertices can have their colour from. */
export type ColouredDomain = Extract<Domain, "vertex" | "object">;

export const plain: Colouring = { by: "constant", colour: PLAIN };

/** What a text stands for; InvalidInput with the names there are, where it is nothing. */
export function colouringOf(text: string, schema: Schema): Colouring {
  if (text === "orientation" || text === "object") return { by: text };
  const colour = colourNamed(text);
  if (colour !== undefined) return { by: "constant", colour };
  for (const domain of ["vertex", "object"] as const) {
    const name = text.startsWith(`${domain}.`) ? text.slice(domain.length + 1) : text;
    const info = schema[domain].find((own) => own.name === name);
    if (info !== undefined) return { by: "attribute", domain, info };
  }
  const names = (["vertex", "object"] as const).flatMap((domain) =>
    schema[domain].map(({ name }) => `${domain}.${name}`),
  );
  throw new InvalidInput(
    `there is no attribute ${JSON.stringify(text)} to colour by; there are: ${names.join(", ") || "none"}`,
    { hint: "a colour is #rrggbb, orientation, object or an attribute" },
  );
}

/** The attributes that must be read for it, as `select` names them. */
export const attributesFor = (colouring: Colouring): string[] =>
  colouring.by === "attribute" ? [`${colouring.domain}.${colouring.info.name}`] : [];

/** Whether values are kinds of things, each with a colour of its own, not numbers. */
export const isCategorical = (colouring: Colouring): boolean =>
  colouring.by === "attribute" &&
  (colouring.info.categories !== undefined || ["string", "utf32", "bytes", "bool"].includes(colouring.info.dtype.kind));

/** A float32 for each vertex, and what a legend needs. */
export interface Coloured {
  readonly values: Float32Array;
  /** The values are colours. */
  readonly direct: boolean;
}

/** What was met so far: numbers widen the range, kinds are numbered in the order in which they come. */
export interface Legend {
  low: number;
  high: number;
  readonly kinds: Map<string, number>;
}

export const Legend = {
  empty: (): Legend => ({ low: Number.POSITIVE_INFINITY, high: Number.NEGATIVE_INFINITY, kinds: new Map() }),

  /** The number of a kind of thing. */
  kind(legend: Legend, name: string): number {
    const known = legend.kinds.get(name);
    if (known !== undefined) return known;
    const number = legend.kinds.size % KINDS;
    if (legend.kinds.size < 4096) legend.kinds.set(name, number);
    return number;
  },
};

export function coloured(
  batch: Pick<Batch, "vertexColumns" | "objectColumns">,
  shape: Shape,
  colouring: Colouring,
  legend: Legend,
): Coloured {
  const count = shape.positions.length / 3;
  if (colouring.by === "constant") return { values: new Float32Array(count).fill(colouring.colour), direct: true };
  if (colouring.by === "orientation") return { values: orientations(shape), direct: true };
  if (colouring.by === "object") return { values: byObject(shape), direct: true };
  const { domain, info } = colouring;
  const column = (domain === "vertex" ? batch.vertexColumns : batch.objectColumns).get(info.name);
  const rows = domain === "vertex" ? undefined : shape.objects;
  if (isCategorical(colouring)) return { values: kinds(column, rows, count, legend), direct: false };
  const values = numbers(column, rows, count);
  for (let v = 0; v < count; v++) {
    const value = values[v]!;
    if (value < legend.low) legend.low = value;
    if (value > legend.high) legend.high = value;
  }
  return { values, direct: false };
}

function orientations(shape: Shape): Float32Array {
  const directions = directionsOf(shape);
  const values = new Float32Array(directions.length / 3);
  for (let v = 0; v < values.length; v++) {
    const [x, y, z] = [directions[3 * v]!, directions[3 * v + 1]!, directions[3 * v + 2]!];
    const none = x === 0 && y === 0 && z === 0;
    const part = (along: number): number => Math.round(255 * Math.min(1, Math.abs(along)));
    values[v] = none ? ABSENT : (part(x) << 16) | (part(y) << 8) | part(z);
  }
  return values;
}

function byObject({ objects, ids }: Shape): Float32Array {
  const colours = Float32Array.from({ length: ids.length }, (_, row) => colourOfId(ids[row]!));
  const values = new Float32Array(objects.length);
  for (let v = 0; v < values.length; v++) values[v] = objects[v]! < 0 ? ABSENT : colours[objects[v]!]!;
  return values;
}

function kinds(column: Column | undefined, rows: Int32Array | undefined, count: number, legend: Legend): Float32Array {
  const values = new Float32Array(count).fill(Number.NaN);
  if (column === undefined) return values;
  const { channels, categories } = column.info;
  for (let v = 0; v < count; v++) {
    const row = rows === undefined ? v : rows[v]!;
    const value = row < 0 ? undefined : column.values[row * channels];
    if (value === undefined || value === column.info.absent) continue;
    values[v] = Legend.kind(legend, categories?.[Number(value)] ?? String(value));
  }
  return values;
}

/** The first channel as numbers; NaN where a value is absent. */
export function numbers(column: Column | undefined, rows: Int32Array | undefined, count: number): Float32Array {
  const values = new Float32Array(count).fill(Number.NaN);
  if (column === undefined) return values;
  const { channels, absent, dtype } = column.info;
  const half = dtype.kind === "float" && dtype.size === 2;
  for (let v = 0; v < count; v++) {
    const row = rows === undefined ? v : rows[v]!;
    const value = row < 0 ? undefined : column.values[row * channels];
    if (value === undefined || value === absent) continue;
    values[v] = half ? halfToNumber(value as number) : Number(value);
  }
  return values;
}
