/** The cells of vertices: positions, fragments, attributes, and the owner of each fragment. */
import { isFixed } from "../../../bytes/dtype.js";
import { halfToNumber } from "../../../bytes/half.js";
import { loadDracoEncoder } from "../../../codec/draco-encode.js";
import { bytesOf } from "../../../codec/numeric.js";
import { InvalidInput } from "../../../errors.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { Scratch } from "../../../store/scratch.js";
import { FragmentIndex } from "../payload/fragment-index.js";
import { words } from "../payload/int64.js";
import { NOBODY, SEVERAL } from "../payload/owner-cell.js";
import { OWNERS } from "../read/owner-column.js";
import type { Plan } from "./description.js";
import type { Bucket, Room, Spool } from "./spill.js";
import type { Arrays, CellArray, Grid } from "./write-arrays.js";
import { type Dtype, dtypeSize } from "./write-batch.js";
import { binsOf } from "./write-bins.js";
import type { Intake } from "./write-columns.js";
import { type Again, bytesAt, type Fragments } from "./write-cut.js";
import { type Layout, orderBy, SMALL, together, unitsOf, upTo, widerShard } from "./write-layout.js";
import { ManifestRows, type ManifestSpool } from "./write-manifests.js";
import type { ObjectTable } from "./write-objects.js";
import { share } from "./write-shared.js";

const COPIES = 16; // of the bytes of a unit that are there at once: as they were put aside, in order, encoded, and those of units before

export interface ChunkContext {
  readonly plan: Plan;
  readonly dtype: Dtype;
  readonly chunkShape: readonly number[];
  readonly arrays: Arrays;
  readonly scratch: Scratch;
  readonly vertices: Spool;
  readonly rowBytes: number;
  readonly intakes: readonly Intake[];
  /** The attributes of fragments, with the rows of all fragments of batches. */
  readonly ofFragments: readonly { readonly intake: Intake; readonly rows: Uint8Array }[];
  /** Where they are not runs of paths. */
  readonly fragments: Fragments;
  /** The runs of paths, by chunk: owner, size, number and, where those have attributes, the fragment of a batch, all as in `Fragments`. */
  readonly runs: Spool | undefined;
  /** Takes what manifests say of the fragments. */
  readonly manifests: ManifestSpool | undefined;
  readonly layout: Layout;
  /** undefined: points without objects. */
  readonly table: ObjectTable | undefined;
  /** Vertices that came again for the sake of links, by chunk: their rows are found here. */
  readonly repeated: ReadonlyMap<number, readonly Again[]>;
  /** Vertices of each chunk. */
  readonly sizes: ArrayLike<number>;
}

export interface Stored {
  /** Whether fragments came to be shared. */
  readonly shared: boolean;
  /** How many vertices are stored. */
  readonly stored: number;
  /** The column of owners, whose document is written when it can be sealed. */
  readonly owners: CellArray | undefined;
}

