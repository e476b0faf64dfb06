/** A selection as a picture: batch by batch onto a frame, then a scale bar and a legend. */
import { loadDeflate } from "../codec/deflate.js";
import { pngOf } from "../codec/png.js";
import { InvalidInput } from "../errors.js";
import type { ReadOptions } from "../model/dataset.js";
import type { Query, Selection, VectorDataset } from "../model/vectors.js";
import { type Bounds, fitted, lensOf, viewOf } from "../scene/camera.js";
import { type Colouring, coloured, colouringOf, isCategorical, Legend, plain } from "../scene/colouring.js";
import { attributesOf, radiiOf, radiusOf } from "../scene/dress.js";
import { levelledFor } from "../scene/level.js";
import { type Outline, outlined, outlineOf } from "../scene/outline.js";
import { ABSENT, kindStepsOf, paletteNamed, paletteOn, stepsOf } from "../scene/palette.js";
import { axesOfSpace, boundsIn, formOf, shapeOf } from "../scene/shape.js";
import { FINE, Frame, type Picture } from "./frame.js";
import { drawLegend, drawScaleBar } from "./furniture.js";
import { drawLines, drawPoints } from "./marks.js";
import { drawTriangles } from "./triangles.js";

/** How a picture shall look. */
export interface RenderOptions extends ReadOptions {
  /** In pixels: 1024 × 768 unless told. */
  readonly width?: number | undefined;
  readonly height?: number | undefined;
  /** "front", "back", "left", "right", "top", "bottom", or degrees: "30,20" unless told, and "top" of what is flat. */
  readonly view?: string | undefined;
  /** On: what is near is larger. Off: lengths are the same everywhere, and there is a scale bar. */
  readonly perspective?: boolean | undefined;
  /** "#ff8800", "orientation", "object" or an attribute; of lines their orientation, unless told. */
  readonly color?: string | undefined;
  /** For numbers: viridis unless told. */
  readonly palette?: string | undefined;
  /** The values at the ends of the palette; what the drawn data have, unless told. */
  readonly range?: readonly [number, number] | undefined;
  /** The diameter of points and the width of lines, in pixels: 2 unless told. */
  readonly mark?: number | undefined;
  /** "#10151c", nearly black, unless told. */
  readonly background?: number | undefined;
  /** Off: the data alone, without scale bar and legend. */
  readonly furniture?: boolean | undefined;
}

/** A picture, and of what it is. */
export interface Rendered extends Picture {
  readonly level: number;
  readonly vertices: number;
}

const BACKGROUND = 0x10151c;
const LARGEST = 16384; // pixels along a side
/** Vertices of which a picture is drawn, where there is a level with so few. */
const ENOUGH = 2_000_000;

