/** One level on its way: batches come in, and in the end its arrays and documents. */
import { concat } from "../../../bytes/concat.js";
import { bytesOf } from "../../../codec/numeric.js";
import { InvalidInput, Unsupported } from "../../../errors.js";
import { loadVectorKernel } from "../../../kernel/vectors.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import type { Columns } from "../../../model/vectors.js";
import type { Scratch } from "../../../store/scratch.js";
import { scratchRows } from "../../../store/scratch-rows.js";
import { sealsOf } from "../read/owner-column.js";
import type { Plan } from "./description.js";
import { addRows, type Segments, spool } from "./spill.js";
import type { Arrays07 } from "./write-07-arrays.js";
import { linkWriter07 } from "./write-07-links.js";
import type { Arrays, Grid } from "./write-arrays.js";
import { type Dtype, dtypeSize, type Extent, inPieces, type Rows } from "./write-batch.js";
import { writeChunks } from "./write-chunks.js";
import { intakes, takeColumns } from "./write-columns.js";
import { checkGrid, cutter, type Places } from "./write-cut.js";
import { type Document, groupDocument, levelDocument } from "./write-documents.js";
import { type GroupMembers, writeGroups, writeIndex, writeTables } from "./write-index.js";
import { layoutOf, shardFor, upTo } from "./write-layout.js";
import { linkWriter } from "./write-links.js";
import { manifestSpool } from "./write-manifests.js";
import { type Objects, type ObjectTable, objectsFor, type Table } from "./write-objects.js";

export interface LevelContext {
  /** Of level 0; a coarser one has its own chunks and bins in it. */
  readonly plan: Plan;
  readonly dtype: Dtype;
  readonly chunkShape: readonly number[];
  /** Below the level. */
  readonly arrays: Arrays;
  /** The same in format 0.7.0. */
  readonly old: Arrays07 | undefined;
  readonly scratch: Scratch;
}

/** What a coarser level says of itself, and level 0 for its ids. */
export interface Coarser {
  readonly level: number;
  readonly renumber: boolean;
  readonly finest: Pick<LevelWriter, "objects" | "table">;
  readonly said: Document;
}

/** What came of a level. */
export interface WrittenLevel {
  /** Objects share fragments. */
  readonly shared: boolean;
  /** It keeps the ids of level 0. */
  readonly preserves: boolean;
  readonly attributes: { readonly vertex: readonly AttributeInfo[]; readonly object: readonly AttributeInfo[] };
}

export interface LevelWriter {
  /** Checks a batch; what it gives takes it. */
  prepare(rows: Rows, extent: Extent): () => Promise<void>;
  /** Writes everything of the level. */
  finish(
    bounds: { readonly min: readonly number[]; readonly max: readonly number[] },
    groups: { readonly members: readonly GroupMembers[]; readonly columns: Columns } | undefined,
    coarser: Coarser | undefined,
  ): Promise<WrittenLevel>;
  readonly objects: Objects;
  /** When it is finished; undefined for points without objects. */
  readonly table: ObjectTable | undefined;
}

const FRAGMENT = 36; // bytes that one takes that is no run of a path, which rows that can be put aside make room for

