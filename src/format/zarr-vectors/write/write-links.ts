/**
 * The links of a new store: edges, faces, and the bridges of paths from chunk to chunk. A link lies with the chunk of its first
 * end, in the array that says where the others are; which chunk is first follows from what is asked for:
 *
 * | links                  | stored as                                                                                |
 * |------------------------|------------------------------------------------------------------------------------------|
 * | all ends in one chunk  | as given                                                                                 |
 * | canonical              | ends sorted by chunk and row, with the code of the order in which they were given        |
 * | canonical, directed    | as given                                                                                 |
 * | duplicate              | once for each chunk that it touches, an end there first, with the code of that order      |
 *
 * Of skeletons only what a reader would not take for granted: that the parent is the vertex before, in the same fragment.
 */
import { bytesOf } from "../../../codec/numeric.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { Links } from "../../../model/vectors.js";
import type { Scratch } from "../../../store/scratch.js";
import { compare } from "../nodes/nodes-directory.js";
import { FragmentIndex } from "../payload/fragment-index.js";
import { words } from "../payload/int64.js";
import { LinkCell } from "../payload/link-cells.js";
import { LinkOffsets } from "../payload/link-offsets.js";
import { Permutation } from "../payload/permutation.js";
import type { Plan } from "./description.js";
import { type Bucket, type Spool, spool } from "./spill.js";
import type { Arrays } from "./write-arrays.js";
import { type Intake, intakes, takeColumns } from "./write-columns.js";
import type { Cutter, Ends, Fragments, Places } from "./write-cut.js";
import { groupDocument, sealedDocument } from "./write-documents.js";
import { type Layout, orderBy, rowIn, SMALL, shardFor, unitsOf, upTo } from "./write-layout.js";
import { Growing, numbering } from "./write-numbering.js";
import { notImplied } from "./write-skeleton.js";

export interface LinkWriter {
  readonly count: number;
  /** The columns of a batch's links, checked. */
  columns(links: Links): readonly Uint8Array[];
  /** Links of a batch whose vertices have these places, with what `columns` gave. */
  take(links: Links, places: Places, columns: readonly Uint8Array[]): Promise<void>;
  bridges(ends: Ends): Promise<void>;
  /** Writes everything; the names of the families, as the level names them: bridges are no family of their own. */
  finish(arrays: Arrays, layout: Layout): Promise<string[]>;
}

