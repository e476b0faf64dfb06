/**
 * Objects as annotations: points that are one each, lines, and the segments of streamlines and other paths. An object is in one level
 * with all of its segments, so that an overview has few paths, but whole ones.
 *
 * | geometry                        | annotation | id                                                       |
 * |---------------------------------|------------|----------------------------------------------------------|
 * | points, each an object          | point      | the object's                                             |
 * | lines, each an object           | line       | the object's                                             |
 * | streamlines, polylines          | a line for each segment | 2^24 × the object's row, counted from 1, + the segment's number |
 */
import { fieldsFor, propertyOf } from "../../convert/precomputed/annotations.js";
import { numbersOf } from "../../convert/precomputed/numbers.js";
import type { Publication } from "../../convert/precomputed/publication.js";
import { Tally } from "../../convert/precomputed/tally.js";
import { touchesCell } from "../../format/precomputed/annotation/cells.js";
import type { Batch, Query } from "../../model/vectors.js";
import type { CallOptions } from "../../store/types.js";
import type { Cell, Items } from "./annotations.js";
import { type Gathered, gather } from "./gather.js";
import { drawn, viewIds } from "./objects.js";
import { relatedBy } from "./related.js";

const SEGMENTS = 24; // bits for the number of a segment in its path
/** Up to so many objects of a band are asked for by name; beyond, all that touch a cell are read, and the others left out. */
const NAMED = 20_000;

/** Objects, or their segments. `bySegment`: an object has several. */
export async function objectItems(publication: Publication, bySegment: boolean): Promise<Items> {
  const { source, geometry, level, reading, batchVertices, schema } = publication;
  const objects = level.objects!;
  const type = geometry === "points" ? "point" : "line";
  const { all: fields, related: others } = await fieldsFor(
    { ...publication, schema: type === "point" ? schema : { ...schema, vertex: [] } },
    type,
  );
  const ids = await viewIds(objects, reading);
  const rows = ids.own.length;
  const byOrder = Uint32Array.from({ length: rows }, (_, row) => row).sort((a, b) => drawn(a) - drawn(b));
  const { dims } = level;
  const points = type === "point" ? 1 : 2;
  const ofVertex = new Set(schema.vertex.map(({ name }) => name));
  const attributes = fields.map(
    ({ info }) => `${ofVertex.has(info.name) && type === "point" ? "vertex" : "object"}.${info.name}`,
  );

  const nameOf = (row: number, number: number): bigint =>
    bySegment ? (BigInt(row + 1) << BigInt(SEGMENTS)) + BigInt(number) : ids.all[row]!;

  /** What of a batch passes, by the row of its object and its number there. */
  async function some(
    batch: Batch,
    passes: (row: number, at: number, float32: Float32Array, number: number) => boolean,
    { signal }: CallOptions,
  ): Promise<Gathered> {
    const float32 = new Tally().inFloat32(batch.positions);
    const known = await objects.rowsOf(Array.from(batch.ids as BigInt64Array), { ...reading, signal });
    const found = { ids: [] as bigint[], order: [] as number[], points: [] as number[] };
    const [owners, vertices]: [number[], number[]] = [[], []];
    const next = new Uint32Array(batch.ids.length);
    for (let p = 0; p < batch.objects.length; p++) {
      const own = batch.objects[p]!;
      if (own < 0) continue;
      const row = known[own]!;
      for (let v = batch.parts[p]!; v + points <= batch.parts[p + 1]!; v++) {
        const number = next[own]!++;
        if ((number > 0 && !bySegment) || number >= 2 ** SEGMENTS || !passes(row, v, float32, number)) continue;
        found.ids.push(nameOf(row, number));
        found.order.push(drawn(row));
        for (let k = v * dims; k < (v + points) * dims; k++) found.points.push(float32[k]!);
        owners.push(own);
        vertices.push(v);
      }
    }
    const columns = fields.map((field, f) => {
      const isVertex = attributes[f]!.startsWith("vertex.");
      const column = (isVertex ? batch.vertexColumns : batch.objectColumns).get(field.info.name)!;
      return numbersOf(column, field, isVertex ? vertices : owners).values;
    });
    return { ...found, columns };
  }

  async function ask(query: Query, passes: Parameters<typeof some>[1], call: CallOptions) {
    const found: Gathered[] = [];
    const question = source.select({ level: 0, geometry, ...query });
    for await (const batch of question.batches({ ...reading, ...call, batchVertices, attributes }))
      if (batch.repeats !== true) found.push(await some(batch, passes, call));
    return gather(found, fields, points * dims, dims);
  }

  /** The objects of a band, where they are few. */
  function namedIn({ from, to }: Cell): Iterable<bigint> | undefined {
    const first = lowerBound(byOrder, from);
    const last = lowerBound(byOrder, to);
    return last - first > NAMED ? undefined : Array.from(byOrder.subarray(first, last), (row) => ids.own[row]!);
  }

  // Of the segments of paths each would be related to all that its path is: many times the same.
  const related = bySegment || others.length === 0 ? undefined : relatedBy(publication, others, ids.own);

  return {
    type,
    related: related && {
      names: related.names,
      of: (id, call) => related.of(ids.rowOf(id), call),
      async to(name, id, call) {
        const members = await related.to(name, id, call);
        return members.length === 0 ? undefined : ask({ object: members }, () => true, call);
      },
      ids: related.ids,
    },
    properties: fields.map(propertyOf),
    share: bySegment ? 1 : 1 / points,
    async inCell(cell, { signal }) {
      const { box, from, to, cell: at, ...grid } = cell;
      const inBand = (row: number): boolean => drawn(row) >= from && drawn(row) < to;
      const touches = (row: number, v: number, float32: Float32Array): boolean =>
        inBand(row) && touchesCell(type, float32, v, v + points, grid, at);
      return ask({ box, object: namedIn(cell) }, touches, { signal });
    },
    async byId(id, { signal }) {
      const row = bySegment ? Number(id >> BigInt(SEGMENTS)) - 1 : ids.rowOf(id);
      const wanted = bySegment ? Number(id & BigInt(2 ** SEGMENTS - 1)) : 0;
      if (!(row >= 0 && row < rows)) return undefined;
      const found = await ask({ object: [ids.own[row]!] }, (_row, _at, _points, number) => number === wanted, {
        signal,
      });
      return found.ids.length === 0 ? undefined : found;
    },
    async *ids({ signal }) {
      if (!bySegment) {
        yield* ids.all;
        return;
      }
      const question = source.select({ level: 0, geometry });
      for await (const batch of question.batches({ ...reading, signal, batchVertices, attributes: [] })) {
        const known = await objects.rowsOf(Array.from(batch.ids as BigInt64Array), { ...reading, signal });
        const segments = new Uint32Array(batch.ids.length);
        for (let p = 0; p < batch.objects.length; p++)
          if (batch.objects[p]! >= 0) segments[batch.objects[p]!]! += batch.parts[p + 1]! - batch.parts[p]! - 1;
        for (const [own, count] of segments.entries())
          for (let number = 0; number < count; number++) yield nameOf(known[own]!, number);
      }
    },
  };

  /** The first place in the random order whose number is not below. */
  function lowerBound(order: Uint32Array, number: number): number {
    let [low, high] = [0, order.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (drawn(order[middle]!) < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
