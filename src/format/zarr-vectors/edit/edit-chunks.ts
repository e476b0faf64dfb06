/**
 * The chunks of a level under edit. A chunk that is touched is brought into the form that every new store has: its vertices in
 * the order of its fragments, which are ranges one after another, and its attributes beside them. Links number entries of
 * fragments, so this alone changes none of them; where entries go or move, `moved` says where to.
 *
 * A fragment that goes becomes an empty one: the numbers of the others, which manifests name, stay what they are.
 */
import { concat } from "../../../bytes/concat.js";
import { isFixed } from "../../../bytes/dtype.js";
import { Corrupt } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import { FragmentIndex } from "../payload/fragment-index.js";
import { attributeInfo } from "../read/schema.js";
import type { CellsEdit } from "./edit-cells.js";
import type { Tree } from "./edit-tree.js";

/** An attribute with a row for each vertex or each fragment. */
export interface CellAttribute {
  readonly info: AttributeInfo;
  readonly cells: CellsEdit;
  /** Bytes of a row. */
  readonly width: number;
}

export interface ChunkEdit {
  readonly name: string;
  /** Vertices of each fragment. */
  sizes: number[];
  /** Positions, then each vertex attribute: one row per entry. */
  columns: Uint8Array[];
  /** Each fragment attribute. */
  fragmentColumns: Uint8Array[];
  /** Entries that were there before. */
  readonly before: number;
  /** The new number of each of them, −1 where it is gone; undefined: all are where they were. */
  moved: Int32Array | undefined;
}

export interface ChunksEdit {
  readonly vertices: CellsEdit;
  readonly rowBytes: number;
  readonly vertexAttributes: readonly CellAttribute[];
  readonly fragmentAttributes: readonly CellAttribute[];
  readonly touched: ReadonlyMap<string, ChunkEdit>;
  chunk(name: string): Promise<ChunkEdit>;
  /** A chunk as it is, which is not under edit. */
  read(name: string): Promise<ChunkEdit>;
  /** A chunk in the place of what was there. */
  put(chunk: ChunkEdit): void;
  /** Vertices of the level that touched chunks have gained. */
  gained(): number;
  /** Vertices of all chunks, counted. */
  count(): Promise<number>;
  finish(): void;
}