export async function writeChunks(context: ChunkContext): Promise<Stored> {
  const { plan, dtype, arrays, vertices, intakes, layout, table, rowBytes, sizes, scratch } = context;
  const { grid, chunkCount } = layout;
  let total = 0;
  for (let chunk = 0; chunk < chunkCount; chunk++) total += sizes[chunk] ?? 0;
  const shards: Grid["shard"][] = [];
  const array = (path: string, unit: number | undefined, bytes: number): Promise<CellArray> => {
    const shard = widerShard(grid, plan.sharding, (total * bytes) / Math.max(1, chunkCount));
    shards.push(shard);
    return arrays.cells(path, grid, unit, shard);
  };
  const constant = (await vertices.constant()).slice(-intakes.length);
  const cells = await Promise.all([
    arrays.cells("vertices", grid, dtypeSize(dtype)),
    table === undefined ? array("vertex_fragments", undefined, 1) : arrays.cells("vertex_fragments", grid), // bins: few bytes
    // What is the same everywhere takes some bytes for a cell.
    ...intakes.map(({ info, width }, c) =>
      array(`vertex_attributes/${info.name}`, sizeOf(info), constant[c] ? 0 : width),
    ),
  ]);
  // An id below 0 could be taken for "nobody", and one of a level that was numbered anew for another: then the owners are
  // left to the manifests.
  // In 0.7.0 nothing could seal them.
  const owned =
    plan.formatVersion !== "0.7.0" &&
    table !== undefined &&
    table.level0 === undefined &&
    !table.ids.some((id) => id < 0n);
  const draco = plan.encoding === "draco" ? await loadDracoEncoder() : undefined;
  const encoded = (rows: Uint8Array): Uint8Array => {
    if (draco === undefined || rows.length === 0) return rows;
    return draco.encode({ positions: numbersOf(rows, dtype) as Float32Array }, plan);
  };
  const marks = await Promise.all(
    context.ofFragments.map(({ intake: { info } }) =>
      arrays.cells(`fragment_attributes/${info.name}`, grid, sizeOf(info)),
    ),
  );
  const owners = owned ? await arrays.cells(OWNERS, grid) : undefined;
  const inOrder = new Uint32Array(plan.kind.path ? 0 : context.fragments.size.length); // paths come in order
  const chunks = Array.from({ length: chunkCount }, (_, chunk) => chunk);
  const rooms: Room[] = []; // of units that are done
  let shared = false;
  let stored = 0;
  const bytesIn = (chunk: number): number => (sizes[chunk] ?? 0) * rowBytes;
  const units = together(grid, unitsOf(grid, chunks, bytesIn, scratch.memory), shards);
  const largest = units.reduce(
    (most, unit) =>
      Math.max(
        most,
        unit.reduce((sum, chunk) => sum + bytesIn(chunk), 0),
      ),
    1,
  );
  await forEachConcurrent(
    units,
    scratch.memory < SMALL ? 1 : Math.max(1, Math.min(4, Math.floor(scratch.memory / COPIES / largest))),
    async (unit) => {
      const room = rooms.pop() ?? { bytes: new Uint8Array() };
      const buckets = await vertices.read(unit, room);
      const runs = await context.runs?.read(unit);
      const named = new ManifestRows();
      const payloads = cells.map((): Uint8Array[] => []);
      const ownerPayloads: Uint8Array[] = [];
      const markPayloads = marks.map((): Uint8Array[] => []);
      for (const [i, chunk] of unit.entries()) {
        const own = runs === undefined ? piecesOf(context, chunk) : runsOf(runs[i]!);
        const { columns, counts, owner, several } = arrange(context, chunk, own, buckets[i]!, inOrder, named);
        if (several) shared = true;
        for (const count of counts) stored += count;
        const [positions, ...rest] = columns;
        payloads[0]!.push(encoded(positions!));
        payloads[1]!.push(FragmentIndex.encode(FragmentIndex.ofRanges(counts)));
        for (const [c, intake] of intakes.entries()) payloads[2 + c]!.push(intake.cell(rest[c]!));
        ownerPayloads.push(bytesOf(owner));
        for (const [m, { intake, rows }] of context.ofFragments.entries())
          markPayloads[m]!.push(intake.cell(pick(rows, rows.length / intake.width, own.given!)));
      }
      await Promise.all([
        ...cells.map((array, c) => array.put(unit, payloads[c]!)),
        ...marks.map((array, m) => array.put(unit, markPayloads[m]!)),
        owners?.put(unit, ownerPayloads),
        context.manifests?.add(named),
      ]);
      rooms.push(room);
    },
  );
  await cells[0]!.finish({ zv_array: "vertices", dtype, encoding: plan.encoding ?? "raw" });
  await cells[1]!.finish({ zv_array: "vertex_fragments", encoding: "fragment_index_v1" });
  for (const [c, intake] of intakes.entries())
    await cells[2 + c]!.finish({ zv_array: "attribute", name: intake.info.name, ...intake.attributes() });
  for (const [m, { intake }] of context.ofFragments.entries())
    await marks[m]!.finish({ zv_array: "fragment_attribute", name: intake.info.name, ...intake.attributes() });
  return { shared, stored, owners };
}

