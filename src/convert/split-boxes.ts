/**
 * A grid of boxes: box i along an axis goes from i · size up to, but not including, (i + 1) · size. An object is in the box of its
 * first vertex, and whole; a point without an object in its own; with `clip`, everything is cut at the faces.
 */
import { InvalidInput } from "../errors.js";
import type { LevelSource } from "../model/source.js";
import type { Batch, VectorDataset } from "../model/vectors.js";
import type { SplitOptions } from "./split.js";
import type { Found, Part } from "./split-plan.js";

const MOST = 1e6; // boxes that one segment or face may touch

export async function boxesOf(
  dataset: VectorDataset,
  source: LevelSource,
  { size, clip = false, signal, limits }: SplitOptions,
): Promise<Found | readonly Part[]> {
  const { dims } = source;
  const { url } = dataset;
  if (size === undefined || size.length !== dims || !size.every((side) => side > 0 && Number.isFinite(side)))
    throw new InvalidInput(
      `boxes for ${url} need a size of ${dims} numbers above 0, found ${size?.join(",") ?? "none"}`,
    );
  const isPoints = source.geometry === "points";
  if (source.objects === undefined && !isPoints && !clip)
    throw new InvalidInput(`${url} has no objects that could be in one box: they must be cut`, {
      hint: "Add clip (--clip).",
    });
  const byVertex = clip || source.objects === undefined;
  const objects = new Map<string, bigint[]>();
  const cells = new Map<string, readonly number[]>();
  const touched = byVertex && !isPoints ? touching(size, cells) : undefined;
  let placed = 0;
  for await (const batch of dataset.select({ level: 0 }).batches({ signal, limits, attributes: [] })) {
    const { positions, parts } = batch;
    const cellAt = (vertex: number) => size.map((side, axis) => cellOf(positions[vertex * dims + axis]!, side));
    if (touched !== undefined) touched(batch);
    else if (byVertex) for (let vertex = 0; vertex < positions.length / dims; vertex++) put(cells, cellAt(vertex));
    else if (batch.repeats !== true) {
      const isPlaced = new Uint8Array(batch.ids.length); // an object is in one batch, and its first part says where
      for (let part = 0; part < batch.objects.length; part++) {
        const row = batch.objects[part]!;
        if (row < 0 || parts[part] === parts[part + 1] || isPlaced[row]) continue;
        isPlaced[row] = 1;
        placed++;
        const name = nameOf(cellAt(parts[part]!));
        const own = objects.get(name);
        if (own === undefined) objects.set(name, [batch.ids[row]!]);
        else own.push(batch.ids[row]!);
      }
    }
  }
  if (!byVertex) {
    const bare = source.objects!.rows - placed;
    const losses = bare === 0 ? [] : [`${url}: ${bare} objects without vertices, which are in no box`];
    return { parts: new Map(inOrder(objects)), rest: "without object", losses };
  }
  return inOrder(cells).map(([name, cell]) => {
    const low = cell.map((i, axis) => i * size[axis]!);
    const high = cell.map((i, axis) => (isPoints ? before((i + 1) * size[axis]!) : (i + 1) * size[axis]!));
    return { name, selection: dataset.select({ level: 0, box: [...low, ...high], clip }), isCut: clip };
  });
}

const { compare: collate } = new Intl.Collator("en", { numeric: true });
const inOrder = <T>(named: ReadonlyMap<string, T>): [string, T][] => [...named].sort(([a], [b]) => collate(a, b));
const nameOf = (cell: readonly number[]): string => `box ${cell.join(" ")}`;

function put(cells: Map<string, readonly number[]>, cell: readonly number[]): void {
  const name = nameOf(cell);
  if (!cells.has(name)) cells.set(name, cell);
}

/** Which box along an axis, by the very faces that are asked for later: a quotient may be rounded to the wrong side of one. */
function cellOf(x: number, side: number): number {
  let cell = Math.floor(x / side);
  if (!Number.isSafeInteger(cell)) throw new InvalidInput(`there is no box of ${side} for the coordinate ${x}`);
  while (x < cell * side) cell--;
  while (x >= (cell + 1) * side) cell++;
  return cell;
}

/** The largest number below. */
function before(x: number): number {
  if (x === 0) return -Number.MIN_VALUE;
  const bits = new BigInt64Array(new Float64Array([x]).buffer);
  bits[0] = bits[0]! + (x > 0 ? -1n : 1n);
  return new Float64Array(bits.buffer)[0]!;
}

/** Puts the boxes that the vertices, segments and faces of a batch may touch: those of the corners of each, and what is between. */
function touching(size: readonly number[], cells: Map<string, readonly number[]>): (batch: Batch) => void {
  return ({ positions, dims, parts, links }) => {
    const span = (vertices: ArrayLike<number>): void => {
      const along = size.map((side, axis) => {
        const own = Array.from(vertices, (vertex) => cellOf(positions[vertex * dims + axis]!, side));
        return [Math.min(...own), Math.max(...own)] as const;
      });
      if (along.reduce((product, [low, high]) => product * (high - low + 1), 1) > MOST)
        throw new InvalidInput(`boxes of ${size.join(",")} are too small: one segment would touch more than ${MOST}`);
      const visit = (cell: readonly number[]): void => {
        const range = along[cell.length];
        if (range === undefined) put(cells, cell);
        else for (let i = range[0]; i <= range[1]; i++) visit([...cell, i]);
      };
      visit([]);
    };
    const { width, ends } = links ?? { width: 1, ends: new Uint32Array() };
    for (let at = 0; at < ends.length; at += width) span(ends.subarray(at, at + width));
    for (let part = 0; part + 1 < parts.length; part++)
      for (let vertex = parts[part]!; vertex < parts[part + 1]!; vertex++)
        span(links === undefined && vertex > parts[part]! ? [vertex - 1, vertex] : [vertex]);
  };
}
