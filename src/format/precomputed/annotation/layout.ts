/**
 * Where the values of properties lie in the record of an annotation, after its geometry: those of 4 bytes first, then those of
 * 2, then those of 1 (rgb and rgba are bytes), each in the order of the info; zeros up to a multiple of 4.
 *
 * Neuroglancer's Python writer up to 2.41.2 takes the alignment of uint32 for 3: it sorts uint32 after the other properties of 4
 * bytes, and puts zeros before one that does not begin at a multiple of 3. Its own reader undoes it; everybody else reads
 * wrong values. `Layout.defect` is that layout; defect.ts tells from the bytes which of the two they have.
 */
import type { FixedDataType } from "../../../bytes/dtype.js";
import { numberDtype } from "../info.js";
import { type AnnotationProperty, type AnnotationType, channelsOf, type PropertyType } from "./info.js";

/** A property, and its first byte after the geometry. */
export interface PlacedProperty {
  readonly property: AnnotationProperty;
  readonly offset: number;
  readonly dtype: FixedDataType;
  readonly channels: number;
}

/** The part of a record that follows the geometry. */
export interface Layout {
  /** As the info lists them. */
  readonly properties: readonly PlacedProperty[];
  /** With the zeros at the end. */
  readonly size: number;
  /** The bytes that are zero in every record. */
  readonly padding: readonly number[];
}

/** Points per annotation as they are stored; undefined where each says so itself. */
export const pointsPer = (type: AnnotationType): number | undefined =>
  type === "polyline" ? undefined : type === "point" ? 1 : 2;

export const Layout = {
  of: (properties: readonly AnnotationProperty[]): Layout => place(properties, unitOf),

  /** As the Python writer lays them out; undefined where that comes to the same, or its info would look different. */
  defect(properties: readonly AnnotationProperty[], sound: Layout): Layout | undefined {
    const order = properties.map(({ type }) => flawedUnit(type));
    // That writer lists properties in the order in which it stores them.
    if (order.some((unit, i) => i > 0 && unit > order[i - 1]!)) return undefined;
    const flawed = place(properties, flawedUnit);
    return flawed.properties.every(({ offset }, i) => offset === sound.properties[i]!.offset) ? undefined : flawed;
  },

  /** The order in which to list properties, so that readers find them that take the order of the info for that of the bytes. */
  sorted: (properties: readonly AnnotationProperty[]): AnnotationProperty[] =>
    [...properties].sort((a, b) => unitOf(b.type) - unitOf(a.type)),
};

export const dtypeOf = (type: PropertyType): FixedDataType =>
  type === "bool" ? { kind: "bool", size: 1 } : numberDtype(type === "rgb" || type === "rgba" ? "uint8" : type);

const unitOf = (type: PropertyType): number => dtypeOf(type).size;
const flawedUnit = (type: PropertyType): number => (type === "uint32" ? 3 : unitOf(type));

function place(properties: readonly AnnotationProperty[], unit: (type: PropertyType) => number): Layout {
  const placed = new Map<AnnotationProperty, PlacedProperty>();
  const padding: number[] = [];
  let offset = 0;
  const pad = (to: number): void => {
    while (offset % to !== 0) padding.push(offset++);
  };
  for (const property of [...properties].sort((a, b) => unit(b.type) - unit(a.type))) {
    const [dtype, channels] = [dtypeOf(property.type), channelsOf(property.type)];
    pad(unit(property.type));
    placed.set(property, { property, offset, dtype, channels });
    offset += dtype.size * channels;
  }
  pad(4);
  return { properties: properties.map((property) => placed.get(property)!), size: offset, padding };
}