/** `lenient` names a fragment attribute that may be short: what is missing becomes −1. */
export async function editChunks(tree: Tree, level: string, rowBytes: number, lenient: string): Promise<ChunksEdit> {
  const vertices = await tree.cells(level, "vertices");
  const fragments = await tree.cells(level, "vertex_fragments");
  const where = `${tree.opened.url}/${level}`;
  if (vertices === undefined || fragments === undefined)
    throw new Corrupt(`${where} should have vertices and vertex_fragments, but they are not there`, { where });
  const limits = withLimits(tree.options.limits);
  const touched = new Map<string, Promise<ChunkEdit>>();
  const done = new Map<string, ChunkEdit>();

  /** The reference writes an empty row_shape also where rows have several values; then a cell tells. */
  const channelsFound = async (info: AttributeInfo, cells: CellsEdit, ofVertices: boolean): Promise<AttributeInfo> => {
    const { row_shape: shape, channel_names: names } = cells.attributes;
    const [first] = await cells.chunks();
    if (!Array.isArray(shape) || shape.length > 0 || names !== undefined || first === undefined) return info;
    const [payload, own] = await Promise.all([cells.get(first), (ofVertices ? vertices : fragments).get(first)]);
    if (payload === undefined || own === undefined) return info;
    const rows = ofVertices ? own.length / rowBytes : FragmentIndex.parse(own, undefined, limits, where).count;
    const channels = payload.length / (rows * sizeOf(info));
    if (!Number.isInteger(channels) || channels < 2) return info;
    cells.describe({ ...cells.attributes, row_shape: [channels] }); // the next time there may be no cell to tell
    return { ...info, channels };
  };
  const attributesOf = async (domain: "vertex" | "fragment"): Promise<CellAttribute[]> => {
    const folder = `${domain}_attributes`;
    const found = (await tree.names(`${level}/${folder}`)).map(async (name): Promise<CellAttribute[]> => {
      const cells = await tree.cells(level, `${folder}/${name}`);
      if (cells === undefined) return [];
      const told = attributeInfo(name, cells.attributes, `${where}/${folder}/${name}`);
      const info = name === lenient ? told : await channelsFound(told, cells, domain === "vertex");
      return [{ info, cells, width: info.channels * sizeOf(info) }];
    });
    return (await Promise.all(found)).flat();
  };
  const vertexAttributes = await attributesOf("vertex");
  const fragmentAttributes = await attributesOf("fragment");

  async function load(name: string): Promise<ChunkEdit> {
    const [buffer, blob] = await Promise.all([vertices!.get(name), fragments!.get(name)]);
    if (buffer === undefined && blob === undefined)
      return emptyChunk(name, vertexAttributes.length, fragmentAttributes.length);
    const at = `${where}/vertices of chunk ${name}`;
    if (buffer === undefined || blob === undefined || buffer.length % rowBytes !== 0)
      throw new Corrupt(`${at} should be whole rows of ${rowBytes} bytes with a fragment index`, { where: at });
    const rows = buffer.length / rowBytes;
    const index = FragmentIndex.parse(blob, rows, limits, `${where}/vertex_fragments of chunk ${name}`);
    const entries = FragmentIndex.total(index);
    const inOrder = (bytes: Uint8Array, width: number): Uint8Array =>
      index.rows === undefined ? bytes.subarray(0, entries * width) : pickRows(bytes, width, index.rows);
    const short = ({ info, cells }: CellAttribute, found: number, rows: number): Corrupt =>
      new Corrupt(`${where}: the attribute ${info.name} has ${found} bytes in chunk ${name}, not ${rows} rows`, {
        where: `${where}/${cells.attributes.zv_array === "attribute" ? "vertex" : "fragment"}_attributes/${info.name}`,
        hint: "Other software has edited the store without it: octavo repair.",
      });
    const columns = await Promise.all(
      vertexAttributes.map(async (attribute) => {
        const bytes = (await attribute.cells.get(name)) ?? new Uint8Array();
        if (bytes.length !== rows * attribute.width) throw short(attribute, bytes.length, rows);
        return inOrder(bytes, attribute.width);
      }),
    );
    const fragmentColumns = await Promise.all(
      fragmentAttributes.map(async (attribute) => {
        const bytes = (await attribute.cells.get(name)) ?? new Uint8Array();
        const missing = index.count * attribute.width - bytes.length;
        if (missing === 0) return bytes;
        if (attribute.info.name !== lenient || missing < 0) throw short(attribute, bytes.length, index.count);
        return concat([bytes, new Uint8Array(missing).fill(0xff)]);
      }),
    );
    const sizes = Array.from({ length: index.count }, (_, f) => index.offsets[f + 1]! - index.offsets[f]!);
    return {
      name,
      sizes,
      columns: [inOrder(buffer, rowBytes), ...columns],
      fragmentColumns,
      before: entries,
      moved: undefined,
    };
  }

  return {
    vertices,
    rowBytes,
    vertexAttributes,
    fragmentAttributes,
    touched: done,
    chunk(name) {
      const known = touched.get(name);
      if (known !== undefined) return known;
      const loading = load(name);
      touched.set(name, loading);
      loading.then((chunk) => done.set(name, chunk)).catch(() => {});
      return loading;
    },
    read: load,
    put: (chunk) => void done.set(chunk.name, chunk),
    gained: () => [...done.values()].reduce((sum, { sizes, before }) => sum + total(sizes) - before, 0),
    async count() {
      let sum = 0;
      for (const name of new Set([...(await fragments.chunks()), ...done.keys()])) {
        const blob = done.has(name) ? undefined : await fragments.get(name);
        const index =
          blob && FragmentIndex.parse(blob, undefined, limits, `${where}/vertex_fragments of chunk ${name}`);
        sum += index === undefined ? total(done.get(name)!.sizes) : FragmentIndex.total(index);
      }
      return sum;
    },
    finish() {
      const none = new Uint8Array();
      for (const { name, sizes, columns, fragmentColumns } of done.values()) {
        const empty = columns[0]!.length === 0;
        vertices.set(name, columns[0]!);
        fragments.set(name, empty ? none : FragmentIndex.encode(FragmentIndex.ofRanges(sizes)));
        for (const [i, { cells }] of vertexAttributes.entries()) cells.set(name, columns[1 + i]!);
        for (const [i, { cells }] of fragmentAttributes.entries()) cells.set(name, empty ? none : fragmentColumns[i]!);
      }
    },
  };
}

