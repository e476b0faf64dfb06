/**
 * A batch on its way in: checked, rounded to what is stored, and held to the policies. After this nothing in it can fail, so that
 * a batch is taken whole or not at all.
 */
import { halfToNumber, numberToHalf } from "../../../bytes/half.js";
import { bytesOf } from "../../../codec/numeric.js";
import { InvalidInput, Unsupported } from "../../../errors.js";
import type { Batch, Columns, Links, Positions } from "../../../model/vectors.js";
import { pickRows } from "../../../query/columns.js";
import type { Plan } from "./description.js";

/**
 * What a writer takes of a batch. Without `parts` all vertices are one; without `objects` they belong to the only id, or to none.
 * Where `fragments` have attributes, those of the store do not reach over their borders.
 */
export type BatchParts = Pick<Batch, "positions"> &
  Partial<
    Pick<Batch, "parts" | "objects" | "ids" | "links" | "fragments" | "vertexColumns" | "objectColumns" | "repeats">
  > & {
    /** It has no vertices of its own: ends of links are those of all batches before, counted from 0 as they came. */
    readonly late?: true | undefined;
  };

/** A batch that is right. */
export interface Rows {
  readonly count: number;
  /** Positions as they will be stored, as numbers and as bytes. */
  readonly positions: Positions;
  readonly stored: Uint8Array;
  readonly parts: Uint32Array;
  readonly objects: Int32Array;
  readonly ids: Batch["ids"];
  readonly links: Links | undefined;
  /** Only where they have attributes besides their owner. */
  readonly fragments: Batch["fragments"];
  readonly vertexColumns: Columns;
  readonly objectColumns: Columns;
  /** The vertices have come before; only the links are new. */
  readonly repeats: boolean;
  /** As in the batch. */
  readonly late?: true | undefined;
}

export type Dtype = NonNullable<Plan["dtype"]>;
export const dtypeSize = (dtype: Dtype): 2 | 4 | 8 => (({ float16: 2, float32: 4, float64: 8 }) as const)[dtype];

/** The smallest box around everything so far. */
export interface Extent {
  readonly min: Float64Array;
  readonly max: Float64Array;
}

/** How much was left out, because the policies say so. */
export interface Dropped {
  vertices: number;
  objects: number;
}

const none: Columns = new Map();

export function rowsOf(plan: Plan, dtype: Dtype, batch: BatchParts, extent: Extent, dropped: Dropped): Rows {
  const { dims, kind, geometry } = plan;
  const count = batch.positions.length / dims;
  const { parts = Uint32Array.of(0, count), ids = new BigInt64Array() } = batch;
  const objects = batch.objects ?? new Int32Array(parts.length - 1).fill(ids.length === 1 ? 0 : -1);
  const { links = undefined, vertexColumns = none, objectColumns = none } = batch;
  if (batch.repeats === true && geometry === "skeletons")
    throw new Unsupported("links between skeletons of different batches cannot be written: put these into one batch");
  if (!Number.isInteger(count) || parts[0] !== 0 || parts[parts.length - 1] !== count)
    throw new InvalidInput(
      `${batch.positions.length} numbers should be whole vertices of ${dims}, in parts from 0 to the last`,
    );
  if (objects.length !== parts.length - 1)
    throw new InvalidInput(`${parts.length - 1} parts should have as many objects, found ${objects.length}`);
  for (let p = 0; p < objects.length; p++) {
    if (parts[p]! > parts[p + 1]!)
      throw new InvalidInput(`the parts of a batch should ascend, found ${parts[p]} before ${parts[p + 1]}`);
    if (objects[p]! < -1 || objects[p]! >= ids.length)
      throw new InvalidInput(`part ${p} belongs to object ${objects[p]} of ${ids.length}`);
    if (geometry === "lines" && parts[p + 1]! - parts[p]! !== 2 && parts[p + 1]! > parts[p]!)
      throw new InvalidInput(`a line should have 2 vertices, found ${parts[p + 1]! - parts[p]!}`);
  }
  if (kind.path && plan.pieces !== "join") checkPieces(parts, objects, ids);
  if (links !== undefined) {
    if (kind.width === 0) throw new InvalidInput(`${geometry} have no links of their own, found ${links.ends.length}`);
    if (links.width !== plan.linkWidth || links.ends.length % links.width !== 0)
      throw new InvalidInput(`links should have ${plan.linkWidth} ends, found ${links.width}: say so in links.width`);
    for (let i = 0; batch.late !== true && i < links.ends.length; i++)
      if (links.ends[i]! >= count) throw new InvalidInput(`a link names vertex ${links.ends[i]} of ${count}`);
  }
  if (batch.late === true && (count > 0 || plan.links?.late !== true))
    throw new InvalidInput("a batch of late links should have no vertices, and the store be described with them");
  const repeats = batch.repeats === true;
  const whole = {
    count,
    ...round(batch.positions, dtype),
    parts,
    objects,
    ids,
    links,
    fragments: repeats ? undefined : fragmentsOf(plan, batch.fragments, count),
    vertexColumns,
    objectColumns,
    repeats,
    late: batch.late,
  };
  return withoutEmpty(plan, withPolicies(plan, dtype, whole, extent, dropped));
}

