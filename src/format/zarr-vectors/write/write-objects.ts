/**
 * The objects of a new store: numbers as they come, ids and rows in the end. In the object index a row is an object, in
 * ascending order of ids; its attributes are tables with the same rows.
 */
import { type DataType, isFixed } from "../../../bytes/dtype.js";
import type { Json } from "../../../bytes/json.js";
import { InvalidInput, LimitExceeded } from "../../../errors.js";
import type { NdArray } from "../../../model/array.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import { ndarray, typed } from "../../../model/elements.js";
import type { Columns } from "../../../model/vectors.js";
import { roomLike } from "../../../query/columns.js";
import { AttributeCell } from "../payload/attribute-cell.js";
import { sentinelOf } from "../read/schema.js";
import type { Plan } from "./description.js";
import { checkSame } from "./write-columns.js";
import { type Ids, namesOf } from "./write-ids.js";
import { upTo } from "./write-layout.js";

/** The objects, when all have come. */
export interface ObjectTable {
  readonly rows: number;
  readonly ids: BigInt64Array;
  /** The number of the object in each row, or −1 where an id is only kept free. */
  readonly numbers: Int32Array;
  /** The row of each number. */
  readonly rowOf: Uint32Array;
  /** Of a level that was numbered anew: the ids that its objects have in level 0. */
  readonly level0?: BigInt64Array | undefined;
}

/** Level 0, for a coarser level. */
export interface Finest {
  readonly objects: Objects;
  readonly table: ObjectTable;
  readonly renumber: boolean;
}

export interface Objects {
  readonly count: number;
  /** Refuses what `take` could not. */
  check(ids: Ids, columns: Columns): void;
  /** The number of each id, with the attributes of all of them. */
  take(ids: Ids, columns: Columns): Int32Array;
  /** The number of each id that has come before, else −1. */
  find(ids: Ids): Int32Array;
  /** A new object that nobody has named: its id will be the next after the largest. */
  nameless(): number;
  /** A coarser level has the ids of level 0, and a row for every one of them; or it is numbered anew. */
  finish(finest?: Finest): ObjectTable;
  /** All ids under which objects came. */
  names(): BigInt64Array;
  /** The ids that objects have in the store; undefined for one that never came. */
  idsOf(ids: Ids, table: ObjectTable): (bigint | undefined)[];
  tables(table: ObjectTable): Map<string, Table>;
}

/** An attribute as it is stored: an array with a row for each object or group. */
export interface Table {
  readonly info: AttributeInfo;
  readonly values: NdArray;
  /** What stands for "none". */
  readonly fill: Json;
}

const RENUMBERED: AttributeInfo = {
  name: "level0_object_id",
  dtype: { kind: "int", size: 8, endian: "little" },
  channels: 1,
};
const MOST_ROWS = 2 ** 27; // 1 GiB of ids: who preserves ids beyond that wants "sparse"

/** Objects as they are stored, for coarser levels that are made of that: there they have the ids of the store, whatever they came under. */
export function storedObjects(plan: Plan, { ids, numbers, rows }: ObjectTable): Pick<Finest, "objects" | "table"> {
  const objects = objectsFor({ ...plan, ids: "sparse" });
  objects.take(
    ids.filter((_, row) => numbers[row]! >= 0),
    new Map(),
  );
  return { objects, table: { ...objects.finish(), rows } };
}

