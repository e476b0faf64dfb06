/**
 * The links of a new store in format 0.7.0: those within a chunk are rows of its cell, all others records of one blob.
 *
 * | node                                        | holds                                                                  |
 * |---------------------------------------------|------------------------------------------------------------------------|
 * | `links/0/<chunk>`                           | int64 rows, ends as given                                              |
 * | `link_fragments/<chunk>`                    | a fragment index with one range: all of them                           |
 * | `link_attributes/<name>/0/<chunk>`          | a row for each                                                         |
 * | `cross_chunk_links/0/data`                  | records of ends, each the chunk (int64 coordinates) and the vertex     |
 * | `cross_chunk_link_attributes/<name>/0/data` | a row for each                                                         |
 */
import { bytesOf } from "../../../codec/numeric.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { Scratch } from "../../../store/scratch.js";
import { CrossChunkLinks } from "../payload/cross-chunk-links.js";
import { FragmentIndex } from "../payload/fragment-index.js";
import { LinkCell } from "../payload/link-cells.js";
import type { Plan } from "./description.js";
import { type Bucket, type Spool, spool } from "./spill.js";
import type { Arrays07 } from "./write-07-arrays.js";
import { type Intake, intakes, takeColumns } from "./write-columns.js";
import type { Cutter, Places } from "./write-cut.js";
import { groupDocument } from "./write-documents.js";
import { rowIn, unitsOf, upTo } from "./write-layout.js";
import { chunkIn, type LinkWriter } from "./write-links.js";