function fragmentsOf(
  { geometry, sharedFragments }: Plan,
  given: Batch["fragments"],
  count: number,
): Batch["fragments"] {
  if (given === undefined) return undefined;
  const { offsets } = given;
  const columns = new Map([...given.columns].filter(([name]) => name !== "object_id"));
  if (columns.size === 0) return undefined;
  if ((sharedFragments ?? false) !== false)
    throw new Unsupported(`fragments of ${geometry} that have attributes cannot be shared`);
  let ascend = offsets[0] === 0 && offsets[offsets.length - 1] === count;
  for (let f = 1; f < offsets.length; f++) if (offsets[f]! < offsets[f - 1]!) ascend = false;
  if (!ascend) throw new InvalidInput(`fragments should go from vertex 0 to ${count} in ascending order`);
  return { offsets, columns };
}

function checkPieces(parts: Uint32Array, objects: Int32Array, ids: Batch["ids"]): void {
  const seen = new Uint8Array(ids.length);
  for (let p = 0; p < objects.length; p++) {
    const object = objects[p]!;
    if (object < 0 || parts[p] === parts[p + 1]) continue;
    if (seen[object] === 1) throw inPieces(ids[object]!);
    seen[object] = 1;
  }
}

export const inPieces = (id: bigint): InvalidInput =>
  new InvalidInput(`the path ${id} has several pieces, and a store has one for each object`, {
    hint: 'Give each piece an id of its own; in programs, pieces "join" makes one path of them.',
  });

/** To the values that will be stored. */
function round(positions: Positions, dtype: Dtype): Pick<Rows, "positions" | "stored"> {
  if (dtype === "float16") {
    const halves = new Uint16Array(positions.length);
    const rounded = new Float32Array(positions.length);
    for (let i = 0; i < halves.length; i++) {
      halves[i] = numberToHalf(positions[i]!);
      rounded[i] = halfToNumber(halves[i]!);
    }
    return { positions: rounded, stored: bytesOf(halves) };
  }
  const Type = dtype === "float32" ? Float32Array : Float64Array;
  const rounded = positions instanceof Type ? positions : new Type(positions);
  return { positions: rounded, stored: bytesOf(rounded) };
}

