/**
 * Graphs and skeletons as a layer of skeletons, one for each object, and what is known of the objects as its table.
 *
 *     info · segment_properties/info · ID …
 */

import { transformTo } from "../../convert/precomputed/frame.js";
import type { Field } from "../../convert/precomputed/numbers.js";
import type { Publication } from "../../convert/precomputed/publication.js";
import { attributesOf, skeletonFields, skeletonsOf } from "../../convert/precomputed/skeletons.js";
import { tableOf } from "../../convert/precomputed/table.js";
import { Tally } from "../../convert/precomputed/tally.js";
import { SegmentProperties } from "../../format/precomputed/properties/properties.js";
import { SkeletonInfo } from "../../format/precomputed/skeleton/info.js";
import { Skeleton } from "../../format/precomputed/skeleton/skeleton.js";
import { Affine } from "../../space/transform.js";
import { type Shared, share } from "../../store/share.js";
import type { CallOptions } from "../../store/types.js";
import { type Computation, document, one } from "./computed.js";
import { idOf, type ViewIds, viewIds } from "./objects.js";

const TABLE = "segment_properties";

/** What skeletons, one each for some sets of objects, are made of. */
export interface SkeletonSets {
  readonly ids: BigUint64Array;
  /** What is known of them; undefined where nothing is. */
  readonly table: SegmentProperties | undefined;
  /** The objects of a skeleton, by their ids in the dataset; undefined where there is none by that id. */
  membersOf(id: bigint, options: CallOptions): Promise<Iterable<bigint> | undefined>;
  /** Those that a first picture should show. */
  readonly shown: readonly bigint[];
  /** Whether those are made at once: of sets from all over the data each would read all of them. */
  readonly together?: boolean | undefined;
}

/** One skeleton for each object. */
export async function skeletonView(publication: Publication): Promise<Computation> {
  const ids = await viewIds(publication.level.objects!, publication.reading);
  return skeletonsFor(publication, {
    ids: ids.all,
    shown: firstOf(ids.all),
    table: await objectTable(publication, ids),
    membersOf: async (id) => {
      const row = ids.rowOf(id);
      return row < 0 ? undefined : [ids.own[row]!];
    },
  });
}

/** All of them where they are few, else some. */
export const firstOf = (ids: BigUint64Array): readonly bigint[] =>
  Array.from(ids.subarray(0, ids.length <= 100 ? 100 : 16));

/** The table of all objects, by the ids of the view. */
export function objectTable(publication: Publication, ids: ViewIds): Promise<SegmentProperties | undefined> {
  const { source, level, schema, reading, lose } = publication;
  const rows = new Map(Array.from(ids.own as BigInt64Array, (id, row) => [id, row]));
  return tableOf(source, level.objects!, (id) => ids.all[rows.get(id)!]!, schema.object, lose, reading);
}

/** One skeleton for each set of objects. */
export function skeletonsFor(publication: Publication, sets: SkeletonSets): Computation {
  const { source, options, note } = publication;
  const rows = transformTo(source, options.resolution, note);
  const transform = Affine.of(rows);
  const fields = skeletonFields(publication, rows);
  const attributes = attributesOf(fields);
  const { table } = sets;
  const segmentProperties = table && TABLE;
  const info = document(SkeletonInfo.format({ transform, attributes, sharding: null, segmentProperties }));
  async function made(ids: readonly bigint[], call: CallOptions): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
    const members = await Promise.all(ids.map((id) => sets.membersOf(id, call)));
    if (members.includes(undefined)) return undefined;
    const skeletons = await merged(publication, members as Iterable<bigint>[], fields, call);
    return new Map(ids.map((id, i) => [String(id), Skeleton.encode(skeletons[i]!, attributes)]));
  }

  let first: Shared<ReadonlyMap<string, Uint8Array> | undefined> | undefined;
  function firstOnes({ signal }: CallOptions): Promise<ReadonlyMap<string, Uint8Array> | undefined> {
    if (first === undefined || first.abandoned) {
      const own = share((signal) =>
        made(sets.shown, { signal }).finally(() => {
          if (first === own) first = undefined;
        }),
      );
      first = own;
    }
    return first.join(signal);
  }

  return {
    shown: sets.shown,
    async compute(name, call) {
      if (name === "info") return one(name, info);
      if (name === `${TABLE}/info`) return table && one(name, document(SegmentProperties.format(table)));
      const id = idOf(name);
      if (id !== undefined && sets.together === true && sets.shown.includes(id)) return firstOnes(call);
      return id === undefined ? undefined : made([id], call);
    },
    async *names() {
      yield "info";
      if (table !== undefined) yield `${TABLE}/info`;
      for (const id of sets.ids) yield String(id);
    },
  };
}

/** Sets of objects, each as one skeleton; the data are read once. */
async function merged(
  { source, geometry, reading, batchVertices }: Publication,
  sets: readonly Iterable<bigint>[],
  fields: readonly Field[],
  { signal }: CallOptions,
): Promise<Skeleton[]> {
  const places = new Map<bigint, number[]>();
  for (const [set, members] of sets.entries())
    for (const id of members) {
      const known = places.get(id);
      if (known === undefined) places.set(id, [set]);
      else known.push(set);
    }
  const parts: Skeleton[][] = sets.map(() => []);
  const attributes = fields.map(({ info }) => `vertex.${info.name}`);
  const question = source.select({ level: 0, geometry, object: places.keys() });
  for await (const batch of question.batches({ ...reading, signal, batchVertices, attributes })) {
    if (batch.repeats === true) continue;
    for (const { row, skeleton } of skeletonsOf(batch, fields, new Tally()))
      for (const set of places.get(batch.ids[row]!) ?? []) parts[set]!.push(skeleton);
  }
  return parts.map((own) => joined(own, fields));
}

function joined(parts: readonly Skeleton[], fields: readonly Field[]): Skeleton {
  const count = parts.reduce((sum, { vertices }) => sum + vertices.length, 0);
  const vertices = new Float32Array(count);
  const edges = new Uint32Array(parts.reduce((sum, own) => sum + own.edges.length, 0));
  const columns = new Map(fields.map(({ id, channels }) => [id, new Float32Array((count / 3) * channels)]));
  let [at, edge] = [0, 0];
  for (const own of parts) {
    vertices.set(own.vertices, at);
    for (let i = 0; i < own.edges.length; i++) edges[edge++] = own.edges[i]! + at / 3;
    for (const { id, channels } of fields)
      columns.get(id)!.set(own.attributes.get(id) as Float32Array, (at / 3) * channels);
    at += own.vertices.length;
  }
  return { vertices, edges, attributes: columns };
}