/** A chunk without vertices, with so many attributes. */
export const emptyChunk = (name: string, ofVertices: number, ofFragments: number): ChunkEdit => ({
  name,
  sizes: [],
  columns: Array.from({ length: 1 + ofVertices }, () => new Uint8Array()),
  fragmentColumns: Array.from({ length: ofFragments }, () => new Uint8Array()),
  before: 0,
  moved: undefined,
});

export const total = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0);

export const sizeOf = ({ dtype }: AttributeInfo): number => (isFixed(dtype) ? dtype.size : 0);

/** Rows of one size, in the order given. */
export function pickRows(bytes: Uint8Array, width: number, rows: ArrayLike<number>): Uint8Array {
  const out = new Uint8Array(rows.length * width);
  for (let i = 0; i < rows.length; i++) out.set(bytes.subarray(rows[i]! * width, (rows[i]! + 1) * width), i * width);
  return out;
}

/** New fragments after those that are there, with columns for all of their vertices; the number of the first. */
export function addFragments(
  chunk: ChunkEdit,
  sizes: readonly number[],
  columns: readonly Uint8Array[],
  fragmentColumns: readonly Uint8Array[],
): number {
  const first = chunk.sizes.length;
  chunk.sizes = [...chunk.sizes, ...sizes];
  chunk.columns = chunk.columns.map((own, i) => concat([own, columns[i]!]));
  chunk.fragmentColumns = chunk.fragmentColumns.map((own, i) => concat([own, fragmentColumns[i]!]));
  return first;
}

/** Points into the fragments (bins) that they belong to, at the end of each: point i into bins[i]. */
export function addToFragments(
  chunk: ChunkEdit,
  count: number,
  bins: Uint32Array,
  columns: readonly Uint8Array[],
): void {
  const old = chunk.sizes.length === 0 ? new Array<number>(count).fill(0) : chunk.sizes;
  const added = new Array<number>(count).fill(0);
  for (const bin of bins) added[bin]!++;
  const moved = new Int32Array(total(old));
  const order = new Uint32Array(moved.length + bins.length); // what was there, then what is new
  const next = new Array<number>(count).fill(0);
  for (let bin = 0, at = 0, from = 0; bin < count; bin++) {
    for (let i = 0; i < old[bin]!; i++, at++, from++) {
      moved[from] = at;
      order[at] = from;
    }
    next[bin] = at;
    at += added[bin]!;
  }
  for (const [i, bin] of bins.entries()) order[next[bin]!++] = moved.length + i;
  chunk.columns = chunk.columns.map((own, c) => {
    const all = concat([own, columns[c]!]);
    return pickRows(all, all.length / order.length, order);
  });
  chunk.sizes = old.map((size, bin) => size + added[bin]!);
  chunk.moved = moved;
}

/** Empties fragments. */
export function removeFragments(chunk: ChunkEdit, fragments: ReadonlySet<number>): void {
  const moved = new Int32Array(total(chunk.sizes)).fill(-1);
  const kept = new Uint32Array(moved.length);
  let [entry, to] = [0, 0];
  chunk.sizes = chunk.sizes.map((size, f) => {
    const gone = fragments.has(f);
    for (let i = 0; i < size; i++, entry++) {
      if (gone) continue;
      kept[to] = entry;
      moved[entry] = to++;
    }
    return gone ? 0 : size;
  });
  const rows = kept.subarray(0, to);
  chunk.columns = chunk.columns.map((own) => pickRows(own, own.length / Math.max(1, moved.length), rows));
  if (to === 0) {
    chunk.sizes = [];
    chunk.fragmentColumns = chunk.fragmentColumns.map(() => new Uint8Array());
  }
  chunk.moved = moved;
}