function withPolicies(plan: Plan, dtype: Dtype, rows: Rows, extent: Extent, dropped: Dropped): Rows {
  const { dims, bounds, nonFinite = "raise", outside = "raise" } = plan;
  const grown = grow(rows, dims, extent);
  if (grown !== undefined && inside(grown, plan)) {
    extent.min.set(grown.min);
    extent.max.set(grown.max);
    return rows;
  }
  const bad = new Uint8Array(rows.count);
  let positions = rows.positions;
  let worst = 0;
  for (let at = 0; at < positions.length; at++) {
    const value = positions[at]!;
    const vertex = Math.floor(at / dims);
    const axis = at % dims;
    if (!Number.isFinite(value)) {
      if (nonFinite === "raise")
        throw new InvalidInput(
          `vertex ${vertex} of a batch has the coordinate ${value} along ${plan.axes[axis]!.name} in ${dtype}`,
          {
            hint: 'Keep a wider type (--dtype); in programs, nonFinite "drop" leaves such vertices out.',
          },
        );
      bad[vertex] = 1;
      worst = 1;
    } else if (bounds !== undefined && !(value >= bounds.min[axis]! && value <= bounds.max[axis]!)) {
      if (outside === "raise")
        throw new InvalidInput(
          `vertex ${vertex} of a batch is at ${value} along ${plan.axes[axis]!.name}, the bounds are ${bounds.min[axis]} to ${bounds.max[axis]}`,
          { hint: 'In programs, outside "clamp", "expand" or "drop" says what should happen to it.' },
        );
      if (outside === "drop") {
        bad[vertex] = 1;
        worst = 1;
      } else if (outside === "clamp") {
        if (positions === rows.positions) positions = positions.slice();
        positions[at] = value < bounds.min[axis]! ? bounds.min[axis]! : bounds.max[axis]!;
      }
    }
  }
  const clamped = positions === rows.positions ? rows : { ...rows, ...round(positions, dtype) };
  const kept = worst === 0 ? clamped : without(clamped, bad, plan, dropped);
  const final = grow(kept, dims, extent)!;
  extent.min.set(final.min);
  extent.max.set(final.max);
  return kept;
}

const BLOCK = 2048; // vertices that stay in the processor's memory while their axes are looked at one by one

/** The extent with these vertices; undefined where one is not finite. */
function grow({ positions, count }: Rows, dims: number, extent: Extent): Extent | undefined {
  const [min, max] = [extent.min.slice(), extent.max.slice()];
  let sum = 0; // of zeros, unless a coordinate is not finite
  for (let from = 0; from < count; from += BLOCK)
    for (let axis = 0, end = Math.min(count, from + BLOCK) * dims; axis < dims; axis++) {
      let low = min[axis]!;
      let high = max[axis]!;
      for (let at = from * dims + axis; at < end; at += dims) {
        const value = positions[at]!;
        if (value < low) low = value;
        if (value > high) high = value;
        sum += value - value;
      }
      min[axis] = low;
      max[axis] = high;
    }
  return sum === 0 ? { min, max } : undefined;
}

const inside = ({ min, max }: Extent, { bounds, outside }: Plan): boolean =>
  bounds === undefined ||
  outside === "expand" ||
  (bounds.min.every((low, axis) => low <= min[axis]!) && bounds.max.every((high, axis) => high >= max[axis]!));

