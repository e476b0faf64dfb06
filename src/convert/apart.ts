/**
 * Paths that were cut, for targets that hold one piece for each object: the first piece keeps the id of its object, each further one gets an
 * id that nobody has, and all of them have the object's attributes, and its id as another. A piece of a line has two ends, or is none.
 */
import type { Ids } from "../format/rows/row-source.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import type { ReadOptions } from "../model/dataset.js";
import type { ObjectSource } from "../model/source.js";
import type { Batch, SelectOptions } from "../model/vectors.js";
import { pickRows } from "../query/columns.js";
import { Seen } from "./empty.js";
import type { Feed } from "./feed.js";
import { passing } from "./mask.js";

/** The feed with each piece as an object; `attributes` are those that were asked for, all where nothing is said. */
export async function apart(
  feed: Feed,
  objects: ObjectSource,
  attributes: readonly string[] | undefined,
  options: ReadOptions,
): Promise<Feed> {
  const { url, schema } = feed;
  const losses = [...feed.losses];
  const name = ["object", "object_id", "object_"].find((free) => schema.object.every((own) => own.name !== free))!;
  const isUnsigned = (await objects.ids(new Uint32Array(), options)) instanceof BigUint64Array;
  const dtype = { kind: isUnsigned ? "uint" : "int", size: 8, endian: "little" } as const;
  const info: AttributeInfo = { name, dtype, channels: 1 };
  const isAsked = (asked = attributes): boolean =>
    asked === undefined || asked.includes(name) || asked.includes(`object.${name}`);
  let piecesOf: Map<bigint, bigint[]> | undefined; // by object, once all was gone through

  async function* batches(wanted: SelectOptions = {}): AsyncGenerator<Batch> {
    const own = new Map<bigint, bigint[]>();
    let [free, isSplit, hasPoints] = [undefined as (() => bigint) | undefined, false, false];
    for await (const batch of feed.batches(wanted)) {
      const { ids, objects: owners, ...left } = feed.geometry === "lines" ? withoutPoints(batch) : batch;
      hasPoints ||= left.parts.length < batch.parts.length;
      const [rows, objectOf] = rowsOfPieces(left.parts, owners, ids.length);
      if (rows.length > ids.length) free ??= freeIds(await objects.ids(undefined, options));
      const were = rows.map((row) => ids[row]!);
      const now = were.map((id, row) => (row < ids.length ? id : free!()));
      for (const [row, id] of now.entries()) {
        const known = own.get(were[row]!);
        if (known === undefined) own.set(id, [id]);
        else known.push(id);
      }
      isSplit ||= rows.length > ids.length;
      const objectColumns = new Map(pickRows(left.objectColumns, rows));
      if (isAsked(wanted.attributes)) objectColumns.set(name, { info, values: like(ids, were) as Column["values"] });
      yield { ...left, objects: objectOf, ids: like(ids, now), objectColumns };
    }
    piecesOf = own;
    const whose = isAsked() ? `, and the object's is the attribute ${name}` : "";
    if (isSplit) tell(`that pieces of a cut path are one object: those after the first have new ids${whose}`);
    if (hasPoints) tell("lines of which only a point is left");
  }

  function tell(sentence: string): void {
    const told = `${url}: ${sentence}`;
    if (!losses.includes(told)) losses.push(told);
  }

  return {
    ...feed,
    schema: { ...schema, object: [...schema.object, ...(isAsked() ? [info] : [])] },
    losses,
    batches,
    async groups() {
      const { members, columns } = await feed.groups();
      if (members.length > 0 && piecesOf === undefined) for await (const _ of batches({ attributes: [] }));
      const left = members.map((ids) => Array.from(ids).flatMap((id) => piecesOf!.get(id) ?? []));
      const rows = left.flatMap((ids, group) => (ids.length > 0 ? [group] : []));
      return { members: rows.map((group) => like(members[group]!, left[group]!)), columns: pickRows(columns, rows) };
    },
  };
}

const like = (ids: Ids, values: readonly bigint[]): Ids =>
  ids instanceof BigUint64Array ? BigUint64Array.from(values) : BigInt64Array.from(values);

/** Without the lines of which one end is left. */
const withoutPoints = (batch: Batch): Batch => passing(batch, batch.positions, [(_, from, to) => to - from > 1], 1);

/** For each object of a batch, and after them for each further piece, its row; and which of these each part is. */
function rowsOfPieces(parts: Uint32Array, objects: Int32Array, count: number): [number[], Int32Array] {
  const rows = Array.from({ length: count }, (_, row) => row);
  const has = new Uint8Array(count);
  const objectOf = objects.map((row, part) => {
    if (row < 0 || parts[part] === parts[part + 1]) return row;
    if (has[row] === 1) return rows.push(row) - 1;
    has[row] = 1;
    return row;
  });
  return [rows, objectOf];
}

/** Numbers that none of these is: those after the largest, as long as there are enough. */
function freeIds(ids: Ids): () => bigint {
  const seen = new Seen();
  seen.add(ids);
  const has = seen.finder();
  let largest = -1n;
  for (const id of ids) if (id > largest) largest = id;
  let next = largest < 2n ** 62n ? largest + 1n : 1n;
  return () => {
    while (has(next)) next++;
    return next++;
  };
}
