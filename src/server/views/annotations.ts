/**
 * Points, lines and the segments of paths as annotations with a spatial index, made cell by cell.
 *
 *     info · spatial0/0_0_0 · spatial1/1_0_1 … · by_id/ID · related0/ID
 *
 * What a cell holds, and under which ids, is `Items`: points.ts has what belongs to no object by its number in the dataset, paths.ts objects.
 * A cell without anything is an empty list, not absent: a client takes note of what is missing.
 */
import { dimensionsOf } from "../../convert/precomputed/frame.js";
import type { Publication } from "../../convert/precomputed/publication.js";
import { cellBox } from "../../format/precomputed/annotation/cells.js";
import { around } from "../../format/precomputed/annotation/choices.js";
import {
  AnnotationInfo,
  type AnnotationProperty,
  type AnnotationType,
} from "../../format/precomputed/annotation/info.js";
import { Layout } from "../../format/precomputed/annotation/layout.js";
import { type Annotations, encodeList, encodeOne, encodeRecords } from "../../format/precomputed/annotation/list.js";
import type { CallOptions } from "../../store/types.js";
import { type Band, bandsOf, densityOf, LIMIT } from "./bands.js";
import { type Computation, document, one } from "./computed.js";
import { idOf } from "./objects.js";

/** A cell that is to be filled. */
export interface Cell extends Band {
  readonly lower: readonly number[];
  readonly cell: readonly number[];
  /** Lower corner, then upper corner; finite, a little wider than the cell. */
  readonly box: readonly number[];
}

/** What annotations are made of. */
export interface Items {
  readonly type: AnnotationType;
  readonly properties: readonly AnnotationProperty[];
  /** Annotations for each vertex, about. */
  readonly share: number;
  /** Those of the band that touch the cell, in their random order. */
  inCell(cell: Cell, options: CallOptions): Promise<Annotations>;
  /** The one by this id; undefined where there is none. */
  byId(id: bigint, options: CallOptions): Promise<Annotations | undefined>;
  ids(options: CallOptions): AsyncIterable<bigint>;
  /** What annotations are related to, where they are to anything. */
  readonly related?: RelatedItems | undefined;
}

/** Annotations by what they are related to. */
export interface RelatedItems {
  readonly names: readonly string[];
  /** What the annotation by this id is related to, by each name. */
  of(id: bigint, options: CallOptions): Promise<BigUint64Array[]>;
  /** Those that are related to it by a name; undefined where none is. */
  to(name: string, id: bigint, options: CallOptions): Promise<Annotations | undefined>;
  ids(name: string, options: CallOptions): Promise<Iterable<bigint>>;
}

/** Annotations, cell by cell. */
export async function annotationView(publication: Publication, items: Items, limit = LIMIT): Promise<Computation> {
  const { source, level, options, note, reading } = publication;
  const { type, related } = items;
  const names = related?.names ?? [];
  const dimensions = dimensionsOf(source, options.resolution, note);
  const properties = Layout.sorted(items.properties);
  const { lower, upper } = around(source.bounds.min, source.bounds.max);
  const bands = bandsOf({ dimensions, lower, upper }, await densityOf(level, reading), items.share, limit);
  const info: AnnotationInfo = {
    ...{ type, dimensions, lower, upper, properties },
    relationships: names.map((id, i) => ({ id, key: `related${i}`, sharding: null })),
    byId: { key: "by_id", sharding: null },
    spatial: bands.map(({ gridShape, chunkSize }, i) => ({
      ...{ key: `spatial${i}`, sharding: null, gridShape, chunkSize, limit },
    })),
  };
  const form = { info, layout: Layout.of(properties) };
  const size = lower.map((low, axis) => upper[axis]! - low);

  const listOf = (found: Annotations): Uint8Array =>
    encodeList(
      encodeRecords(found, form),
      found.ids,
      Uint32Array.from(found.ids, (_, i) => i),
    );

  function cellOf(number: number, name: string): Cell | undefined {
    const band = bands[number];
    const cell = name.split("_").map((text) => (/^(0|[1-9]\d{0,9})$/.test(text) ? Number(text) : -1));
    if (band === undefined || cell.length !== lower.length) return undefined;
    if (cell.some((index, axis) => index < 0 || index >= band.gridShape[axis]!)) return undefined;
    const bounds = cellBox(info, info.spatial[number]!, cell);
    // Annotations are float32: what lies on a border there may lie a little beyond it in the data.
    const slack = (axis: number): number => 1e-6 * (size[axis]! + Math.abs(lower[axis]!) + Math.abs(upper[axis]!));
    const box = [
      ...lower.map((low, axis) => Math.max(bounds[axis]!, low) - slack(axis)),
      ...upper.map((high, axis) => Math.min(bounds[lower.length + axis]!, high) + slack(axis)),
    ];
    return { ...band, lower, cell, box };
  }

  return {
    async compute(name, call) {
      if (name === "info") return one(name, document(AnnotationInfo.format(info)));
      const [, folder, number, rest] = /^(by_id|spatial|related)(\d{0,2})\/([\d_]+)$/.exec(name) ?? [];
      if (folder === undefined || (number === "") !== (folder === "by_id")) return undefined;
      if (folder === "spatial") {
        const cell = cellOf(Number(number), rest!);
        return cell && one(name, listOf(await items.inCell(cell, call)));
      }
      const id = idOf(rest!);
      if (id === undefined) return undefined;
      if (folder === "related") {
        const by = names[Number(number)];
        const found = by === undefined ? undefined : await related!.to(by, id, call);
        return found && one(name, listOf(found));
      }
      const found = await items.byId(id, call);
      return found && one(name, encodeOne(encodeRecords(found, form), 0, (await related?.of(id, call)) ?? []));
    },
    async *names(call) {
      yield "info";
      for (const [i, { gridShape }] of bands.entries())
        for (const cell of cellsOf(gridShape)) yield `spatial${i}/${cell.join("_")}`;
      for await (const id of items.ids(call)) yield `by_id/${id}`;
      for (const [i, by] of names.entries()) for (const id of await related!.ids(by, call)) yield `related${i}/${id}`;
    },
  };
}

function* cellsOf(gridShape: readonly number[]): Generator<readonly number[]> {
  const cell = gridShape.map(() => 0);
  for (;;) {
    yield cell;
    let axis = 0;
    while (axis < cell.length && ++cell[axis]! >= gridShape[axis]!) cell[axis++] = 0;
    if (axis === cell.length) return;
  }
}