export function linkWriter(plan: Plan, { chunks, fragments }: Cutter, scratch: Scratch): LinkWriter {
  const { dims, kind, linkWidth: width, directed, duplicate, geometry } = plan;
  const cells = numbering(1 + (width - 1) * dims); // the chunk of the first end, then the offsets of the others
  const chunkOf = chunkIn(kind.path, fragments);
  let taken: Intake[] | undefined;
  let rows: Spool | undefined;
  let [count, physical] = [0, 0];
  const sizes: number[] = []; // links of each cell
  const tuple = new Int32Array(1 + (width - 1) * dims);
  const at = new Int32Array(width);
  const sorted = new Int32Array(width);

  /** The cell of a link whose ends are in these chunks, the first of which decides. */
  const cellOf = (ends: Int32Array): number => {
    const coords = chunks.tuples;
    tuple[0] = ends[0]!;
    for (let k = 1; k < width; k++)
      for (let axis = 0; axis < dims; axis++)
        tuple[1 + (k - 1) * dims + axis] = coords[ends[k]! * dims + axis]! - coords[ends[0]! * dims + axis]!;
    return cells.of(tuple);
  };
  const before = (a: number, b: number): boolean => compare(chunks.tuples, a * dims, chunks.tuples, b * dims, dims) < 0;

  /** The cells in which a link lies, whose chunks are in `at`. */
  const cellsOf = (into: Growing): number => {
    let different = 1;
    for (let k = 1; k < width; k++) if (at[k] !== at[0]) different++;
    if (different === 1 || (directed && !duplicate)) {
      into.push(cellOf(at));
      return 1;
    }
    if (!duplicate) {
      for (let k = 0; k < width; k++) {
        let to = k;
        for (; to > 0 && before(at[k]!, sorted[to - 1]!); to--) sorted[to] = sorted[to - 1]!;
        sorted[to] = at[k]!;
      }
      into.push(cellOf(sorted));
      return 1;
    }
    let copies = 0;
    for (let k = 0; k < width; k++) {
      if (at.indexOf(at[k]!) < k) continue;
      sorted[0] = at[k]!;
      for (let j = 0, to = 1; j < width; j++) if (j !== k) sorted[to++] = at[j]!;
      into.push(cellOf(sorted));
      copies++;
    }
    return copies;
  };

  /** Links whose ends are `ends` of the places, or all of them in their order, and attributes. */
  async function store(ends: Uint32Array | undefined, given: Places, columns: readonly Uint8Array[]): Promise<void> {
    const links = (ends ?? given.fragment).length / width;
    const places = { fragment: new Uint32Array(links * width), ordinal: new Uint32Array(links * width) };
    const buckets = new Growing(links);
    const which = duplicate ? new Growing(links) : undefined; // the link of each row, where some have several
    for (let l = 0; l < links; l++) {
      let same = l > 0 && !duplicate; // mostly the chunks are those of the link before
      for (let k = 0, i = l * width; k < width; k++, i++) {
        const end = ends === undefined ? i : ends[i]!;
        const fragment = given.fragment[end]!;
        places.fragment[i] = fragment;
        places.ordinal[i] = given.ordinal[end]!;
        const chunk = chunkOf(fragment);
        if (at[k] !== chunk) same = false;
        at[k] = chunk;
      }
      if (same) buckets.push(buckets.values[l - 1]!);
      else for (let copies = cellsOf(buckets); copies > 0; copies--) which?.push(l);
    }
    const { length } = buckets;
    while (sizes.length < cells.count) sizes.push(0);
    for (let row = 0; row < length; row++) sizes[buckets.values[row]!]!++;
    count += links;
    physical += length;
    const pick = (column: Uint8Array): Uint8Array =>
      which === undefined ? column : pickRows(column, links, which.done());
    rows ??= spool([4 * width, 4 * width, ...(taken ?? []).map((intake) => intake.width)], scratch, kind.path);
    await rows.add([bytesOf(places.fragment), bytesOf(places.ordinal), ...columns].map(pick), {
      count: length,
      rows: length,
      buckets: buckets.values,
      starts: upTo(length),
    });
  }

  return {
    get count() {
      return count;
    },
    columns(links) {
      taken ??= intakes(plan.attributes?.link, links.columns);
      return takeColumns(taken, links.columns, links.ends.length / width, "link");
    },
    async take({ ends }, { fragment, ordinal }, columns) {
      const implied = geometry === "skeletons" && columns.length === 0;
      const stored = implied
        ? Uint32Array.from(notImplied(ends, fragment, ordinal).flatMap((l) => [ends[2 * l]!, ends[2 * l + 1]!]))
        : ends;
      await store(stored, { fragment, ordinal }, columns);
    },
    bridges: ({ chunk, row }) => store(undefined, { fragment: chunk, ordinal: row }, []),
    async finish(arrays, layout) {
      if (kind.path && count === 0) return [];
      // Cells by the array that they are in; that of links within a chunk is there even if it is empty, for editors.
      const offsets = numbering((width - 1) * dims);
      if (!kind.path) offsets.of(new Int32Array((width - 1) * dims));
      const arrayOf = new Growing();
      for (let cell = 0; cell < cells.count; cell++) arrayOf.push(offsets.of(cells.tuples, cell * tuple.length + 1));
      const byArray = orderBy(upTo(cells.count), arrayOf.values, offsets.count);
      const names = (taken ?? []).map(({ info }) => info.name);
      const rowOf = rowIn(kind.path, layout);
      for (let array = 0; array < offsets.count; array++) {
        const shifts = Array.from({ length: width - 1 }, (_, k) => {
          const from = (array * (width - 1) + k) * dims;
          return [...offsets.tuples.subarray(from, from + dims)];
        });
        const intra = LinkOffsets.isIntra(shifts);
        const perm = !intra && (duplicate || !directed);
        const segment = LinkOffsets.format(shifts);
        const own = byArray.sorted.subarray(byArray.offsets[array], byArray.offsets[array + 1]);
        const bytes = own.reduce((sum, cell) => sum + sizes[cell]!, 0) * 8 * (width + 1);
        const keys = cells.count + 3 * layout.chunkCount;
        const shard = shardFor(plan.sharding, layout.grid.shape, keys, bytes / Math.max(1, own.length));
        const grid = { ...layout.grid, shard };
        const links = await arrays.cells(`links/0/${segment}`, grid);
        const groups = intra ? await arrays.cells("link_fragments", grid) : undefined;
        const columns = await Promise.all(
          names.map((name) => arrays.cells(`link_attributes/${name}/0/${segment}`, grid)),
        );
        const chunksOf = own.map((cell) => cells.tuples[cell * tuple.length]!);
        const linkBytes = 16 * width + (taken ?? []).reduce((sum, intake) => sum + intake.width, 0);
        await forEachConcurrent(
          unitsOf(grid, chunksOf, (i) => Math.max(1 << 14, sizes[own[i]!]! * linkBytes), scratch.memory),
          scratch.memory < SMALL ? 1 : 4,
          async (unit) => {
            const buckets = await rows!.read(unit.map((i) => own[i]!));
            const places = unit.map((i) => chunksOf[i]!);
            const decoded = buckets.map((bucket, i) => cellFrom(bucket, places[i]!, perm));
            await Promise.all([
              links.put(
                places,
                decoded.map((cell) => LinkCell.encode(cell, !intra)),
              ),
              groups?.put(
                places,
                decoded.map((cell) => FragmentIndex.encode(FragmentIndex.ofRanges([cell.count]))),
              ),
              ...columns.map((column, c) =>
                column.put(
                  places,
                  buckets.map((bucket) => taken![c]!.cell(bucket.columns[2 + c]!)),
                ),
              ),
            ]);
          },
        );
        const where = { offsets: shifts, level_delta: 0 };
        await links.finish({
          zv_array: "links",
          dtype: "int64",
          offsets: shifts,
          has_perm: perm,
          link_width: width,
          level_delta: 0,
        });
        await groups?.finish({ zv_array: "link_fragments", encoding: "fragment_index_v1" });
        for (const [c, column] of columns.entries())
          await column.finish({ zv_array: "link_attribute", name: names[c]!, ...where, ...taken![c]!.attributes() });
      }
      await arrays.document("links", groupDocument());
      await arrays.document(
        "links/0",
        sealedDocument({
          zv_array: "links_family",
          level_delta: 0,
          link_width: width,
          directed,
          store: duplicate ? "duplicate" : "canonical",
          sid_ndim: dims,
          num_links: count,
          num_physical_records: physical,
        }),
      );
      if (names.length > 0) await arrays.document("link_attributes", groupDocument());
      for (const name of names) {
        await arrays.document(`link_attributes/${name}`, groupDocument());
        const family = { zv_array: "link_attribute_family", name, level_delta: 0, num_links: count };
        await arrays.document(`link_attributes/${name}/0`, groupDocument(family));
      }
      return kind.path ? [] : names.length > 0 ? ["links", "link_attributes"] : ["links"];

      /** The links of one cell, as they are stored. */
      function cellFrom({ rows: links, columns }: Bucket, chunk: number, perm: boolean): LinkCell {
        const [fragment, ordinal] = [words(columns[0]!), words(columns[1]!)];
        const ends = new Uint32Array(ordinal.length);
        for (let i = 0; i < ends.length; i++) ends[i] = rowOf(fragment[i]!, ordinal[i]!);
        const ranks = new Uint32Array(perm ? ends.length : 0);
        for (let i = 0; i < ranks.length; i++) ranks[i] = layout.rank[chunkOf(fragment[i]!)]!;
        const perms = !perm
          ? undefined
          : duplicate
            ? firstHere(ends, width, ranks, layout.rank[chunk]!)
            : Permutation.sort(ranks, ends, width);
        return { count: links, width, ends, perms, groups: Uint32Array.of(0, links) };
      }
    },
  };
}