/** Without the bad vertices: of points these, of everything else the objects, or parts without one, that have them. */
function without(rows: Rows, bad: Uint8Array, { dims, geometry }: Plan, dropped: Dropped): Rows {
  const { parts, objects, ids } = rows;
  const byPart = geometry !== "points";
  const badObjects = new Uint8Array(ids.length);
  const badParts = new Uint8Array(objects.length);
  for (let p = 0; byPart && p < objects.length; p++) {
    if (!bad.subarray(parts[p], parts[p + 1]).includes(1)) continue;
    if (objects[p]! < 0) badParts[p] = 1;
    else badObjects[objects[p]!] = 1;
  }
  const keep: number[] = [];
  const keptParts = [0];
  const owners: number[] = [];
  const idRows = Array.from(ids.keys()).filter((row) => badObjects[row] === 0);
  const newRow = new Int32Array(ids.length);
  for (const [row, old] of idRows.entries()) newRow[old] = row;
  for (let p = 0; p < objects.length; p++) {
    const object = objects[p]!;
    if (badParts[p] === 1 || (object >= 0 && badObjects[object] === 1)) continue;
    for (let v = parts[p]!; v < parts[p + 1]!; v++) if (byPart || bad[v] === 0) keep.push(v);
    keptParts.push(keep.length);
    owners.push(object < 0 ? -1 : newRow[object]!);
  }
  dropped.vertices += rows.count - keep.length;
  dropped.objects += ids.length - idRows.length;
  const place = new Int32Array(rows.count).fill(-1);
  for (const [to, from] of keep.entries()) place[from] = to;
  const size = rows.stored.length / Math.max(1, rows.count);
  const stored = new Uint8Array(keep.length * size);
  const positions = rows.positions.slice(0, keep.length * dims);
  for (const [to, from] of keep.entries()) {
    stored.set(rows.stored.subarray(from * size, (from + 1) * size), to * size);
    for (let axis = 0; axis < dims; axis++) positions[to * dims + axis] = rows.positions[from * dims + axis]!;
  }
  return {
    count: keep.length,
    positions,
    stored,
    parts: Uint32Array.from(keptParts),
    objects: Int32Array.from(owners),
    ids: pickIds(ids, idRows),
    links: rows.links && keptLinks(rows.links, place),
    fragments: rows.fragments && {
      ...rows.fragments,
      offsets: rows.fragments.offsets.map((end) => keptBefore(keep, end)),
    },
    vertexColumns: pickRows(rows.vertexColumns, keep),
    objectColumns: pickRows(rows.objectColumns, idRows),
    repeats: rows.repeats,
  };
}

/** How many of these ascending numbers are below one. */
function keptBefore(keep: readonly number[], end: number): number {
  let [low, high] = [0, keep.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (keep[middle]! < end) low = middle + 1;
    else high = middle;
  }
  return low;
}

function keptLinks({ width, ends, columns }: Links, place: Int32Array): Links {
  const kept: number[] = [];
  for (let l = 0; l < ends.length / width; l++)
    if (ends.subarray(l * width, (l + 1) * width).every((end) => place[end]! >= 0)) kept.push(l);
  const moved = kept.flatMap((l) => Array.from(ends.subarray(l * width, (l + 1) * width), (end) => place[end]!));
  return { width, ends: Uint32Array.from(moved), columns: pickRows(columns, kept) };
}

const pickIds = (ids: Batch["ids"], rows: readonly number[]): Batch["ids"] =>
  ids instanceof BigUint64Array
    ? BigUint64Array.from(rows, (row) => ids[row]!)
    : BigInt64Array.from(rows, (row) => ids[row]!);

/** Objects without vertices in this batch, as the policy has it. */
function withoutEmpty({ emptyObjects = "keep" }: Plan, rows: Rows): Rows {
  const { parts, objects, ids } = rows;
  if (emptyObjects === "keep" || ids.length === 0) return rows;
  const sizes = new Uint32Array(ids.length);
  for (let p = 0; p < objects.length; p++) if (objects[p]! >= 0) sizes[objects[p]!]! += parts[p + 1]! - parts[p]!;
  const empty = sizes.indexOf(0);
  if (empty < 0) return rows;
  if (emptyObjects === "raise") throw new InvalidInput(`the object ${ids[empty]} has no vertices`);
  const kept = Array.from(ids.keys()).filter((row) => sizes[row]! > 0);
  const newRow = new Int32Array(ids.length).fill(-1);
  for (const [row, old] of kept.entries()) newRow[old] = row;
  return {
    ...rows,
    ids: pickIds(ids, kept),
    objects: objects.map((object) => (object < 0 ? -1 : newRow[object]!)),
    objectColumns: pickRows(rows.objectColumns, kept),
  };
}
