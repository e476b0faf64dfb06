/**
 * A level brought into the order of its objects, in bounded memory. Its chunks hold parts of many objects: who takes object after
 * object would read each chunk again and again, or hold all of them. Here every chunk is read once, and its parts are put aside by
 * windows: so many objects that follow each other as can be held at once.
 *
 * | put aside for each window | columns                                                                           |
 * |---------------------------|-----------------------------------------------------------------------------------|
 * | its parts                 | chunk, number in the chunk, vertices (u32 each), then the attributes of fragments |
 * | their vertices            | positions, then the attributes of vertices                                        |
 *
 * both in the order in which they come. The windows are the chunks of the level that is handed out. A part that several objects share
 * is in the window of each. Links would have to be followed from chunk to chunk: levels that have them stay as they are.
 */
import { bytesOf } from "../codec/numeric.js";
import type { NumericArray } from "../codec/types.js";
import { Corrupt, Unsupported } from "../errors.js";
import { type Bucket, spool } from "../format/zarr-vectors/write/spill.js";
import { upTo } from "../format/zarr-vectors/write/write-layout.js";
import { Growing } from "../format/zarr-vectors/write/write-numbering.js";
import { withLimits } from "../limits.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import type { ReadOptions } from "../model/dataset.js";
import type { ChunkTable, LevelSource, ObjectSource, Tile } from "../model/source.js";
import type { Columns, Positions } from "../model/vectors.js";
import { linkWidthOf, rowBytes } from "../query/assemble.js";
import type { Scratch } from "../store/scratch.js";

/** The same level in another order; undefined where `limits.keptBytes` holds all of it, or it has what cannot be put aside. */
export async function byObject(
  source: LevelSource,
  scratch: Scratch,
  options: ReadOptions,
): Promise<LevelSource | undefined> {
  const { objects } = source;
  if (objects === undefined || objects.rows === 0 || linkWidthOf(source) > 0 || source.scattered) return undefined;
  const { vertex, fragment } = await source.schema(options);
  const want = { positions: true, vertex: names(vertex), fragment: names(fragment), passing: true };
  const all = Array.from({ length: (await source.chunks(options)).count }, (_, chunk) => chunk);
  const vertices = (await source.counts(all, options)).reduce((sum, count) => sum + count, 0);
  // Parts that nobody owns stay in their order, and tiles that are asked for together come in any.
  const lone = (await objects.orphans(options)).part.length > 0;
  const tiles = async function* (): AsyncGenerator<Tile> {
    for (const chunks of lone ? all.map((chunk) => [chunk]) : [all]) yield* source.tiles(chunks, want, options);
  };
  let aside: Aside | undefined;
  let room: Room | undefined;
  for await (const tile of tiles()) {
    options.signal?.throwIfAborted();
    if (room === undefined) {
      const each = Math.max(1, rowBytes(tile));
      const texts = [...tile.vertexColumns.values(), ...tile.fragmentColumns.values()];
      if (vertices * each <= withLimits(options.limits).keptBytes || texts.some(({ values }) => Array.isArray(values)))
        return undefined;
      const most = Math.max(1, Math.floor(scratch.memory / 8 / each));
      room = { most, rows: Math.max(1, Math.floor((objects.rows * most) / vertices)) };
    }
    aside ??= putAside(tile, source, objects, room, scratch);
    await aside.add(tile, options);
  }
  return aside && levelOf(source, objects, room!, aside);
}

const names = (infos: readonly AttributeInfo[]): string[] => infos.map(({ name }) => name);
const keyOf = (chunk: number, part: number): number => chunk * 2 ** 32 + part;

/** How large a window is. */
interface Room {
  /** Its objects. */
  readonly rows: number;
  /** Its vertices, about. */
  readonly most: number;
}

/** The parts of a window: part p has the vertices offsets[p] up to offsets[p + 1]. */
interface Window {
  readonly offsets: Uint32Array;
  readonly columns: Columns;
  /** The number of each part here, by `keyOf` of what it was. */
  readonly places: ReadonlyMap<number, number>;
}

/** An attribute as it is put aside. */
interface Form {
  readonly name: string;
  readonly info: AttributeInfo;
  readonly Type: TypedArray;
}

type TypedArray = (new (
  buffer: ArrayBufferLike,
  at: number,
  length: number,
) => NumericArray) & {
  readonly BYTES_PER_ELEMENT: number;
};

const formsOf = (columns: Columns): Form[] =>
  [...columns].map(([name, { info, values }]) => ({ name, info, Type: values.constructor as TypedArray }));