/** The chunk of what is put aside of an end: its fragment, or of paths the chunk itself. */
export const chunkIn =
  (path: boolean, { chunk }: Fragments) =>
  (fragment: number): number =>
    path ? fragment : chunk.values[fragment]!;

/** Moves the first end of each link that is here to the front, in place, and answers the codes that undo it. */
function firstHere(ends: Uint32Array, width: number, ranks: Uint32Array, here: number): Uint32Array {
  const codes = new Uint32Array(ends.length / width);
  for (let l = 0; l < codes.length; l++) {
    const at = l * width;
    let k = 0;
    while (ranks[at + k] !== here) k++;
    const sigma = [k, ...Array.from({ length: width }, (_, i) => i).filter((i) => i !== k)];
    const given = ends.slice(at, at + width);
    for (let i = 0; i < width; i++) ends[at + i] = given[sigma[i]!]!;
    codes[l] = Permutation.encode(sigma);
  }
  return codes;
}

function pickRows(column: Uint8Array, rows: number, which: Uint32Array): Uint8Array {
  const width = column.length / Math.max(1, rows);
  const out = new Uint8Array(which.length * width);
  for (let i = 0; i < which.length; i++)
    out.set(column.subarray(which[i]! * width, (which[i]! + 1) * width), i * width);
  return out;
}
