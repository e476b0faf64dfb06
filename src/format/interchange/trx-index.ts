/** The streamlines of a TRX in pieces: the offsets are read whole, everything else row by row. */
import { halfToNumber } from "../../bytes/half.js";
import { type NumericType, numericView } from "../../codec/numeric.js";
import type { NumericArray } from "../../codec/types.js";
import { Corrupt, LimitExceeded } from "../../errors.js";
import { withLimits } from "../../limits.js";
import type { Column } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { Columns, Positions } from "../../model/vectors.js";
import { ColumnsBuilder } from "../../query/columns.js";
import type { RowGroups } from "../rows/row-source.js";
import { Stretches, schemaOf } from "./streamlines.js";
import type { Trx, TrxArray } from "./trx.js";
import type { PieceIndex } from "./types.js";

export async function indexTrx(trx: Trx, options: ReadOptions): Promise<PieceIndex> {
  const { where, vertices, streamlines, arrays } = trx;
  const inFolder = (name: string): TrxArray[] => arrays.filter(({ folder }) => folder === name);
  const [perVertex, perObject] = [inFolder("dpv"), inFolder("dps")];
  const notes: string[] = [];
  for (const array of perVertex) mustHave(array, vertices, where);
  for (const array of perObject) mustHave(array, streamlines, where);
  const positions = inFolder("").find(({ info }) => info.name === "positions");
  if (positions !== undefined) mustHave(positions, vertices, where);
  else if (vertices > 0) throw new Corrupt(`${where} has no positions`, { where });
  if (positions !== undefined && (positions.info.channels !== 3 || positions.info.dtype.kind !== "float"))
    throw new Corrupt(`${where}: ${positions.key} should be positions.3 of floats`, { where });
  const offsets = await readOffsets(trx, options);
  const row = (array: TrxArray): number => array.info.dtype.size * array.info.channels;
  const vertexBytes = [...(positions ? [positions] : []), ...perVertex].reduce((sum, array) => sum + row(array), 0);
  const objectBytes = perObject.reduce((sum, array) => sum + row(array), 0);
  const stretches = new Stretches(0);
  const most = withLimits(options.limits).chunkBytes;
  for (let i = 0; i < streamlines; i++) {
    const count = offsets[i + 1]! - offsets[i]!;
    if (count * vertexBytes > most)
      throw new LimitExceeded(`${where}: streamline ${i} has ${count * vertexBytes} bytes, at most ${most} are read`, {
        where,
      });
    stretches.add(count, offsets[i + 1]! * vertexBytes + (i + 1) * objectBytes);
  }
  const found = stretches.done();
  const groups = await readGroups(trx, notes, options);
  const infos = (list: readonly TrxArray[]) => list.map(({ info }) => info);
  const groupInfos = groups === undefined ? [] : [...groups.columns.values()].map(({ info }) => info);
  return {
    ...found,
    schema: schemaOf(infos(perVertex), infos(perObject), groupInfos),
    notes,
    groups,
    place({ piece, vertex, axis }) {
      const at = offsets[found.objects!.starts[piece]!]! + vertex;
      return { place: `byte ${(3 * at + axis) * positions!.info.dtype.size} of ${positions!.key}` };
    },
    async load(piece, now) {
      const [first, last] = [found.objects!.starts[piece]!, found.objects!.starts[piece + 1]!];
      const from = offsets[first]!;
      const count = offsets[last]! - from;
      const [raw, vertexColumns, objectColumns] = await Promise.all([
        positions === undefined ? new Uint8Array() : trx.read(positions, from, count, now),
        columns(trx, perVertex, from, count, now),
        columns(trx, perObject, first, last - first, now),
      ]);
      const parts = new Uint32Array(last - first + 1);
      for (let i = 0; i < parts.length; i++) parts[i] = offsets[first + i]! - from;
      return { positions: widened(raw, positions), parts, vertexColumns, objectColumns };
    },
  };
}

function mustHave({ key, rows, info }: TrxArray, expected: number, where: string): void {
  if (rows !== expected)
    throw new Corrupt(`${where}: ${key} has ${rows} rows of ${info.channels}, expected ${expected}`, { where });
}