/** The fragments of a chunk, in their order. */
interface Own {
  /** As in `Fragments`. */
  readonly owner: Uint32Array;
  readonly size: Uint32Array;
  /** Their numbers. */
  readonly number: Uint32Array;
  /** The fragments of batches in which they lie. */
  readonly given: Uint32Array | undefined;
}

const runsOf = ({ columns }: Bucket): Own => {
  const [owner, size, number, given] = columns.map(words);
  return { owner: owner!, size: size!, number: number!, given: given?.map((fragment) => fragment - 1) };
};

function piecesOf({ layout, fragments: { owner, size, given } }: ChunkContext, chunk: number): Own {
  const number = layout.list.subarray(layout.offsets[chunk], layout.offsets[chunk + 1]);
  return {
    owner: number.map((f) => owner.values[f]!),
    size: number.map((f) => size.values[f]!),
    number,
    given: given && number.map((f) => given.values[f]! - 1),
  };
}

const sizeOf = ({ dtype }: AttributeInfo): number => (isFixed(dtype) ? dtype.size : 1);

interface Arranged {
  /** Positions, then attributes, in the order of the fragments. */
  readonly columns: readonly Uint8Array[];
  readonly counts: Uint32Array;
  readonly owner: BigInt64Array;
  readonly several: boolean;
}

/** The rows of a chunk in the order of its fragments. */
function arrange(
  context: ChunkContext,
  chunk: number,
  own: Own,
  { rows, columns }: Bucket,
  taken: Uint32Array,
  named: ManifestRows,
): Arranged {
  const { plan, layout, table } = context;
  const { kind } = plan;
  if (table === undefined) {
    const { counts, order } = byBins(context, chunk, columns[0]!, rows);
    const sorted = order === undefined ? columns : columns.map((column) => pick(column, rows, order));
    return { columns: sorted, counts, owner: new BigInt64Array(), several: false };
  }
  const { number, size: counts } = own;
  const { length } = number;
  const owner = new BigInt64Array(length).fill(BigInt(NOBODY));
  const [ids, halves] = [new Int32Array(table.ids.buffer, table.ids.byteOffset), new Int32Array(owner.buffer)];
  for (let i = 0; i < length; i++) {
    const object = own.owner[i]! - 1;
    if (object < 0) continue;
    const row = table.rowOf[object]!; // both halves by themselves: a bigint for each fragment would cost more than the rest
    halves[2 * i] = ids[2 * row]!;
    halves[2 * i + 1] = ids[2 * row + 1]!;
  }
  let sorted = columns;
  if (!kind.path) {
    const [positions, which, ...rest] = columns;
    const order = byFragments(new Uint32Array(which!.buffer, which!.byteOffset, rows), layout.first, taken);
    sorted = [positions!, ...rest].map((column) => (order === undefined ? column : pick(column, rows, order)));
  }
  const again = context.repeated.get(chunk);
  if (again !== undefined) findAgain(again, number, sorted, rows, context);
  const once = (plan.sharedFragments ?? false) === false ? undefined : share(sorted, rows, counts);
  for (let i = 0; i < length; i++) {
    if (own.owner[i] === 0) continue;
    const order = kind.path ? number[i]! : layout.rank[chunk]!;
    named.add(table.rowOf[own.owner[i]! - 1]!, order, chunk, once?.place[i] ?? i);
  }
  if (once === undefined) return { columns: sorted, counts, owner, several: false };
  const stored = BigInt64Array.from(once.kept, (i) => owner[i]!);
  const moved = new Uint32Array(kind.path ? rows : 0);
  for (let i = 0, row = 0; i < length; i++) {
    const place = once.place[i]!;
    const first = once.first[place]!;
    if (!kind.path) layout.first[number[i]!] = first;
    else for (let k = 0; k < counts[i]!; k++) moved[row++] = first + k;
    if (once.kept[place] !== i) stored[place] = BigInt(SEVERAL);
  }
  if (kind.path && once.kept.length < length) layout.moved.set(chunk, moved);
  return {
    columns: once.columns,
    counts: once.kept.map((i) => counts[i]!),
    owner: stored,
    several: once.kept.length < length,
  };
}