/** Draws what a query selects, without a browser: points, lines and surfaces, with a scale bar and a legend. */
export async function render(
  dataset: VectorDataset,
  query: Query = {},
  options: RenderOptions = {},
): Promise<Rendered> {
  const { width = 1024, height = 768, mark = 2, background = BACKGROUND, perspective = false } = options;
  for (const side of [width, height])
    if (!(Number.isInteger(side) && side >= 1 && side <= LARGEST))
      throw new InvalidInput(`a side of a picture should be 1 to ${LARGEST} pixels, found ${side}`);
  const steps = stepsOf(paletteOn(paletteNamed(options.palette ?? "viridis"), background));
  const axes = axesOfSpace(dataset.axes);
  const [azimuth, elevation] = viewOf(options.view ?? (axes.length < 3 ? "top" : "30,20"));
  const outline = query.geometry === undefined ? outlineOf(dataset) : undefined;
  // Cut would be the line that a box is given as.
  const whole = outline === undefined ? query : { ...query, clip: undefined };
  const selection = await levelledFor(dataset, whole, ENOUGH, options);
  const level = await selection.level(options);
  const schema = await dataset.schema(level, options);
  const geometry = query.geometry ?? dataset.geometries[0] ?? "points";
  const isPath = formOf(geometry) === "lines" && outline === undefined;
  const fallback: Colouring = isPath ? { by: "orientation" } : plain;
  const colouring = options.color === undefined ? fallback : colouringOf(options.color, schema);
  const bounds = await boundsOf(selection, query, axes, outline, options);
  const camera = fitted(bounds, azimuth, elevation, width / height, perspective);
  const lens = lensOf(camera, width * FINE, height * FINE);
  const radius = radiusOf(geometry, schema.vertex, dataset.axes);
  const attributes = attributesOf({ colouring, radius, outline });

  const frame = Frame.of(width, height);
  const legend = Legend.empty();
  const kinds = isCategorical(colouring) ? kindStepsOf() : undefined;
  let [vertices, direct] = [0, true];
  for await (const batch of selection.batches({ ...options, attributes })) {
    const drawn = outlined(batch, axes, outline);
    const shape = shapeOf(drawn, axes, camera.target);
    const painted = coloured(drawn, shape, colouring, legend);
    direct = painted.direct || kinds !== undefined;
    const values = kinds === undefined ? painted.values : painted.values.map((kind) => kinds[kind] ?? ABSENT);
    const sizes = { mark: mark * FINE, radius: radiiOf(batch, radius) };
    if (shape.form === "points") drawPoints(frame, lens, shape, values, sizes);
    else if (shape.form === "lines") drawLines(frame, lens, shape, values, sizes, direct);
    else drawTriangles(frame, lens, shape, values, direct);
    if (batch.repeats !== true) vertices += batch.positions.length / batch.dims;
  }
  const [low, high] = options.range ?? [legend.low, legend.high];
  const picture = Frame.picture(frame, { direct, steps, low, high, background });
  if (options.furniture !== false) {
    if (!perspective) drawScaleBar(picture, lens.scale / FINE, dataset.axes[axes[0]!]?.unit, background);
    const colours = kinds && new Map([...legend.kinds].map(([kind, number]) => [kind, kinds[number]!]));
    if (colouring.by === "attribute" && (!direct || legend.kinds.size > 0))
      drawLegend(picture, colouring.info, colours ?? { steps, low, high }, background);
  }
  return { ...picture, level, vertices };
}

/** A picture as the bytes of a PNG file. */
export async function encodePicture({ width, height, pixels }: Picture): Promise<Uint8Array> {
  return pngOf(pixels, { width, height, channels: 3, size: 1 }, 6, await loadDeflate());
}

/** What the picture is to show: the box asked for, all there is, or what a part of the data turns out to be. */
async function boundsOf(
  selection: Selection,
  { box, object, group, sphere, nearest, where, limit, clip }: Query,
  axes: readonly number[],
  outline: Outline | undefined,
  options: ReadOptions,
): Promise<Bounds> {
  if (box !== undefined && clip !== undefined) {
    const half = box.length / 2;
    const asked = boundsIn({ min: box.slice(0, half), max: box.slice(half) }, axes);
    if (asked !== undefined) return asked;
  }
  const all = boundsIn(selection.dataset.bounds, axes);
  const whole = [box, object, group, sphere, nearest, where, limit].every((part) => part === undefined);
  if (whole && all !== undefined && outline !== "ellipsoids") return all; // a format may give the box of their centres
  const [min, max] = [
    new Float64Array(3).fill(Number.POSITIVE_INFINITY),
    new Float64Array(3).fill(Number.NEGATIVE_INFINITY),
  ];
  const attributes = attributesOf({ colouring: plain, radius: undefined, outline });
  for await (const batch of selection.batches({ ...options, attributes })) {
    const { positions, dims } = outlined(batch, axes, outline);
    for (const [k, axis] of axes.entries())
      for (let at = axis; at < positions.length; at += dims) {
        if (positions[at]! < min[k]!) min[k] = positions[at]!;
        if (positions[at]! > max[k]!) max[k] = positions[at]!;
      }
  }
  for (let k = axes.length; k < 3; k++) [min[k], max[k]] = [0, 0];
  return boundsIn({ min: [...min], max: [...max] }, [0, 1, 2]) ?? all ?? { min: [0, 0, 0], max: [1, 1, 1] };
}