const widthOf = ({ info, Type }: Form): number => Type.BYTES_PER_ELEMENT * info.channels;
const bytesIn = (forms: readonly Form[], columns: Columns): Uint8Array[] =>
  forms.map(({ name }) => bytesOf(columns.get(name)!.values as NumericArray));

const seenAs = (Type: TypedArray, bytes: Uint8Array): NumericArray => {
  const { buffer, byteOffset, length } = bytes.byteOffset % 8 === 0 ? bytes : bytes.slice();
  return new Type(buffer, byteOffset, length / Type.BYTES_PER_ELEMENT);
};
const columnsIn = (forms: readonly Form[], columns: readonly Uint8Array[]): Columns =>
  new Map(
    forms.map(({ name, info, Type }, c) => [name, { info, values: seenAs(Type, columns[c]!) as Column["values"] }]),
  );

interface Aside {
  add(tile: Tile, options: ReadOptions): Promise<void>;
  window(window: number): Promise<Window>;
  vertices(window: number): Promise<Pick<Tile, "positions" | "vertexColumns">>;
  /** How many parts each of the windows has that come after those of objects: of parts that nobody owns. */
  readonly lone: readonly number[];
}

/** `like` says what arrays there are. */
function putAside(like: Tile, { dims }: LevelSource, objects: ObjectSource, room: Room, scratch: Scratch): Aside {
  const { rows: windowRows, most } = room;
  const [ofVertices, ofParts] = [formsOf(like.vertexColumns), formsOf(like.fragmentColumns)];
  const Coordinates = like.positions.constructor as TypedArray;
  const vertexRows = spool([Coordinates.BYTES_PER_ELEMENT * dims, ...ofVertices.map(widthOf)], scratch);
  const partRows = spool([4, 4, 4, ...ofParts.map(widthOf)], scratch, true);
  const lone: number[] = [];
  let loneVertices = most; // of the last of them
  const loneWindow = (vertices: number): number => {
    if (loneVertices >= most) {
      lone.push(0);
      loneVertices = 0;
    }
    loneVertices += vertices;
    lone[lone.length - 1]!++;
    return Math.ceil(objects.rows / windowRows) + lone.length - 1;
  };

  return {
    lone,
    async add({ chunk, parts, vertices, positions, vertexColumns, fragmentColumns }, options) {
      const count = parts.length - 1;
      const part = upTo(count);
      const owners = await objects.owners({ chunk: new Int32Array(count).fill(chunk), part }, options);
      const [windows, starts, firsts] = [new Growing(count), new Growing(count), new Growing(count)];
      const shared: { readonly part: number; readonly window: number }[] = [];
      let last = 0; // also for what nobody owns and has no vertices: nobody will ask for it
      for (let p = 0; p < count; p++) {
        const size = parts[p + 1]! - parts[p]!;
        const own = new Set<number>();
        for (let o = owners.offsets[p]!; o < owners.offsets[p + 1]!; o++)
          own.add(Math.floor(owners.rows[o]! / windowRows));
        const [first, ...others] = own.size > 0 ? own : [size > 0 ? loneWindow(size) : last];
        for (const window of others) shared.push({ part: p, window });
        if (p > 0 && first === last) continue;
        last = first!;
        windows.push(last);
        starts.push(p);
        firsts.push(parts[p]!);
      }
      const numbers = [new Uint32Array(count).fill(chunk), part, part.map((p) => parts[p + 1]! - parts[p]!)];
      const partBytes = [...numbers.map(bytesOf), ...bytesIn(ofParts, fragmentColumns)];
      const vertexBytes = [bytesOf(positions), ...bytesIn(ofVertices, vertexColumns)];
      const segments = { count: windows.length, buckets: windows.values };
      await partRows.add(partBytes, { ...segments, starts: starts.values, rows: count });
      await vertexRows.add(vertexBytes, { ...segments, starts: firsts.values, rows: vertices });
      for (const { part: p, window } of shared) {
        const one = { count: 1, buckets: Uint32Array.of(window), starts: Uint32Array.of(0) };
        const [from, to] = [parts[p]!, parts[p + 1]!];
        await partRows.add(rowsFrom(partBytes, count, p, p + 1), { ...one, rows: 1 });
        await vertexRows.add(rowsFrom(vertexBytes, vertices, from, to), { ...one, rows: to - from });
      }
    },
    async window(window) {
      const [{ rows, columns }] = (await partRows.read([window])) as [Bucket];
      const [chunk, part, sizes] = columns.slice(0, 3).map((column) => seenAs(Uint32Array, column) as Uint32Array);
      const offsets = new Uint32Array(rows + 1);
      const places = new Map<number, number>();
      for (let p = 0; p < rows; p++) {
        offsets[p + 1] = offsets[p]! + sizes![p]!;
        places.set(keyOf(chunk![p]!, part![p]!), p);
      }
      return { offsets, columns: columnsIn(ofParts, columns.slice(3)), places };
    },
    async vertices(window) {
      const [{ columns }] = (await vertexRows.read([window])) as [Bucket];
      return {
        positions: seenAs(Coordinates, columns[0]!) as Positions,
        vertexColumns: columnsIn(ofVertices, columns.slice(1)),
      };
    },
  };
}

