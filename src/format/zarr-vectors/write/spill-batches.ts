/** Batches put aside whole, in the order in which they came, until it is known how large chunks should be. */
import { bytesOf } from "../../../codec/numeric.js";
import type { NumericArray } from "../../../codec/types.js";
import { InvalidInput } from "../../../errors.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { Columns } from "../../../model/vectors.js";
import type { Scratch } from "../../../store/scratch.js";
import { roomFor } from "./spill.js";
import type { Rows } from "./write-batch.js";

export interface Queue {
  add(rows: Rows): Promise<void>;
  /** Every batch once; afterwards there are none. */
  take(): AsyncIterable<Rows>;
}

/** A batch whose arrays lie elsewhere: for each the number of its bytes, and what kind of array they are. */
interface Aside {
  readonly key: number;
  readonly bytes: number;
  readonly whole: (bytes: Uint8Array) => Rows;
}

const TAKEN: Aside = {
  key: -1,
  bytes: 0,
  whole() {
    throw new InvalidInput("a batch is taken once");
  },
};

const LARGE = 1 << 20;

export function queue(scratch: Scratch): Queue {
  const held: (Rows | Aside)[] = [];
  let room = new Uint8Array(); // for batches on their way out, one after the other: new memory for each waits long to be given back
  const aside = async (rows: Rows): Promise<Aside> => {
    const { pieces, size, whole } = takeApart(rows);
    if (room.length < size) room = new Uint8Array(size);
    let at = 0;
    for (const piece of pieces) {
      room.set(piece, at);
      at += piece.length;
    }
    return { key: await scratch.put(room.subarray(0, size)), bytes: size, whole };
  };
  return {
    async add(rows) {
      scratch.full ||= scratch.held + sizeOf(rows) > roomFor(scratch);
      if (!scratch.full) {
        held.push(copyOf(rows));
        scratch.held += sizeOf(rows);
        return;
      }
      for (const [i, before] of held.entries()) {
        if ("key" in before) continue;
        held[i] = await aside(before);
        scratch.held -= sizeOf(before);
      }
      held.push(await aside(rows));
    },
    async *take() {
      room = new Uint8Array();
      for (const [i, rows] of held.entries()) {
        if ("key" in rows) {
          yield rows.whole(await scratch.get(rows.key, 0, rows.bytes));
          // So that the disk never has to hold them beside all that is made of them; it takes as long as writing a small one.
          if (rows.bytes >= LARGE) await scratch.drop(rows.key);
        } else {
          scratch.held -= sizeOf(rows);
          yield rows;
        }
        held[i] = TAKEN; // so that it can be forgotten
      }
      held.length = 0;
    },
  };
}

type Put = <T extends NumericArray>(array: T) => () => T;

/**
 * The large arrays of a batch in one piece; `whole` puts them back, and must hold on to none of them until then: functions hold whatever
 * any function beside them uses. Texts stay in memory.
 */
function takeApart(rows: Rows): {
  readonly pieces: readonly Uint8Array[];
  readonly size: number;
  readonly whole: (bytes: Uint8Array) => Rows;
} {
  const asGiven: { pieces: Uint8Array[] } = { pieces: [] };
  let size = 0;
  let from: Uint8Array = new Uint8Array();
  const put: Put = (array) => {
    const at = size;
    const bytes = bytesOf(array);
    const padding = (8 - (bytes.length % 8)) % 8; // so that each can be looked at where it lies
    asGiven.pieces.push(bytes, new Uint8Array(padding));
    size += bytes.length + padding;
    const { length } = array;
    const View = array.constructor as new (buffer: ArrayBufferLike, at: number, length: number) => typeof array;
    return () => new View(from.buffer, from.byteOffset + at, length);
  };
  const build = rebuild(rows, put);
  const { pieces } = asGiven;
  asGiven.pieces = [];
  return {
    pieces,
    size,
    whole(bytes) {
      from = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
      return build();
    },
  };
}

const copyOf = (rows: Rows): Rows =>
  rebuild(rows, (array) => {
    const copy = array.slice() as typeof array;
    return () => copy;
  })();

/** The same batch with every array as `put` gives it back. */
function rebuild(rows: Rows, put: Put): () => Rows {
  const column = (name: string, info: AttributeInfo, back: () => Column["values"]) => () =>
    [name, { info, values: back() }] as const;
  const texts = (values: Column["values"]) => () => values;
  const columns = (own: Columns): (() => Columns) => {
    const parts = [...own].map(([name, { info, values }]) =>
      column(name, info, Array.isArray(values) ? texts(values) : put(values as NumericArray)),
    );
    return () => new Map(parts.map((part) => part()));
  };
  const { count, repeats, late } = rows;
  // Mostly the positions are the stored bytes, seen as numbers.
  const same = rows.stored.buffer === rows.positions.buffer;
  const positions = put(rows.positions);
  const stored = same ? () => bytesOf(positions()) : put(rows.stored);
  const [parts, objects, ids] = [put(rows.parts), put(rows.objects), put(rows.ids)];
  const [vertexColumns, objectColumns] = [columns(rows.vertexColumns), columns(rows.objectColumns)];
  const links = rows.links && {
    width: rows.links.width,
    ends: put(rows.links.ends),
    columns: columns(rows.links.columns),
  };
  const fragments = rows.fragments && {
    offsets: put(rows.fragments.offsets),
    columns: columns(rows.fragments.columns),
  };
  return () => ({
    count,
    positions: positions(),
    stored: stored(),
    parts: parts(),
    objects: objects(),
    ids: ids(),
    links: links && { width: links.width, ends: links.ends(), columns: links.columns() },
    fragments: fragments && { offsets: fragments.offsets(), columns: fragments.columns() },
    vertexColumns: vertexColumns(),
    objectColumns: objectColumns(),
    repeats,
    late,
  });
}

const sizeOf = ({ positions, stored, links, vertexColumns }: Rows): number =>
  (stored.buffer === positions.buffer ? 0 : stored.length) +
  positions.byteLength +
  (links?.ends.byteLength ?? 0) +
  [...vertexColumns.values(), ...(links?.columns.values() ?? [])].reduce(
    (sum, { values }) => sum + (Array.isArray(values) ? 0 : (values as NumericArray).byteLength),
    0,
  );