export function linkWriter07(
  { dims, kind, linkWidth: width, attributes }: Plan,
  { chunks, fragments }: Pick<Cutter, "chunks" | "fragments">,
  scratch: Scratch,
  arrays: Arrays07,
): LinkWriter {
  const ACROSS = 0; // the bucket of links between chunks; chunk c has c + 1
  const chunkOf = chunkIn(kind.path, fragments);
  let taken: Intake[] | undefined;
  let rows: Spool | undefined;
  const counts: number[] = [];
  let count = 0;

  async function store({ fragment, ordinal }: Places, columns: readonly Uint8Array[]): Promise<void> {
    const links = fragment.length / width;
    const buckets = new Uint32Array(links);
    for (let l = 0; l < links; l++) {
      const chunk = chunkOf(fragment[l * width]!);
      let inside = true;
      for (let k = 1; k < width; k++) if (chunkOf(fragment[l * width + k]!) !== chunk) inside = false;
      buckets[l] = inside ? chunk + 1 : ACROSS;
      counts[buckets[l]!] = (counts[buckets[l]!] ?? 0) + 1;
    }
    count += links;
    rows ??= spool([4 * width, 4 * width, ...(taken ?? []).map((intake) => intake.width)], scratch, kind.path);
    await rows.add([bytesOf(fragment), bytesOf(ordinal), ...columns], {
      count: links,
      rows: links,
      buckets,
      starts: upTo(links),
    });
  }

  return {
    get count() {
      return count;
    },
    columns(links) {
      taken ??= intakes(attributes?.link, links.columns);
      return takeColumns(taken, links.columns, links.ends.length / width, "link");
    },
    take: ({ ends }, { fragment, ordinal }, columns) =>
      store({ fragment: ends.map((end) => fragment[end]!), ordinal: ends.map((end) => ordinal[end]!) }, columns),
    bridges: ({ chunk, row }) => store({ fragment: chunk, ordinal: row }, []),

    async finish(_, layout) {
      if (kind.path && count === 0) return [];
      const { grid } = layout;
      const rowOf = rowIn(kind.path, layout);
      const names = (taken ?? []).map(({ info }) => info.name);
      /** The row of each end in its chunk. */
      const endsOf = ({ columns }: Bucket) => {
        const [fragment, ordinal] = columns.map((c) => new Uint32Array(c.buffer, c.byteOffset, c.length >> 2));
        const ends = ordinal!.map((place, i) => rowOf(fragment![i]!, place));
        return { fragment: fragment!, ends };
      };
      const unit = (c: number): number => taken![c]!.width / taken![c]!.info.channels;

      const inside = upTo(chunks.count).filter((chunk) => (counts[chunk + 1] ?? 0) > 0);
      if (!kind.path) {
        const cells = await arrays.cells("links/0", grid, 8);
        const groups = await arrays.cells("link_fragments", grid, 8);
        const columns = await Promise.all(
          names.map((name, c) => arrays.cells(`link_attributes/${name}/0`, grid, unit(c))),
        );
        const units = unitsOf(grid, inside, () => 1 << 14);
        await forEachConcurrent(units, 4, async (which) => {
          const places = which.map((i) => inside[i]!);
          const buckets = await rows!.read(places.map((chunk) => chunk + 1));
          const links = buckets.map((bucket): LinkCell => {
            const groups = Uint32Array.of(0, bucket.rows);
            return { count: bucket.rows, width, ends: endsOf(bucket).ends, perms: undefined, groups };
          });
          await cells.put(
            places,
            links.map((cell) => LinkCell.encode(cell, false)),
          );
          await groups.put(
            places,
            links.map((cell) => FragmentIndex.encode(FragmentIndex.ofRanges([cell.count]))),
          );
          for (const [c, column] of columns.entries())
            await column.put(
              places,
              buckets.map((bucket) => taken![c]!.cell(bucket.columns[2 + c]!)),
            );
        });
        await cells.finish({ zv_array: "links", dtype: "int64", link_width: width, level_delta: 0 });
        await groups.finish({});
        for (const [c, column] of columns.entries())
          await column.finish({
            zv_array: "link_attribute",
            name: names[c]!,
            level_delta: 0,
            ...taken![c]!.attributes(),
          });
        await arrays.document("links", groupDocument());
        for (const name of names) await arrays.document(`link_attributes/${name}`, groupDocument());
        if (names.length > 0) await arrays.document("link_attributes", groupDocument());
      }

      const across = counts[ACROSS] ?? 0;
      if (across > 0) {
        const [bucket] = await rows!.read([ACROSS]);
        const { fragment, ends } = endsOf(bucket!);
        const coords = new Int32Array(fragment.length * dims);
        for (let i = 0; i < fragment.length; i++) {
          const from = chunkOf(fragment[i]!) * dims;
          for (let axis = 0; axis < dims; axis++) coords[i * dims + axis] = chunks.tuples[from + axis]!;
        }
        const offsets = upTo(across + 1).map((l) => l * width);
        const data = CrossChunkLinks.encode({ count: across, dims, offsets, chunks: coords, vertices: ends });
        await arrays.blob("cross_chunk_links/0/data", data, 8);
        for (const [c, name] of names.entries()) {
          const path = `cross_chunk_link_attributes/${name}/0`;
          const { channels } = taken![c]!.info;
          await arrays.blob(`${path}/data`, taken![c]!.cell(bucket!.columns[2 + c]!), unit(c));
          const shape = channels === 1 ? [across] : [across, channels];
          const said = { zv_array: "cross_chunk_link_attribute", name, level_delta: 0, num_links: across, shape };
          await arrays.document(path, groupDocument({ ...said, ...taken![c]!.attributes() }));
          await arrays.document(`cross_chunk_link_attributes/${name}`, groupDocument());
        }
        if (names.length > 0) await arrays.document("cross_chunk_link_attributes", groupDocument());
        const said = { zv_array: "cross_chunk_links", level_delta: 0, link_width: width, num_links: across };
        await arrays.document("cross_chunk_links/0", groupDocument({ ...said, sid_ndim: dims }));
        // The validator of zarr-vectors 0.2.0 fails on links of more than two ends, unless it overlooks them.
        if (width === 2) await arrays.document("cross_chunk_links", groupDocument());
      }
      const present = kind.path ? [] : names.length > 0 ? ["links", "link_attributes"] : ["links"];
      return across > 0 && !kind.path ? [...present, "cross_chunk_links"] : present;
    },
  };
}