export function objectsFor({ ids: mode, attributes }: Plan): Objects {
  const names = namesOf();
  const tables = new Map<string, { readonly info: AttributeInfo; values: Column["values"] }>();
  let declared = attributes?.object;

  function checkColumns(columns: Columns, rows: number): void {
    const known = declared ?? [...columns.values()].map(({ info }) => info);
    for (const [name, column] of columns) {
      const { info, values } = column;
      if (!known.some((own) => own.name === name))
        throw new InvalidInput(
          `a batch has the object attribute ${name}, which the store has not: name it in attributes`,
        );
      const table = tables.get(name);
      if (table !== undefined && Array.isArray(values) !== Array.isArray(table.values))
        throw new InvalidInput(`the object attribute ${name} has texts in one batch and numbers in another`);
      if (table !== undefined && !Array.isArray(values)) checkSame(table.info, column);
      if (values.length !== rows * info.channels)
        throw new InvalidInput(
          `the object attribute ${name} should have ${rows} rows, found ${values.length / info.channels}`,
        );
    }
  }

  function put(columns: Columns, own: Int32Array): void {
    declared ??= [...columns.values()].map(({ info }) => info);
    for (const [name, { info, values }] of columns) {
      const table = tables.get(name) ?? { info, values: roomLike(values, 0) };
      tables.set(name, table);
      const { channels } = info;
      if (table.values.length < names.count * channels) table.values = longer(table, 2 * names.count * channels);
      const to = table.values as unknown[];
      for (let i = 0; i < own.length; i++)
        for (let c = 0; c < channels; c++) to[own[i]! * channels + c] = values[i * channels + c];
    }
  }

  function below({ objects, table, renumber }: Finest): ObjectTable {
    if (!renumber) names.take(objects.names());
    const { ids: given, named } = names.all();
    const ids = BigInt64Array.from(objects.idsOf(given, table), (id, number) => {
      if (id !== undefined && named[number] === 1) return id;
      const what = named[number] === 1 ? `the object ${given[number]}` : "a part without an id";
      throw new InvalidInput(`a coarser level has ${what}, which level 0 has not`);
    });
    if (!renumber) return mode === "sparse" ? inOrder(ids) : withGaps(ids, table.rows);
    const { ids: level0, ...sorted } = inOrder(ids);
    return { ...sorted, ids: level0.map((_, row) => BigInt(row)), level0 };
  }

  return {
    get count() {
      return names.count;
    },
    check(ids, columns) {
      checkColumns(columns, ids.length);
      if (!(ids instanceof BigUint64Array) || mode === "dense") return;
      const large = ids.find((id) => id >= 2n ** 63n);
      if (large !== undefined)
        throw new InvalidInput(`the object id ${large} does not fit the signed 64 bits of the format`, {
          hint: 'Give the objects new ids: ids "dense" (--ids dense).',
        });
    },
    take(ids, columns) {
      const own = names.take(ids);
      put(columns, own);
      return own;
    },
    find: names.find,
    nameless: names.nameless,
    names() {
      const { ids, named } = names.all();
      return ids.filter((_, number) => named[number] === 1);
    },
    finish(finest) {
      if (finest !== undefined) return below(finest);
      const { ids, named } = names.all();
      if (mode === "dense") for (let number = 0; number < ids.length; number++) ids[number] = BigInt(number);
      else if (named.includes(0)) {
        let largest = -1n;
        for (let number = 0; number < ids.length; number++)
          if (named[number] === 1 && ids[number]! > largest) largest = ids[number]!;
        for (let number = 0; number < ids.length; number++) if (named[number] === 0) ids[number] = ++largest;
      }
      return mode === "preserve" ? withGaps(ids) : inOrder(ids);
    },
    idsOf(ids, { ids: own, rowOf, level0 = own }) {
      return Array.from(names.find(ids), (number) => (number < 0 ? undefined : level0[rowOf[number]!]));
    },
    tables(table) {
      const out = new Map<string, Table>();
      for (const info of declared ?? []) {
        const held = tables.get(info.name) ?? { info, values: noValues(info) };
        const own = { ...held.info, absent: held.info.absent ?? absent(held.info) }; // objects may come without a value
        out.set(info.name, tableOf(own, longer(held, names.count * own.channels), table));
      }
      const { level0, rows } = table;
      if (level0 !== undefined) {
        const every = Int32Array.from({ length: rows }, (_, row) => row);
        out.set(RENUMBERED.name, tableOf(RENUMBERED, level0, { rows, numbers: every }));
      }
      return out;
    },
  };
}

function inOrder(ids: BigInt64Array): ObjectTable {
  const rows = ids.length;
  const numbers = new Int32Array(upTo(rows).buffer);
  let sorted = true;
  for (let i = 1; i < rows && sorted; i++) sorted = ids[i - 1]! < ids[i]!;
  if (!sorted) numbers.sort((a, b) => (ids[a]! < ids[b]! ? -1 : 1));
  const rowOf = sorted ? new Uint32Array(numbers.buffer) : new Uint32Array(rows); // mostly both are 0, 1, 2 …
  for (let row = 0; row < rows; row++) rowOf[numbers[row]!] = row;
  return { rows, ids: sorted ? ids : ids.map((_, row) => ids[numbers[row]!]!), numbers, rowOf };
}

