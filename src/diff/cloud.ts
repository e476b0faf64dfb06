/**
 * Points without objects: rows of a position and attributes, of which only matters which there are. Where both come in the same
 * order, they are compared as they come. Else space is cut into boxes until what both have in one can be held; in each they are
 * sorted and held against each other.
 */
import { LimitExceeded } from "../errors.js";
import type { ReadOptions } from "../model/dataset.js";
import type { Batch, Columns, Query, VectorDataset } from "../model/vectors.js";
import { ColumnsBuilder } from "../query/columns.js";
import { type Comparing, compareRows } from "./objects.js";
import { apart, paired, sorted, type Vertices } from "./pairing.js";
import { Findings } from "./report.js";
import { rowText } from "./values.js";

export interface Cloud {
  readonly dataset: VectorDataset;
  readonly level: number;
  readonly scale: readonly number[];
}

export interface CloudOptions extends ReadOptions {
  /** Bytes that may be held. */
  readonly maxMemory: number;
}

const rowsOf = ({ dataset, level }: Cloud, query: Query, options: CloudOptions): AsyncIterable<Batch> =>
  dataset.select({ ...query, level, geometry: "points" }).batches({ signal: options.signal, limits: options.limits });

export async function compareClouds(a: Cloud, b: Cloud, how: Comparing, options: CloudOptions): Promise<void> {
  const same = await inStep(a, b, how, options);
  if (same !== undefined) {
    how.findings.compared.vertices += same;
    return;
  }
  const sizes = await Promise.all(
    [a, b].map(({ dataset, level }) =>
      dataset.select({ level, geometry: "points" }).count({ ...options, exact: true }),
    ),
  );
  how.findings.compared.vertices += sizes[0]!.vertices;
  await within(
    a,
    b,
    undefined,
    sizes.reduce((sum, { vertices }) => sum + vertices, 0),
    how,
    options,
  );
}

/** How many there are, where both come in the same order and nothing differs; else undefined. */
async function inStep(a: Cloud, b: Cloud, how: Comparing, options: CloudOptions): Promise<number | undefined> {
  const found = new Findings(0);
  const silent = { ...how, findings: found };
  let [count, from] = [0, 0];
  let furthest = 0;
  let other: Batch | undefined;
  const second = rowsOf(b, {}, options)[Symbol.asyncIterator]();
  try {
    for await (const batch of rowsOf(a, {}, options)) {
      for (let at = 0; at < batch.positions.length / batch.dims; ) {
        while (other === undefined || from === other.positions.length / other.dims) {
          const next = await second.next();
          if (next.done === true) return undefined;
          [other, from] = [next.value, 0];
        }
        const rows = Math.min(batch.positions.length / batch.dims - at, other.positions.length / other.dims - from);
        const start = from;
        const first = at;
        const [one, two] = [stretch(batch, first, rows, a), stretch(other, start, rows, b)];
        for (let row = 0; row < rows; row++) {
          const away = apart(one, row, two, row);
          if (!(away <= how.tolerance)) return undefined;
          if (away > furthest) furthest = away;
        }
        const pairs = Array.from({ length: rows }, (_, row) => [first + row, start + row] as const);
        compareRows(batch.vertexColumns, other.vertexColumns, "vertex", pairs, () => "", silent);
        if (found.counts.values !== undefined) return undefined;
        [at, from, count] = [at + rows, from + rows, count + rows];
      }
    }
    if (other !== undefined && from < other.positions.length / other.dims) return undefined;
    for (let next = await second.next(); next.done !== true; next = await second.next())
      if (next.value.positions.length > 0) return undefined;
    how.findings.furthest = Math.max(how.findings.furthest, furthest);
    for (const note of found.notes) how.findings.notes.add(note);
    return count;
  } finally {
    await second.return?.();
  }
}

const stretch = ({ positions }: Batch, first: number, rows: number, { scale }: Cloud): Vertices => ({
  positions: positions.subarray(first * scale.length, (first + rows) * scale.length),
  rows: Uint32Array.from({ length: rows }, (_, row) => row),
  scale,
});

/** min, then max; what lies on the upper faces belongs to the next box, except at the end of space. */
type Box = readonly number[];

const ROW = 64; // bytes that a point takes while it is sorted, besides its attributes

async function within(
  a: Cloud,
  b: Cloud,
  box: Box | undefined,
  rows: number,
  how: Comparing,
  options: CloudOptions,
): Promise<void> {
  if (rows === 0) return;
  if (rows * (ROW + 8 * how.names.vertex.length) > options.maxMemory) {
    const halves = await cut(a, b, box, rows, how, options);
    for (const [half, inside] of halves) await within(a, b, half, inside, how, options);
    return;
  }
  const [one, two] = [await gather(a, box, how, options), await gather(b, box, how, options)];
  holdAgainst(one, two, how);
}