/** `first` decides what nobody has declared; undefined where nothing ever came. */
export function levelWriter(context: LevelContext, first: Rows | undefined): LevelWriter {
  const { plan, dtype, chunkShape, arrays, old, scratch } = context;
  const { kind, geometry, dims } = plan;
  const withObjects = plan.objects ?? (geometry !== "points" || (first?.ids.length ?? 0) > 0);
  if (!withObjects && geometry !== "points") throw new InvalidInput(`${geometry} always belong to objects`);
  const objects = objectsFor(plan);
  const taken = intakes(plan.attributes?.vertex, first?.vertexColumns ?? new Map());
  const declared = plan.attributes?.fragment?.filter(({ name }) => name !== "object_id"); // that is written in any case
  const ofFragments = intakes(declared, first?.fragments?.columns ?? new Map());
  const cuts = cutter(plan, chunkShape, withObjects, ofFragments.length > 0);
  const fragmentRows: Uint8Array[][] = ofFragments.map(() => []); // of each batch
  if (ofFragments.length > 0 && !withObjects)
    throw new Unsupported("the fragments of points without objects are bins, which have no attributes");
  const linked = () => (old === undefined ? linkWriter(plan, cuts, scratch) : linkWriter07(plan, cuts, scratch, old));
  const links = plan.linkWidth > 0 ? linked() : undefined;
  const whose = withObjects && !kind.path ? [4] : [];
  const widths = [dims * dtypeSize(dtype), ...whose, ...taken.map(({ width }) => width)];
  const vertices = spool(widths, scratch);
  const placed = plan.links?.late === true ? scratchRows(scratch, 8) : undefined; // fragment and ordinal of each vertex
  const runs = kind.path ? spool(ofFragments.length > 0 ? [4, 4, 4, 4] : [4, 4, 4], scratch, true) : undefined;
  let runCount = 0;
  let sizes: Uint32Array = new Uint32Array(); // vertices of each chunk
  let table: ObjectTable | undefined;
  let fragmentBytes = 0;

  /** Links between vertices of batches before. */
  function late(own: Rows["links"]): () => Promise<void> {
    if (own === undefined || links === undefined || placed === undefined) return async () => {};
    const columns = links.columns(own);
    for (let i = 0; i < own.ends.length; i++)
      if (own.ends[i]! >= placed.count)
        throw new InvalidInput(`a link names vertex ${own.ends[i]} of ${placed.count} that have come`);
    return async () => {
      const { buffer } = await placed.pick(own.ends);
      const pairs = new Uint32Array(buffer);
      const [fragment, ordinal] = [new Uint32Array(own.ends.length), new Uint32Array(own.ends.length)];
      for (let i = 0; i < fragment.length; i++) {
        fragment[i] = pairs[2 * i]!;
        ordinal[i] = pairs[2 * i + 1]!;
      }
      await links.take({ ...own, ends: upTo(fragment.length) }, { fragment, ordinal }, columns);
    };
  }

  return {
    objects,
    get table() {
      return table;
    },
    prepare(rows, extent) {
      const { ids, parts, count } = rows;
      checkGrid(extent.min, extent.max, chunkShape);
      if (!withObjects && ids.length > 0)
        throw new InvalidInput(`a batch has objects, but the first had none`, {
          hint: "Say that there are: objects true.",
        });
      objects.check(ids, rows.objectColumns);
      if (kind.path && plan.pieces !== "join")
        for (const [i, number] of objects.find(ids).entries()) if (cuts.has(number)) throw inPieces(ids[i]!);
      if (links === undefined && (rows.links?.ends.length ?? 0) > 0)
        throw new InvalidInput("a level whose fragments are shared has no links: they name vertices");
      if (rows.late) return late(rows.links);
      const columns = takeColumns(taken, rows.vertexColumns, count, "vertex");
      const linkColumns = rows.links && links?.columns(rows.links);
      const { offsets = Uint32Array.of(0, count), columns: given = new Map() } = rows.fragments ?? {};
      const ofThese = rows.repeats
        ? []
        : takeColumns(ofFragments, given, count === 0 ? 0 : offsets.length - 1, "fragment");
      if (rows.repeats) {
        const numbers = objects.find(ids);
        if (rows.objects.some((object) => object >= 0 && numbers[object]! < 0))
          throw new InvalidInput("a link names an object that has come in no earlier batch");
        const owners = rows.objects.map((object) => (object < 0 ? -1 : numbers[object]!));
        return async () => {
          if (kind.path) return; // which have no links
          const places = cuts.again(rows, owners, [rows.stored, ...columns]);
          if (rows.links !== undefined) await links?.take(rows.links, places, linkColumns!);
        };
      }
      return async () => {
        const numbers = objects.take(ids, rows.objectColumns);
        const owners = rows.objects.map((object) => (object < 0 ? -1 : numbers[object]!));
        if (kind.path)
          for (let p = 0; p < owners.length; p++)
            if (owners[p]! < 0 && parts[p]! < parts[p + 1]!) owners[p] = objects.nameless();
        const { segments, places, bridges } = cuts.cut(rows, owners, await loadVectorKernel());
        sizes = withRows(sizes, segments, cuts.chunks.count);
        const kept = FRAGMENT * cuts.fragments.size.length;
        scratch.held += kept - fragmentBytes;
        fragmentBytes = kept;
        const which = whose.length === 0 ? [] : [bytesOf(places!.fragment)];
        for (const [c, own] of ofThese.entries()) fragmentRows[c]!.push(own.slice());
        if (places !== undefined) await placed?.add(bytesOf(pairsOf(places)));
        await vertices.add([rows.stored, ...which, ...columns], segments);
        if (runs !== undefined) {
          const { chunk, owner, size, given } = cuts.fragments;
          const number = upTo(chunk.length).map((f) => runCount + f);
          const own = [owner.done(), size.done(), number, ...(given === undefined ? [] : [given.done()])];
          const { length } = number;
          await runs.add(own.map(bytesOf), { count: length, rows: length, buckets: chunk.values, starts: undefined });
          runCount += length;
          cuts.forget();
        }
        if (rows.links !== undefined) await links?.take(rows.links, places!, linkColumns!);
        if (bridges !== undefined && bridges.chunk.length > 0) await links!.bridges(bridges);
      };
    },

    async finish(bounds, groups, coarser) {
      const total = sizes.reduce((sum, size) => sum + size, 0);
      if (total === 0 && objects.count === 0 && coarser === undefined && plan.empty === "raise")
        throw new InvalidInput("there is nothing to write: no batch had a vertex or an object");
      checkGrid(bounds.min, bounds.max, chunkShape);
      // What belongs to nobody where everything must belong to somebody is the object 0, as the reference has it.
      const { fragments, chunks } = cuts;
      cuts.end();
      if (geometry !== "points" && objects.count === 0 && fragments.size.length > 0) {
        objects.nameless();
        const { values, length } = fragments.owner;
        for (let f = 0; f < length; f++) if (values[f] === 0) values[f] = 1;
        for (const again of cuts.repeated.values())
          for (const [i, own] of again.entries()) again[i] = { ...own, owner: 1 };
      }
      const { finest, renumber = false } = coarser ?? {};
      const above = finest?.table && { objects: finest.objects, table: finest.table, renumber };
      table = withObjects ? objects.finish(above) : undefined;
      const tables = table === undefined ? new Map<string, Table>() : objects.tables(table);
      const origin = chunkShape.map((size, axis) => Math.floor(bounds.min[axis]! / size));
      const shape = chunkShape.map((size, axis) =>
        Math.max(1, Math.floor(bounds.max[axis]! / size) - origin[axis]! + 1),
      );
      const arrayCount = 2 + taken.length + (table === undefined ? 0 : 1) + ((links?.count ?? 0) > 0 ? dims : 0);
      const cellBytes = (total * widths[0]!) / Math.max(1, chunks.count);
      const sharding = old === undefined ? plan.sharding : "none";
      const shard = shardFor(sharding, shape, chunks.count * arrayCount, cellBytes);
      const grid: Grid = { dims, coords: chunks.tuples.subarray(0, dims * chunks.count), origin, shape, shard };
      const layout = layoutOf(grid, chunks.count, fragments, kind.path ? undefined : table?.rowOf);
      const rowBytes = widths.reduce((sum, width) => sum + width, 0);
      const manifests = table && manifestSpool(plan, table.rows, scratch);
      const { shared, stored, owners } = await writeChunks({
        ...context,
        vertices,
        runs,
        manifests,
        rowBytes,
        intakes: taken,
        ofFragments: ofFragments.map((intake, c) => ({ intake, rows: concat(fragmentRows[c]!) })),
        fragments,
        repeated: cuts.repeated,
        layout,
        table,
        sizes,
      });
      const present = ["vertices"];
      if (taken.length > 0) {
        await arrays.document("vertex_attributes", groupDocument());
        present.push("vertex_attributes");
      }
      let family: Uint8Array | null = null;
      const watching: Arrays = {
        ...arrays,
        document(path, bytes) {
          if (path === "links/0") family = bytes;
          return arrays.document(path, bytes);
        },
      };
      present.push(...((await links?.finish(watching, layout)) ?? []));
      if (table !== undefined && manifests !== undefined) {
        const some = owners !== undefined || ofFragments.length > 0;
        if (some) await arrays.document("fragment_attributes", groupDocument());
        const index = await writeIndex(plan, arrays, manifests.indexed(grid), table.ids);
        await owners?.finish({
          ...{ zv_array: "fragment_attribute", name: "object_id", dtype: "int64", row_shape: [] },
          ...sealsOf(index, kind.path ? family : undefined),
        });
        present.push(...(some ? ["fragment_attributes"] : []), "object_index");
        if (await writeTables(plan, arrays, "object", tables)) present.push("object_attributes");
      }
      if (groups !== undefined) {
        await writeGroups(plan, arrays, groups.members, groups.columns, (ids) =>
          table === undefined ? [] : objects.idsOf(ids, table),
        );
        present.push("groups", ...(groups.columns.size > 0 ? ["group_attributes"] : []));
      }
      const preserves = above !== undefined && !renumber;
      const inherited = { preserves_object_ids: true, inherited_num_objects: finest?.table?.rows ?? 0 };
      await arrays.document(
        "",
        levelDocument({
          vertices: stored,
          arrays: present,
          shared,
          tiled: old === undefined,
          level: coarser?.level,
          more: { ...coarser?.said, ...(preserves ? inherited : {}) },
        }),
      );
      const infos = [...tables.values()].map(({ info }) => info);
      return { shared, preserves, attributes: { vertex: taken.map(({ info }) => info), object: infos } };
    },
  };
}

/** Fragment and ordinal, one after the other. */
function pairsOf({ fragment, ordinal }: Places): Uint32Array {
  const pairs = new Uint32Array(2 * fragment.length);
  for (let i = 0; i < fragment.length; i++) {
    pairs[2 * i] = fragment[i]!;
    pairs[2 * i + 1] = ordinal[i]!;
  }
  return pairs;
}

/** The vertices of each chunk, with those of a batch. */
function withRows(sizes: Uint32Array, segments: Segments, chunks: number): Uint32Array {
  const room = sizes.length >= chunks ? sizes : new Uint32Array(2 * chunks);
  if (room !== sizes) room.set(sizes);
  addRows(segments, room);
  return room;
}