/** Where each streamline begins, and where the last one ends; some writers leave that one out. */
async function readOffsets(trx: Trx, options: ReadOptions): Promise<Float64Array> {
  const { where, arrays, streamlines, vertices } = trx;
  const array = arrays.find(({ folder, info }) => folder === "" && info.name === "offsets");
  if (array === undefined && streamlines === 0) return new Float64Array(1);
  if (array === undefined) throw new Corrupt(`${where} has no offsets`, { where });
  const { rows, info, key } = array;
  if (info.dtype.kind !== "uint" || info.channels !== 1 || (rows !== streamlines + 1 && rows !== streamlines))
    throw new Corrupt(`${where}: ${key} has ${rows} rows, expected ${streamlines + 1} of uint32 or uint64`, { where });
  const values = valuesOf(await trx.read(array, 0, rows, options), array);
  const offsets = new Float64Array(streamlines + 1).fill(vertices);
  for (let i = 0; i < rows; i++) offsets[i] = Number(values[i]); // what is beyond 2^53 is beyond the vertices, too
  for (let i = 0; i <= streamlines; i++)
    if (offsets[i]! < (i === 0 ? 0 : offsets[i - 1]!) || offsets[i]! > vertices)
      throw new Corrupt(
        `${where}: streamline ${i} begins at vertex ${offsets[i]}, which is no place after the one before`,
        { where },
      );
  if (streamlines > 0 && (offsets[0] !== 0 || offsets[streamlines] !== vertices))
    throw new Corrupt(
      `${where}: ${key} goes from ${offsets[0]} to ${offsets[streamlines]}, expected 0 to ${vertices}`,
      { where },
    );
  return offsets;
}

const valuesOf = (bytes: Uint8Array, { info }: TrxArray): NumericArray =>
  info.dtype.kind === "bool" ? bytes : numericView(info.dtype as NumericType, bytes);

function widened(bytes: Uint8Array, array: TrxArray | undefined): Positions {
  if (array === undefined) return new Float32Array();
  const values = valuesOf(bytes, array);
  return array.info.dtype.size === 2 ? Float32Array.from(values as Uint16Array, halfToNumber) : (values as Positions);
}

async function columns(
  trx: Trx,
  arrays: readonly TrxArray[],
  from: number,
  count: number,
  options: ReadOptions,
): Promise<Columns> {
  const found = arrays.map(async (array): Promise<[string, Column]> => {
    const values = valuesOf(await trx.read(array, from, count, options), array);
    return [array.info.name, { info: array.info, values }];
  });
  return new Map(await Promise.all(found));
}

const NAME = { name: "name", dtype: { kind: "string" }, channels: 1 } as const;

/** The groups, by name, with what is known of each. */
async function readGroups(trx: Trx, notes: string[], options: ReadOptions): Promise<RowGroups | undefined> {
  const { where, arrays, streamlines } = trx;
  const groups = arrays.filter(({ folder }) => folder === "groups");
  const orphan = arrays.find(
    ({ folder }) => folder.startsWith("dpg/") && !groups.some(({ info }) => folder === `dpg/${info.name}`),
  );
  if (orphan !== undefined) notes.push(`${where} has ${orphan.key}, and no such group`);
  if (groups.length === 0) return undefined;
  const members: Uint32Array[] = [];
  const builder = new ColumnsBuilder(groups.length);
  const types = new Map<string, string>();
  for (const [row, group] of groups.entries()) {
    const { key, info, rows } = group;
    if ((info.dtype.kind !== "uint" && info.dtype.kind !== "int") || info.channels !== 1)
      throw new Corrupt(`${where}: ${key} should be numbers of streamlines`, { where });
    const values = valuesOf(await trx.read(group, 0, rows, options), group);
    const own = new Uint32Array(rows);
    for (let i = 0; i < rows; i++) {
      if (!(values[i]! >= 0 && values[i]! < streamlines))
        throw new Corrupt(`${where}: ${key} names streamline ${values[i]} of ${streamlines}`, { where });
      own[i] = Number(values[i]);
    }
    members.push(own);
    builder.put(new Map([["name", { info: NAME, values: [info.name] }]]), 0, 1, row);
    for (const array of arrays.filter(({ folder }) => folder === `dpg/${info.name}`)) {
      const type = JSON.stringify([array.info.dtype, array.info.channels]);
      if (array.info.name === "name" || (types.get(array.info.name) ?? type) !== type || array.rows !== 1)
        notes.push(`${where}: ${array.key} is not read, because it is not what others of its name are`);
      else {
        types.set(array.info.name, type);
        builder.put(await columns(trx, [array], 0, 1, options), 0, 1, row);
      }
    }
  }
  return { members, columns: builder.done() };
}
