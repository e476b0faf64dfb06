/**
 * Which level and which chunks of it a view needs. A picture has use for about one vertex per six pixels: that is the budget of a
 * view. It gets the finest level of which the middle of the picture keeps to the budget, the nearest chunks first as far as it
 * goes, and none that is finer than a pixel can show; around them the coarse level of the first picture is seen. How many vertices
 * a chunk has is estimated without asking: the share of the coarse level's vertices that lie in it is that of the finer ones.
 */
import type { LevelOutline } from "../../model/vectors.js";
import type { Bounds, Vector } from "../../scene/camera.js";
import type { Piece } from "./piece.js";
import { type Sight, sees } from "./view.js";

/** What of a level is known to the plan. */
export interface PlannedLevel {
  readonly level: number;
  readonly vertices: number;
  /** How far from the truth it may be. */
  readonly error: number;
}

/** Boxes of chunks: 6 numbers each, low corner first, relative to `origin`. */
export interface Boxes {
  readonly count: number;
  readonly boxes: Float64Array;
}

/** Vertices to estimate by: three numbers each. */
export type Sample = Float64Array;

export const BUDGET = 1 / 6; // vertices per pixel
/** The middle of a picture: chunks so near to the target, as a share of the height that is seen. */
const MIDDLE = 1 / 4;

/** Levels from the coarsest to the finest. Level 0 is exact, but its bins may be as large as its chunks: it is finer than the next. */
export function plannedLevels(levels: readonly LevelOutline[], axes: readonly number[]): PlannedLevel[] {
  const coarseFirst = [...levels].sort((a, b) => b.level - a.level);
  const planned: PlannedLevel[] = [];
  for (const { level, vertices = 0, binShape } of coarseFirst) {
    const bin = Math.max(0, ...axes.map((axis) => binShape[axis] ?? 0));
    const error = Math.min(bin, (planned.at(-1)?.error ?? Number.POSITIVE_INFINITY) / 2);
    planned.push({ level, vertices, error });
  }
  return planned;
}

const FIRST = 80_000; // vertices that a first picture may have: about a megabyte, and what `pyramid` ends with

/** The level of the first picture: the finest of few vertices, or the coarsest. */
export function firstLevel(levels: readonly PlannedLevel[], budget: number): PlannedLevel {
  return levels.findLast(({ vertices }) => vertices <= Math.min(FIRST, budget)) ?? levels[0]!;
}

const SAMPLED = 4096;

/** Some vertices of what is there, evenly. */
export function sampleOf(pieces: readonly Piece[]): Sample {
  const total = pieces.reduce((sum, { objects }) => sum + objects.length, 0);
  const every = Math.max(1, Math.floor(total / SAMPLED));
  const out: number[] = [];
  let next = 0;
  for (const { positions, origin, objects } of pieces) {
    for (; next < objects.length; next += every)
      for (let k = 0; k < 3; k++) out.push(positions[3 * next + k]! + origin[k]!);
    next -= objects.length;
  }
  return Float64Array.from(out);
}

/** The chunks of a level that a view sees, nearest to its target first, and how far they are. */
export function chunksSeen(sight: Sight, { count, boxes }: Boxes): { readonly chunk: number; readonly far: number }[] {
  const { target } = sight.lens.camera;
  const seen: { chunk: number; far: number }[] = [];
  for (let chunk = 0; chunk < count; chunk++) {
    const box = boxAt(boxes, chunk);
    if (!sees(sight, box)) continue;
    const far = [0, 1, 2].map((k) => Math.max(box.min[k]! - target[k]!, 0, target[k]! - box.max[k]!));
    seen.push({ chunk, far: Math.hypot(...far) });
  }
  return seen.sort((a, b) => a.far - b.far || a.chunk - b.chunk);
}

const boxAt = (boxes: Float64Array, chunk: number): Bounds => ({
  min: [...boxes.subarray(6 * chunk, 6 * chunk + 3)] as unknown as Vector,
  max: [...boxes.subarray(6 * chunk + 3, 6 * chunk + 6)] as unknown as Vector,
});

const COUNTED = 512; // chunks that are estimated one by one

/** The share of all vertices that each of these chunks has, about. */
function sharesOf(chunks: readonly number[], { count, boxes }: Boxes, sample: Sample): Float64Array {
  const shares = new Float64Array(chunks.length).fill(1 / Math.max(1, count));
  if (sample.length === 0) return shares;
  const some = Math.min(COUNTED, chunks.length);
  shares.fill(0, 0, some);
  for (let at = 0; at < sample.length; at += 3) {
    const [x, y, z] = [sample[at]!, sample[at + 1]!, sample[at + 2]!];
    for (let i = 0; i < some; i++) {
      const b = 6 * chunks[i]!;
      if (x < boxes[b]! || x > boxes[b + 3]! || y < boxes[b + 1]! || y > boxes[b + 4]!) continue;
      if (z < boxes[b + 2]! || z > boxes[b + 5]!) continue;
      shares[i]! += 3 / sample.length;
      break;
    }
  }
  return shares;
}

/** What a view reads. */
export interface Chosen {
  readonly level: number;
  readonly chunks: readonly number[];
}

/**
 * The level for a view: from the one of the first picture towards the finest, as long as it shows more and its middle keeps to the
 * budget. `boxesOf` may be a request: it is asked only of levels that can fit.
 */
export async function levelFor(
  sight: Sight,
  levels: readonly PlannedLevel[],
  first: PlannedLevel,
  sample: Sample,
  budget: number,
  boxesOf: (level: number) => Promise<Boxes>,
): Promise<Chosen | undefined> {
  const middle = sight.lens.camera.span * MIDDLE;
  const inMiddle = shareWithin(sample, sight.lens.camera.target, middle);
  let chosen: Chosen | undefined;
  let error = first.error;
  for (const { level, vertices, error: own } of levels.slice(levels.indexOf(first) + 1)) {
    if (error * sight.lens.scale <= 1 || vertices * inMiddle > budget) break;
    const boxes = await boxesOf(level);
    const seen = chunksSeen(sight, boxes);
    const shares = sharesOf(
      seen.map(({ chunk }) => chunk),
      boxes,
      sample,
    );
    let [left, fit] = [budget, 0];
    for (; fit < seen.length; fit++) {
      left -= vertices * shares[fit]!;
      if (left < 0) break;
    }
    if (fit < seen.length && seen[fit]!.far <= middle) break;
    chosen = { level, chunks: seen.slice(0, fit).map(({ chunk }) => chunk) };
    error = own;
  }
  return chosen;
}

/** The share of a sample that lies in a box. */
export function shareIn(sample: Sample, { min, max }: Bounds): number {
  let inside = 0;
  for (let at = 0; at < sample.length; at += 3)
    if ([0, 1, 2].every((k) => sample[at + k]! >= min[k]! && sample[at + k]! <= max[k]!)) inside++;
  return sample.length === 0 ? 1 : (3 * inside) / sample.length;
}

function shareWithin(sample: Sample, [x, y, z]: Vector, radius: number): number {
  let inside = 0;
  for (let at = 0; at < sample.length; at += 3)
    if (Math.hypot(sample[at]! - x, sample[at + 1]! - y, sample[at + 2]! - z) <= radius) inside++;
  return sample.length === 0 ? 1 : (3 * inside) / sample.length;
}