/** Two boxes with fewer points each; LimitExceeded where no plane parts them. */
async function cut(
  a: Cloud,
  b: Cloud,
  box: Box | undefined,
  rows: number,
  how: Comparing,
  options: CloudOptions,
): Promise<readonly (readonly [Box, number])[]> {
  const tooMany = (): LimitExceeded =>
    new LimitExceeded(`${rows} points are too many to be sorted in ${options.maxMemory} bytes`, {
      hint: "Allow more memory, or compare with a tolerance of 0.",
    });
  const dims = a.scale.length;
  if (how.tolerance > 0 || [...a.scale, ...b.scale].some((scale) => scale !== 1)) throw tooMany();
  const around = box ?? (await hull(a, b, options));
  const sizes = Array.from({ length: dims }, (_, axis) => around[dims + axis]! - around[axis]!);
  const axis = sizes.indexOf(sizes.reduce((most, size) => Math.max(most, size)));
  const middle = around[axis]! + sizes[axis]! / 2;
  if (!(middle > around[axis]! && middle < around[dims + axis]!)) throw tooMany();
  const halves = [
    around.map((value, i) => (i === dims + axis ? middle : value)),
    around.map((value, i) => (i === axis ? middle : value)),
  ];
  const counts: [Box, number][] = [];
  for (const half of halves) {
    let count = 0;
    for (const cloud of [a, b])
      count += (
        await cloud.dataset
          .select({ level: cloud.level, geometry: "points", box: half })
          .count({ ...options, exact: true })
      ).vertices;
    counts.push([half, count]);
  }
  return counts;
}

async function hull(a: Cloud, b: Cloud, options: CloudOptions): Promise<Box> {
  const dims = a.scale.length;
  const box = Array.from({ length: 2 * dims }, (_, i) => (i < dims ? Infinity : -Infinity));
  for (const cloud of [a, b])
    for await (const { positions } of rowsOf(cloud, {}, options))
      for (let at = 0; at < positions.length; at++) {
        const axis = at % dims;
        box[axis] = Math.min(box[axis]!, positions[at]!);
        box[dims + axis] = Math.max(box[dims + axis]!, positions[at]!);
      }
  if (!box.every(Number.isFinite))
    throw new LimitExceeded(`points without a place, which cannot be sorted in ${options.maxMemory} bytes`);
  return box.map((value, i) => (i < dims ? value : value + Math.abs(value) * 2 ** -50 + Number.MIN_VALUE));
}

interface Gathered {
  readonly vertices: Vertices;
  readonly columns: Columns;
}

async function gather(cloud: Cloud, box: Box | undefined, how: Comparing, options: CloudOptions): Promise<Gathered> {
  const { scale } = cloud;
  const dims = scale.length;
  const pieces: { positions: Float64Array; rows: Uint32Array; batch: Batch }[] = [];
  let count = 0;
  for await (const batch of rowsOf(cloud, box === undefined ? {} : { box, clip: "vertices" }, options)) {
    const all = Uint32Array.from({ length: batch.positions.length / dims }, (_, row) => row);
    const rows = box === undefined ? all : all.filter((row) => isOf(batch, row, box));
    const positions = new Float64Array(rows.length * dims);
    for (let i = 0; i < rows.length; i++)
      for (let axis = 0; axis < dims; axis++) positions[i * dims + axis] = batch.positions[rows[i]! * dims + axis]!;
    pieces.push({ positions, rows, batch });
    count += rows.length;
  }
  const positions = new Float64Array(count * dims);
  const builder = new ColumnsBuilder(count);
  let at = 0;
  for (const { positions: own, rows, batch } of pieces) {
    positions.set(own, at * dims);
    const wanted = new Map([...batch.vertexColumns].filter(([name]) => how.names.vertex.includes(name)));
    const order = Uint32Array.from(rows, (_, i) => at + i);
    const from = new Uint32Array(count);
    from.set(rows, at);
    builder.scatter(wanted, { order, first: 0, last: order.length, from, offsets: undefined }, order.length);
    at += rows.length;
  }
  const vertices = { positions, rows: Uint32Array.from({ length: count }, (_, row) => row), scale };
  return { vertices, columns: builder.done() };
}

/** Points on upper faces are of the next box; that of all of space ends beyond the last point. */
function isOf({ positions, dims }: Batch, row: number, box: Box): boolean {
  for (let axis = 0; axis < dims; axis++) {
    const value = positions[row * dims + axis]!;
    if (!(value >= box[axis]! && value < box[dims + axis]!)) return false;
  }
  return true;
}

function holdAgainst(a: Gathered, b: Gathered, how: Comparing): void {
  const { findings, tolerance, names } = how;
  const textsOf = ({ columns }: Gathered) => {
    const texts = names.vertex.flatMap((name) => columns.get(name) ?? []).map(rowText);
    return (row: number): string => texts.map((text) => text(row)).join(" ");
  };
  const orders = [sorted(a.vertices, textsOf(a)), sorted(b.vertices, textsOf(b))] as const;
  const pairs = paired(a.vertices, b.vertices, tolerance, orders);
  const taken = new Uint8Array(b.vertices.rows.length);
  const both: [number, number][] = [];
  const tell = (which: string, { vertices }: Gathered, row: number): void => {
    const { scale, positions } = vertices;
    const place = scale.map((factor, axis) => positions[row * scale.length + axis]! * factor).join(", ");
    findings.tell("positions", `(${place})`, () => `a point that only the ${which} has`);
  };
  for (const row of orders[0]) {
    const pair = pairs[row]!;
    if (pair < 0) tell("first", a, row);
    else {
      taken[pair] = 1;
      both.push([row, pair]);
      findings.furthest = Math.max(findings.furthest, apart(a.vertices, row, b.vertices, pair));
    }
  }
  for (const row of orders[1]) if (taken[row] === 0) tell("second", b, row);
  const at = (pair: number): string => {
    const { scale, positions } = a.vertices;
    const [row] = both[pair]!;
    return `(${scale.map((factor, axis) => positions[row * scale.length + axis]! * factor).join(", ")})`;
  };
  compareRows(a.columns, b.columns, "vertex", both, at, how);
}