/** The rows of vertices that came again. What is not there, or there twice, cannot be linked to. */
function findAgain(
  again: readonly Again[],
  own: Uint32Array,
  columns: readonly Uint8Array[],
  rows: number,
  { fragments, layout }: ChunkContext,
): void {
  const known = new Map<string, number>();
  for (const f of own)
    for (let row = layout.first[f]!, end = row + fragments.size.values[f]!; row < end; row++) {
      const name = `${fragments.owner.values[f]} ${bytesAt(columns, rows, row)}`;
      known.set(name, known.has(name) ? -1 : row);
    }
  for (const { fragment, owner, bytes } of again) {
    const row = known.get(`${owner} ${bytes}`);
    if (row === undefined || row < 0)
      throw new InvalidInput(
        `a link names a vertex of an earlier batch that ${row === undefined ? "never came" : "came twice, so that nobody can tell which"}`,
      );
    layout.first[fragment] = row;
  }
}

/** The row that comes to each place, in the order of fragments; undefined where all are in theirs. */
function byFragments(which: Uint32Array, first: Uint32Array, taken: Uint32Array): Uint32Array | undefined {
  const order = new Uint32Array(which.length);
  let moved = false;
  for (let row = 0; row < which.length; row++) {
    const f = which[row]!;
    const to = first[f]! + taken[f]!++;
    order[to] = row;
    if (to !== row) moved = true;
  }
  return moved ? order : undefined;
}

/** Points by the bins of their chunk. */
function byBins({ plan, dtype, chunkShape, layout }: ChunkContext, chunk: number, bytes: Uint8Array, rows: number) {
  const { dims, binShape = chunkShape } = plan;
  if (binShape.every((size, axis) => size === chunkShape[axis]))
    return { counts: Uint32Array.of(rows), order: undefined };
  const coords = layout.grid.coords.subarray(chunk * dims, (chunk + 1) * dims);
  const { count, bins } = binsOf(chunkShape, binShape, coords, numbersOf(bytes, dtype));
  const { sorted: order, offsets } = orderBy(upTo(rows), bins, count);
  return { counts: offsets.slice(1).map((end, bin) => end - offsets[bin]!), order };
}

function numbersOf(bytes: Uint8Array, dtype: Dtype): ArrayLike<number> {
  const { buffer, byteOffset, length } = bytes;
  if (dtype === "float64") return new Float64Array(buffer, byteOffset, length / 8);
  if (dtype === "float32") return new Float32Array(buffer, byteOffset, length / 4);
  return Float32Array.from(new Uint16Array(buffer, byteOffset, length / 2), halfToNumber);
}

/** Rows of one size in another order. */
function pick(column: Uint8Array, rows: number, order: Uint32Array): Uint8Array {
  const width = column.length / Math.max(1, rows);
  const words = width % 4 === 0 && column.byteOffset % 4 === 0;
  const out = new Uint8Array(order.length * width);
  const from = words ? new Uint32Array(column.buffer, column.byteOffset, column.length / 4) : column;
  const to = words ? new Uint32Array(out.buffer) : out;
  const step = words ? width / 4 : width;
  for (let row = 0, at = 0; row < order.length; row++)
    for (let k = order[row]! * step, end = k + step; k < end; k++) to[at++] = from[k]!;
  return out;
}
