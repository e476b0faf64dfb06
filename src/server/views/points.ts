/**
 * What belongs to no object as annotations: the vertices of a point cloud, or the segments of paths, each by the number of its (first)
 * vertex in the dataset, counted from 1, chunk after chunk. A path without an object ends with its chunk.
 */
import { fieldsFor, propertyOf } from "../../convert/precomputed/annotations.js";
import { numbersOf } from "../../convert/precomputed/numbers.js";
import type { Publication } from "../../convert/precomputed/publication.js";
import { Tally } from "../../convert/precomputed/tally.js";
import { touchesCell } from "../../format/precomputed/annotation/cells.js";
import type { Tile } from "../../model/source.js";
import { pick } from "../../query/columns.js";
import type { Items } from "./annotations.js";
import { type Gathered, gather } from "./gather.js";
import { drawn } from "./objects.js";

/** Vertices, one by one, or each with the next one of its part. */
export async function looseItems(publication: Publication, type: "point" | "line"): Promise<Items> {
  const { level, reading, schema } = publication;
  const points = type === "point" ? 1 : 2;
  const own = { object: [], ...(type === "line" && { vertex: [] }) };
  const fields = (await fieldsFor({ ...publication, schema: { ...schema, ...own } }, type)).vertex;
  const table = await level.chunks(reading);
  const { dims } = level;
  const all = Array.from({ length: table.count }, (_, chunk) => chunk);
  const counts = await level.counts(all, reading);
  const starts = new Float64Array(table.count + 1);
  for (const chunk of all) starts[chunk + 1] = starts[chunk]! + counts[chunk]!;
  const want = { positions: true, vertex: [...new Set(fields.map(({ info }) => info.name))], fragment: [] };
  const [min, max] = [new Float64Array(dims), new Float64Array(dims)];
  const meets = (chunk: number, box: readonly number[]): boolean => {
    table.box(chunk, min, max);
    for (let axis = 0; axis < dims; axis++) if (min[axis]! > box[dims + axis]! || max[axis]! < box[axis]!) return false;
    return true;
  };

  /** The vertices of a tile with which an annotation begins. */
  function* begins({ parts }: Tile): Generator<number> {
    for (let part = 0; part + 1 < parts.length; part++)
      for (let v = parts[part]!; v + points <= parts[part + 1]!; v++) yield v;
  }

  /** These of a tile. */
  function some(tile: Tile, places: Float32Array, rows: readonly number[]): Gathered {
    const start = starts[tile.chunk]!;
    const ends = rows.flatMap((row) => Array.from({ length: points }, (_, k) => row + k));
    return {
      ids: rows.map((row) => BigInt(start + row + 1)),
      order: rows.map((row) => drawn(start + row)),
      points: pick(places, dims, ends),
      columns: fields.map((field) => numbersOf(tile.vertexColumns.get(field.info.name)!, field, rows).values),
    };
  }

  return {
    type,
    properties: fields.map(propertyOf),
    share: 1,
    async inCell({ box, from, to, cell, ...grid }, { signal }) {
      const found: Gathered[] = [];
      const chunks = all.filter((chunk) => counts[chunk]! > 0 && meets(chunk, box));
      for await (const tile of level.tiles(chunks, want, { ...reading, signal })) {
        const places = new Tally().inFloat32(tile.positions);
        const rows: number[] = [];
        for (const v of begins(tile)) {
          const order = drawn(starts[tile.chunk]! + v);
          if (order >= from && order < to && touchesCell(type, places, v, v + points, grid, cell)) rows.push(v);
        }
        if (rows.length > 0) found.push(some(tile, places, rows));
      }
      return gather(found, fields, points * dims, dims);
    },
    async byId(id, { signal }) {
      const number = Number(id) - 1;
      if (!(number >= 0 && number < starts[table.count]!)) return undefined;
      let chunk = 0;
      for (let high = table.count - 1; chunk < high; ) {
        const middle = (chunk + high + 1) >> 1;
        if (starts[middle]! <= number) chunk = middle;
        else high = middle - 1;
      }
      for await (const tile of level.tiles([chunk], want, { ...reading, signal })) {
        const row = number - starts[chunk]!;
        if (![...begins(tile)].includes(row)) return undefined;
        return gather([some(tile, new Tally().inFloat32(tile.positions), [row])], fields, points * dims, dims);
      }
      return undefined;
    },
    async *ids({ signal }) {
      if (type === "point") for (let id = 1; id <= starts[table.count]!; id++) yield BigInt(id);
      else
        for await (const tile of level.tiles(all, { ...want, positions: false }, { ...reading, signal }))
          for (const v of begins(tile)) yield BigInt(starts[tile.chunk]! + v + 1);
    },
  };
}