/** A row for every id from 0 to the largest, and at least so many. */
function withGaps(ids: BigInt64Array, least = 0): ObjectTable {
  let largest = BigInt(least) - 1n;
  for (const id of ids) {
    if (id < 0n) throw new InvalidInput(`the object id ${id} cannot be preserved: rows start at 0`);
    if (id > largest) largest = id;
  }
  if (largest >= MOST_ROWS)
    throw new LimitExceeded(`preserving the id ${largest} needs as many rows, at most ${MOST_ROWS} are allowed`, {
      hint: 'Keep only the ids that are there: ids "sparse".',
    });
  const rows = Number(largest) + 1;
  const numbers = new Int32Array(rows).fill(-1);
  const rowOf = Uint32Array.from(ids, Number);
  for (let number = 0; number < ids.length; number++) numbers[rowOf[number]!] = number;
  return { rows, ids: BigInt64Array.from({ length: rows }, (_, row) => BigInt(row)), numbers, rowOf };
}

/** Of an attribute that was declared and never came. */
const noValues = ({ dtype }: AttributeInfo): Column["values"] =>
  isFixed(dtype) && dtype.kind !== "utf32" && dtype.kind !== "bytes"
    ? typed({ shape: [0], dtype, data: new Uint8Array() })
    : [];

/** The same values with room for `count`, at least; new rows are absent. */
function longer({ info, values }: { info: AttributeInfo; values: Column["values"] }, count: number): Column["values"] {
  if (values.length >= count) return values;
  const room = roomLike(values, count) as unknown[];
  const nothing = absent(info);
  for (let i = 0; i < count; i++) room[i] = i < values.length ? values[i] : nothing;
  return room as unknown as Column["values"];
}

/** What stands for "none" in a table, as an element of its typed array. */
function absent({ dtype, categories, absent: own }: AttributeInfo): number | bigint | string {
  if (categories !== undefined) return own ?? categories.length;
  if (dtype.kind === "float" && dtype.size === 2) return 0x7e00;
  if (dtype.kind === "datetime" || dtype.kind === "timedelta") return -(2n ** 63n);
  return sentinelOf(dtype) ?? 0;
}

/** Rows in the order of the table. There are no dictionaries here: what has categories becomes texts. */
export function tableOf(
  info: AttributeInfo,
  values: Column["values"],
  { rows, numbers }: Pick<ObjectTable, "rows" | "numbers">,
): Table {
  const { channels, categories } = info;
  const nothing = absent(info);
  const picked = roomLike(values, rows * channels) as unknown[];
  for (let row = 0; row < rows; row++)
    for (let c = 0; c < channels; c++)
      picked[row * channels + c] = numbers[row]! < 0 ? nothing : values[numbers[row]! * channels + c];
  const texts =
    categories !== undefined
      ? Array.from(picked as number[], (code) => categories[Number(code)] ?? "")
      : Array.isArray(values)
        ? (picked as string[])
        : undefined;
  const dtype = texts === undefined ? info.dtype : textType(info.dtype, texts);
  const shape = channels === 1 ? [rows] : [rows, channels];
  const column = { info: { ...info, dtype, categories: undefined }, values: (texts ?? picked) as Column["values"] };
  const data = AttributeCell.encode(column);
  const sentinel = sentinelOf(dtype);
  return {
    info: column.info,
    values: ndarray(shape, data, dtype),
    fill: (Number.isNaN(sentinel) ? "NaN" : (sentinel ?? (dtype.kind === "bool" ? false : null))) as Json,
  };
}

/** Wide enough for the longest. */
function textType(own: DataType, texts: readonly string[]): DataType {
  if (isFixed(own) && (own.kind === "utf32" || own.kind === "bytes")) return own;
  let longest = 1;
  for (const text of texts) longest = Math.max(longest, [...text].length);
  return { kind: "utf32", size: 4 * longest, endian: "little" };
}