/** Rows from … up to of columns that have so many. */
const rowsFrom = (columns: readonly Uint8Array[], rows: number, from: number, to: number): Uint8Array[] =>
  columns.map((column) => column.subarray((column.length / rows) * from, (column.length / rows) * to));

/** What was put aside, as a level. */
function levelOf(source: LevelSource, own: ObjectSource, { rows: windowRows }: Room, aside: Aside): LevelSource {
  const ofObjects = Math.ceil(own.rows / windowRows);
  const window = remember(2, aside.window);
  // One batch after the other is of one window.
  const vertices = remember(1, aside.vertices);
  const count = ofObjects + aside.lone.length;
  const table: ChunkTable = {
    count,
    rank: 1,
    coords: Int32Array.from({ length: count }, (_, number) => number),
    find: (coords, at = 0) => (coords[at]! < count ? coords[at]! : -1),
    box(_, min, max) {
      min.fill(Number.NEGATIVE_INFINITY);
      max.fill(Number.POSITIVE_INFINITY);
    },
  };
  const nowhere = (): never => {
    throw new Unsupported("a level in the order of its objects knows nothing of places");
  };
  const objects: ObjectSource = {
    ...own,
    owners: nowhere,
    joints: nowhere,
    async place(rows, options) {
      const { offsets, chunk, first, count: counts } = await own.place(rows, options);
      const [ends, chunks, parts] = [new Uint32Array(rows.length + 1), new Growing(), new Growing()];
      for (let i = 0; i < rows.length; i++) {
        const number = Math.floor(rows[i]! / windowRows);
        const { places } = await window(number);
        for (let b = offsets[i]!; b < offsets[i + 1]!; b++)
          for (let p = first[b]!; p < first[b]! + counts[b]!; p++) {
            const place = places.get(keyOf(chunk[b]!, p));
            if (place === undefined) throw new Corrupt(`an object has fragment ${p} of a chunk that has fewer`);
            chunks.push(number);
            parts.push(place);
          }
        ends[i + 1] = parts.length;
      }
      const single = new Uint32Array(parts.length).fill(1);
      return { offsets: ends, chunk: new Int32Array(chunks.done()), first: parts.done(), count: single };
    },
    async orphans() {
      const [chunk, part]: [number[], number[]] = [[], []];
      for (const [i, parts] of aside.lone.entries())
        for (let p = 0; p < parts; p++) {
          chunk.push(ofObjects + i);
          part.push(p);
        }
      return { chunk: Int32Array.from(chunk), part: Uint32Array.from(part) };
    },
  };
  return {
    ...source,
    objects,
    scattered: true,
    links: nowhere,
    cost: nowhere,
    chunks: async () => table,
    async *tiles(chunks, want) {
      for (const chunk of chunks) {
        const { offsets, columns } = await window(chunk);
        const some = want.positions || want.vertex.length > 0 ? await vertices(chunk) : NOTHING;
        yield { chunk, vertices: offsets.at(-1)!, parts: offsets, fragmentColumns: columns, ...some };
      }
    },
    counts: async (chunks) =>
      Uint32Array.from(await Promise.all(chunks.map(async (chunk) => (await window(chunk)).offsets.at(-1)!))),
  };
}

const NOTHING = { positions: new Float32Array(), vertexColumns: new Map() };

/** Keeps the last few answers. */
function remember<T>(most: number, ask: (number: number) => Promise<T>): (number: number) => Promise<T> {
  const kept = new Map<number, Promise<T>>();
  return (number) => {
    const answer = kept.get(number) ?? ask(number);
    kept.delete(number);
    kept.set(number, answer);
    for (const old of kept.keys()) if (kept.size > most) kept.delete(old);
    return answer;
  };
}
