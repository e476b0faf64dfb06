/**
 * Links from a level to another. From 0.9 on in the cell of the first end, in the array of the offsets of the others from the chunk
 * there that has the lower corner of the cell; before, in the cell where both have the same coordinates, else in one blob.
 */
import { bytesOf } from "../../../codec/numeric.js";
import { Corrupt } from "../../../errors.js";
import type { ChunkTable } from "../../../model/source.js";
import type { Scratch } from "../../../store/scratch.js";
import { CrossChunkLinks } from "../payload/cross-chunk-links.js";
import { LinkCell } from "../payload/link-cells.js";
import { LinkOffsets } from "../payload/link-offsets.js";
import { anchorOf, Delta, type LevelLinks } from "../read/link-levels.js";
import type { LevelMeta } from "../types.js";
import { spool } from "./spill.js";
import type { Arrays07 } from "./write-07-arrays.js";
import type { Arrays, Grid } from "./write-arrays.js";
import { groupDocument } from "./write-documents.js";
import { orderBy, unitsOf, upTo } from "./write-layout.js";
import { Growing, numbering } from "./write-numbering.js";

/** The level that links begin in. */
export interface LinkedLevel {
  readonly meta: LevelMeta;
  readonly table: ChunkTable;
  readonly grid: Grid;
  /** Below the level; in 0.7.0 the second is the same. */
  readonly arrays: Arrays;
  readonly old?: Arrays07 | undefined;
  readonly scratch: Scratch;
}

export interface BetweenWriter {
  add(links: LevelLinks): Promise<void>;
  /** Writes the family, where there were any. */
  finish(): Promise<void>;
}

export function betweenWriter(level: LinkedLevel, other: LevelMeta, delta: number): BetweenWriter {
  const { meta, arrays, old, grid, table, scratch } = level;
  const rank = grid.dims;
  const anchors = Array.from({ length: table.count }, (_, chunk) =>
    anchorOf(table.coords.subarray(chunk * rank, (chunk + 1) * rank), meta, other),
  );
  let width = 0;
  let cells = numbering(1);
  let rows = spool([], scratch);
  let count = 0;
  const across: LevelLinks[] = [];

  async function add(links: LevelLinks): Promise<void> {
    if (width === 0) {
      width = links.width;
      cells = numbering(1 + (width - 1) * rank);
      rows = spool([4 * width], scratch);
    }
    const total = links.vertices.length / width;
    const buckets = new Uint32Array(total);
    const tuple = new Int32Array(1 + (width - 1) * rank);
    const apart: number[] = [];
    const inside: number[] = [];
    for (let l = 0; l < total; l++) {
      const from = l * width * rank;
      tuple[0] = table.find(links.chunks, from);
      if (tuple[0] < 0)
        throw new Corrupt(`${meta.path}/${links.path} has links in a chunk that has no vertices`, { where: meta.path });
      let same = true;
      for (let k = 1; k < width; k++)
        for (let axis = 0; axis < rank; axis++) {
          const to = links.chunks[from + k * rank + axis]!;
          const start = links.chunks[from + axis]!;
          if (to !== start) same = false;
          tuple[1 + (k - 1) * rank + axis] = old === undefined ? to - anchors[tuple[0]!]![axis]! : 0;
        }
      if (old !== undefined && !same) {
        apart.push(l);
        continue;
      }
      buckets[inside.length] = cells.of(tuple);
      inside.push(l);
    }
    count += total;
    if (apart.length > 0) across.push(pick(links, apart));
    const kept = inside.length === total ? links : pick(links, inside);
    await rows.add([bytesOf(kept.vertices)], {
      count: inside.length,
      rows: inside.length,
      buckets,
      starts: upTo(inside.length),
    });
  }

  async function finish(): Promise<void> {
    if (count === 0) return;
    const name = Delta.format(delta);
    const offsets = numbering(Math.max(1, (width - 1) * rank));
    const arrayOf = new Growing();
    for (let cell = 0; cell < cells.count; cell++)
      arrayOf.push(offsets.of(cells.tuples, cell * (1 + (width - 1) * rank) + 1));
    const byArray = ordered(arrayOf, offsets.count);
    for (let array = 0; array < offsets.count; array++) {
      const shifts = Array.from({ length: width - 1 }, (_, k) => [
        ...offsets.tuples.subarray((array * (width - 1) + k) * rank, (array * (width - 1) + k + 1) * rank),
      ]);
      const own = byArray.sorted.subarray(byArray.offsets[array], byArray.offsets[array + 1]);
      const path = old === undefined ? `links/${name}/${LinkOffsets.format(shifts)}` : `links/${name}`;
      const target = await arrays.cells(path, grid);
      const chunkOf = own.map((cell) => cells.tuples[cell * (1 + (width - 1) * rank)]!);
      for (const unit of unitsOf(grid, chunkOf, () => 1 << 16)) {
        const buckets = await rows.read(unit.map((i) => own[i]!));
        const payloads = buckets.map(({ rows: links, columns: [ends] }) => {
          const numbers = new Uint32Array(ends!.buffer, ends!.byteOffset, ends!.length / 4);
          return LinkCell.encode(
            { count: links, width, ends: numbers, perms: undefined, groups: Uint32Array.of(0, links) },
            true,
          );
        });
        await target.put(
          unit.map((i) => chunkOf[i]!),
          payloads,
        );
      }
      const said = { zv_array: "links", dtype: "int64", link_width: width, level_delta: delta };
      await target.finish(old === undefined ? { ...said, offsets: shifts, has_perm: false } : said);
    }
    if (old === undefined) {
      const family = {
        zv_array: "links_family",
        level_delta: delta,
        link_width: width,
        directed: true,
        store: "canonical",
      };
      await arrays.document(
        `links/${name}`,
        groupDocument({ ...family, sid_ndim: rank, num_links: count, num_physical_records: count }),
      );
      return;
    }
    const far = across.reduce((sum, { vertices }) => sum + vertices.length / width, 0);
    if (far === 0) return;
    const chunks = Int32Array.from(across.flatMap((links) => [...links.chunks]));
    const vertices = Uint32Array.from(across.flatMap((links) => [...links.vertices]));
    const starts = upTo(far + 1).map((l) => l * width);
    const data = CrossChunkLinks.encode({ count: far, dims: rank, offsets: starts, chunks, vertices });
    await old.blob(`cross_chunk_links/${name}/data`, data, 8);
    const said = {
      zv_array: "cross_chunk_links",
      level_delta: delta,
      link_width: width,
      num_links: far,
      sid_ndim: rank,
    };
    await arrays.document(`cross_chunk_links/${name}`, groupDocument(said));
    await arrays.document("cross_chunk_links", groupDocument());
  }
  return { add, finish };
}

const ordered = (keys: Growing, end: number) => orderBy(upTo(keys.length), keys.values, end);

function pick({ path, width, rank, chunks, vertices }: LevelLinks, rows: readonly number[]): LevelLinks {
  const out = { chunks: new Int32Array(rows.length * width * rank), vertices: new Uint32Array(rows.length * width) };
  for (const [i, row] of rows.entries()) {
    out.chunks.set(chunks.subarray(row * width * rank, (row + 1) * width * rank), i * width * rank);
    out.vertices.set(vertices.subarray(row * width, (row + 1) * width), i * width);
  }
  return { path, width, rank, ...out };
}
