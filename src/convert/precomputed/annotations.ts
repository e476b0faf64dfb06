/**
 * Points, lines and paths as annotations.
 *
 * | geometry                            | annotations                                                                     |
 * |-------------------------------------|---------------------------------------------------------------------------------|
 * | points                              | points, numbered from 1, or by their attribute `id` where that is uint64; the objects that they belong to are the relationship `object` |
 * | points that were ellipsoids         | ellipsoids, as the attributes `annotation_type` and `radii` say                 |
 * | lines                               | lines, or boxes where `annotation_type` says so                                 |
 * | polylines, streamlines              | polylines                                                                       |
 *
 * The attributes of objects, and of points, that `relationships` names are relationships, 64 bits exact; a point that is an object of its own, the only one of it,
 * has its object's id, and its object is no relationship.
 *
 * Attributes become properties: numbers as they are, texts of objects as codes with labels where there are few. All annotations are
 * gathered before they are written, since what goes where in the spatial index depends on all of them.
 */

import { U64 } from "../../bytes/u64.js";
import type { NumericArray } from "../../codec/types.js";
import { type AnnotationProperty, type AnnotationType, channelsOf } from "../../format/precomputed/annotation/info.js";
import type { Annotations } from "../../format/precomputed/annotation/list.js";
import { createAnnotations } from "../../format/precomputed/annotation/write.js";
import type { AttributeInfo, Column } from "../../model/attributes.js";
import type { Batch, Columns } from "../../model/vectors.js";
import { widened } from "../../query/columns.js";
import type { Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import type { ConvertReport } from "../arrays.js";
import { coarserLevels } from "../losses.js";
import { dimensionsOf } from "./frame.js";
import { type Field, fieldsOf, numbersOf, typeFor } from "./numbers.js";
import {
  FILES,
  loseAttributes,
  type Publication,
  type PublishedIds,
  publishedIds,
  writingInto,
} from "./publication.js";
import { Tally } from "./tally.js";

const OBJECT = "object";
const MOST_LABELS = 256;

export async function publishAnnotations(publication: Publication, store: Store, at: Prefix): Promise<ConvertReport> {
  const { source, geometry, level, options, lose, note, reading, batchVertices } = publication;
  const type = typeOf(publication);
  const ids = await publishedIds(publication);
  const hasObjects = level.objects !== undefined;
  const fields = await fieldsFor(publication, type);
  loseAttributes(publication, ["annotation_type", "dimensions", "relationships"]);
  const { relationships: old } = source.attributes;
  const relationships = [...fields.related, ...fields.relatedPoints].map(({ name }) => name);
  const lost = (Array.isArray(old) ? old : []).filter((name) => !relationships.includes(String(name)));
  if (lost.length > 0) lose(`the relationships ${lost.join(", ")}`);
  // Points that are objects, one each, are annotations by their own ids.
  const alone = type === "point" && hasObjects && (await areAlone(publication));
  if (alone) note("points are read with their ids as an attribute, not as objects");
  const coarser = coarserLevels(source);
  if (coarser > 0) lose(`its ${coarser} coarser levels: the spatial index has samples of its own`);
  const groups = await source.groups(0, reading);
  if (groups.length > 0) lose(`its ${groups.length} groups`);
  const named = type === "point" ? fields.id : undefined;
  const writer = await createAnnotations(
    store,
    at,
    {
      type,
      dimensions: dimensionsOf(source, options.resolution, note),
      properties: fields.all.map(propertyOf),
      relationships: [...(type === "point" && hasObjects && !alone ? [OBJECT] : []), ...relationships],
    },
    {
      ...writingInto(store, publication),
      sharded: options.sharded ?? (source.levels[0]?.vertices ?? FILES) >= FILES,
    },
  );
  const tally = new Tally();
  try {
    for await (const batch of source.select({ level: 0, geometry }).batches({ ...reading, batchVertices })) {
      if (batch.repeats === true) continue;
      const own =
        type === "point"
          ? pointsOf(batch, ids, named, hasObjects && !alone, alone, tally)
          : partsOf(batch, type, ids, tally);
      const properties = new Map(
        fields.all.map((field): [string, NumericArray] => {
          const ofVertex = fields.vertex.includes(field);
          const column = (ofVertex ? batch.vertexColumns : batch.objectColumns).get(field.info.name)!;
          const { values, changed } = numbersOf(column, field, ofVertex ? undefined : own.objects);
          tally.change(field.info.name, changed);
          return [field.id, values];
        }),
      );
      const related = new Map([
        ...(own.annotations.related ?? []),
        ...relatedOf(batch.objectColumns, fields.related, own.objects),
        ...relatedOf(batch.vertexColumns, fields.relatedPoints, own.annotations.ids),
      ]);
      await writer.add({ ...own.annotations, properties, related });
      tally.vertices += batch.positions.length / batch.dims;
      tally.objects += batch.ids.length;
      publication.progress(tally.vertices);
    }
    tally.tell(ids.count, lose);
    const { files, warnings } = await writer.commit();
    for (const warning of warnings) note(warning);
    const { losses, notes } = publication;
    return { chunksCopied: 0, chunksRecoded: files, ...tally.counts(), losses, notes };
  } catch (error) {
    await writer.abort();
    throw error;
  }
}

function typeOf({ source, geometry, level, schema }: Publication): AnnotationType {
  const { annotation_type: was } = source.attributes;
  const isObjects = level.objects !== undefined;
  if (geometry === "points") return was === "ellipsoid" && isObjects && radiiOf(schema.object) ? "ellipsoid" : "point";
  if (geometry === "lines") return was === "axis_aligned_bounding_box" ? was : "line";
  return "polyline";
}

const radiiOf = (infos: readonly AttributeInfo[]): AttributeInfo | undefined =>
  infos.find(({ name }) => name === "radii");

/** The fields that become properties; of points `id` is what they are called by. */
export async function fieldsFor(publication: Publication, type: AnnotationType) {
  const { schema, lose, options } = publication;
  const isPoint = type === "point";
  const isId = ({ name, dtype, channels }: AttributeInfo): boolean =>
    name === "id" && dtype.kind === "uint" && dtype.size === 8 && channels === 1;
  const id = isPoint && options.ids !== "dense" ? schema.vertex.find(isId) : undefined;
  const rules = { clean, widthOf: (info: AttributeInfo) => (isColour(info) ? info.channels : 1) };
  const taken = new Set<string>();
  const codes = await codesOf(publication);
  const { relationships } = publication.source.attributes;
  const isRelated = ({ name, dtype }: AttributeInfo): boolean =>
    Array.isArray(relationships) &&
    relationships.includes(name) &&
    (dtype.kind === "uint" || dtype.kind === "int") &&
    dtype.size === 8;
  const related = schema.object.filter(isRelated);
  const relatedPoints = schema.vertex.filter(
    (own) => isPoint && isRelated(own) && !related.some(({ name }) => name === own.name),
  );
  const vertex = isPoint
    ? fieldsOf(
        schema.vertex.filter((own) => own !== id && !relatedPoints.includes(own)),
        "vertex",
        rules,
        lose,
        { codes, taken },
      )
    : [];
  if (!isPoint)
    for (const { name } of schema.vertex)
      lose(`the vertex attribute ${name}: annotations have values, vertices have none`);
  const objects = schema.object.filter(
    (own) => !related.includes(own) && (type !== "ellipsoid" || own !== radiiOf(schema.object)),
  );
  const object = fieldsOf(objects, "object", rules, lose, { codes, taken });
  return { id, vertex, related, relatedPoints, all: [...vertex, ...object] };
}

/** Whether every point is an object of its own. */
async function areAlone({ source, level, geometry, reading, batchVertices }: Publication): Promise<boolean> {
  const vertices = source.levels[0]?.vertices;
  if (vertices !== undefined && vertices !== level.objects?.rows) return false;
  for await (const { parts, objects, repeats } of source
    .select({ level: 0, geometry })
    .batches({ ...reading, batchVertices, attributes: [] })) {
    if (repeats === true) continue;
    if (objects.some((row, part) => row !== part || parts[part] !== part) || parts.at(-1) !== objects.length)
      return false;
  }
  return true;
}

/** The ids that each annotation is related to; one that is absent, or 2^64 − 1, is none. `rows`: of each annotation, or the annotations themselves, a row each. */
function relatedOf(columns: Columns, infos: readonly AttributeInfo[], rows: Int32Array | BigUint64Array) {
  return infos.map(({ name }): [string, { offsets: Uint32Array; ids: BigUint64Array }] => {
    const { info, values } = columns.get(name)!;
    const { channels, absent } = info;
    const offsets = new Uint32Array(rows.length + 1);
    const found: bigint[] = [];
    for (let i = 0; i < rows.length; i++) {
      const row = typeof rows[i] === "bigint" ? i : (rows[i] as number);
      for (let c = 0; row >= 0 && c < channels; c++) {
        const id = values[row * channels + c] as bigint;
        if (id !== absent && BigInt.asUintN(64, id) !== U64.MAX) found.push(id);
      }
      offsets[i + 1] = found.length;
    }
    return [name, { offsets, ids: BigUint64Array.from(found, (id) => BigInt.asUintN(64, id)) }];
  });
}

/** Codes for the texts of attributes: those that have them, and those of points and objects that have few different ones. */
async function codesOf(publication: Publication): Promise<Map<string, ReadonlyMap<string, number>>> {
  const { source, geometry, schema, level, reading, batchVertices } = publication;
  const codes = new Map<string, ReadonlyMap<string, number>>();
  for (const { name, categories } of [...schema.vertex, ...schema.object])
    if (categories !== undefined) codes.set(name, new Map(categories.map((text, code) => [text, code])));
  const { objects } = level;
  for (const { name, dtype, channels } of schema.object) {
    if (codes.has(name) || typeFor(dtype) !== undefined || channels !== 1 || objects === undefined) continue;
    const own = new Map<string, number>();
    for (let from = 0; from < objects.rows && own.size <= MOST_LABELS; from += ROWS) {
      const rows = Uint32Array.from({ length: Math.min(ROWS, objects.rows - from) }, (_, i) => from + i);
      const { values = [] } = (await objects.columns([name], rows, reading)).get(name) ?? ({} as Partial<Column>);
      for (const value of values as readonly unknown[]) if (!own.has(String(value))) own.set(String(value), own.size);
    }
    if (own.size <= MOST_LABELS) codes.set(name, own);
  }
  const isText = ({ name, dtype, channels }: AttributeInfo): boolean =>
    !codes.has(name) && typeFor(dtype) === undefined && channels === 1;
  const found = new Map<string, Map<string, number>>();
  if (geometry === "points") for (const { name } of schema.vertex.filter(isText)) found.set(name, new Map());
  if (found.size === 0) return codes;
  const wanted = { ...reading, batchVertices, attributes: [...found.keys()] };
  for await (const { vertexColumns } of source.select({ level: 0, geometry }).batches(wanted))
    for (const [name, own] of found)
      for (const value of (vertexColumns.get(name)?.values ?? []) as readonly unknown[])
        if (own.size <= MOST_LABELS && !own.has(String(value))) own.set(String(value), own.size);
  for (const [name, own] of found) if (own.size <= MOST_LABELS) codes.set(name, own);
  return codes;
}

const ROWS = 1 << 16; // objects that are looked at together

/** A name that properties can have. */
const clean = (name: string): string => {
  const plain = name.replace(/\W/g, "_").replace(/^[A-Z]/, (letter) => letter.toLowerCase());
  return /^[a-z]/.test(plain) ? plain : `p_${plain}`;
};

const COLOURS = ["red", "green", "blue", "alpha"];
const isColour = ({ dtype, channels, channelNames }: AttributeInfo): boolean =>
  dtype.kind === "uint" &&
  dtype.size === 1 &&
  channels >= 3 &&
  channelNames?.join() === COLOURS.slice(0, channels).join();

export function propertyOf({ id, info, type, channels, codes }: Field): AnnotationProperty {
  const labels = codes && [...codes.keys()];
  return {
    id,
    type: channels === channelsOf("rgb") ? "rgb" : channels === channelsOf("rgba") ? "rgba" : type,
    ...(info.description !== undefined && { description: info.description }),
    ...(labels && { enum: { values: labels.map((_, code) => code), labels } }),
  };
}

/** Annotations, and the row of the object that each belongs to. */
interface Own {
  readonly annotations: Omit<Annotations, "properties">;
  readonly objects: Int32Array;
}

/** A point for each vertex. */
function pointsOf(
  batch: Batch,
  ids: PublishedIds,
  id: AttributeInfo | undefined,
  related: boolean,
  alone: boolean,
  tally: Tally,
): Own {
  const { positions, dims, parts, objects, ids: known } = batch;
  const count = positions.length / dims;
  const rows = new Int32Array(count).fill(-1);
  for (let p = 0; p < objects.length; p++) rows.fill(objects[p]!, parts[p], parts[p + 1]);
  const named = id && (batch.vertexColumns.get(id.name)!.values as BigUint64Array);
  const owners = rows.filter((row) => row >= 0);
  const offsets = new Uint32Array(count + 1);
  for (let i = 0; i < count; i++) offsets[i + 1] = offsets[i]! + (rows[i]! >= 0 ? 1 : 0);
  const owned = BigUint64Array.from(owners, (row) => ids.of(known[row]!));
  return {
    annotations: {
      ids: named ?? (alone ? owned : BigUint64Array.from(rows, () => ids.number())),
      offsets: Uint32Array.from({ length: count + 1 }, (_, i) => i),
      points: tally.inFloat32(positions),
      related: related ? new Map([[OBJECT, { offsets, ids: owned }]]) : undefined,
    },
    objects: rows,
  };
}

/** An annotation for each part: it has the id of its object, further ones of the same have new ones. */
function partsOf(batch: Batch, type: AnnotationType, ids: PublishedIds, tally: Tally): Own {
  const { positions, dims, parts, objects, ids: known, objectColumns } = batch;
  const some = Array.from(objects, (_, p) => p).filter((p) => parts[p + 1]! > parts[p]!);
  const seen = new Set<number>();
  const named = BigUint64Array.from(some, (p) => {
    const row = objects[p]!;
    if (row >= 0 && !seen.has(row)) {
      seen.add(row);
      return ids.of(known[row]!);
    }
    if (row >= 0) tally.further++;
    return ids.next();
  });
  const float32 = tally.inFloat32(positions);
  const radii = type === "ellipsoid" ? (widened(objectColumns.get("radii")!).values as Float32Array) : undefined;
  const offsets = new Uint32Array(some.length + 1);
  const points: number[] = [];
  for (const [i, p] of some.entries()) {
    for (let at = parts[p]! * dims; at < parts[p + 1]! * dims; at++) points.push(float32[at]!);
    for (let axis = 0; radii !== undefined && axis < dims; axis++) points.push(radii[objects[p]! * dims + axis]!);
    offsets[i + 1] = points.length / dims;
  }
  return {
    annotations: { ids: named, offsets, points: Float32Array.from(points) },
    objects: Int32Array.from(some, (p) => objects[p]!),
  };
}
