/** The links of a level that is copied: those within it, and those to other levels. */

import { bytesOf } from "../../../codec/numeric.js";
import { Corrupt } from "../../../errors.js";
import type { LinkSet } from "../../../model/source.js";
import type { Schema } from "../../../model/vectors.js";
import { CrossChunkLinks } from "../payload/cross-chunk-links.js";
import { LinkCell } from "../payload/link-cells.js";
import { LinkOffsets } from "../payload/link-offsets.js";
import { Delta, type LevelLinks, linksBetween } from "../read/link-levels.js";
import type { Kind } from "../write/description.js";
import { spool } from "../write/spill.js";
import { linkWriter07 } from "../write/write-07-links.js";
import type { Cutter } from "../write/write-cut.js";
import { groupDocument } from "../write/write-documents.js";
import { orderBy, unitsOf, upTo } from "../write/write-layout.js";
import { linkWriter } from "../write/write-links.js";
import { Growing, numbering } from "../write/write-numbering.js";
import { settled } from "./copy-columns.js";
import type { LevelCopy } from "./copy-level.js";

/** The names of the families, as the level names them, and whether there are links to other levels. */
export async function copyLinks(
  copy: LevelCopy,
  schema: Schema,
): Promise<{ readonly present: readonly string[]; readonly between: boolean }> {
  const present = await copyOwn(copy, schema);
  const { opened, meta, arrays, options } = copy;
  const nodes = await opened.nodes(meta.level, options);
  const families = [
    ...(await nodes.children("links", options)),
    ...(await nodes.children("cross_chunk_links", options)),
  ];
  const leads = (delta: number | undefined): delta is number =>
    delta !== undefined && delta !== 0 && opened.levels.includes(meta.level + delta);
  const deltas = new Set(families.map(Delta.parse).filter(leads));
  for (const delta of deltas) await copyBetween(copy, delta);
  if (deltas.size > 0 && !present.includes("links")) await arrays.document("links", groupDocument());
  return { present, between: deltas.size > 0 };
}

/** Chunks stand for fragments: what a link names is a vertex of a chunk. */
async function copyOwn(copy: LevelCopy, schema: Schema): Promise<string[]> {
  const { source, opened, meta, plan, table, grid, old, arrays, scratch, options } = copy;
  if (source.geometry === "points") return [];
  const names = schema.link.map(({ name }) => name);
  const all = upTo(table.count);
  const chunks = { count: table.count, tuples: table.coords, of: () => 0, find: () => -1 };
  const chunk = Object.assign(new Growing(), { values: all, length: table.count });
  const cutter: Pick<Cutter, "chunks" | "fragments"> = {
    chunks,
    fragments: { chunk, owner: new Growing(), size: new Growing(), given: new Growing() },
  };
  const family = await (await opened.nodes(meta.level, options)).attributes("links/0", options);
  const implied = old !== undefined && source.geometry === "skeletons" && source.sequential;
  const parents = implied ? table.count : 0;
  const known = Array.from({ length: parents }, (): Set<number> => new Set()); // children whose parent is stored
  let writer: ReturnType<typeof linkWriter> | undefined;

  const take = async ({ width, count, chunks: where, vertices, columns }: LinkSet): Promise<void> => {
    writer ??= writerOf(width);
    const ends = upTo(count * width);
    const links = { width, ends, columns: new Map([...columns].map(([name, own]) => [name, settled(own)])) };
    const places = { fragment: Uint32Array.from(where), ordinal: vertices };
    await writer.take(links, places, writer.columns(links));
    if (implied) for (let l = 0; l < count; l++) known[where[l * width]!]!.add(vertices[l * width]!);
  };
  const writerOf = (width: number) => {
    const kind: Kind = { ...plan.kind, convention: "explicit" };
    const own = {
      ...plan,
      kind,
      geometry: "graph" as const,
      dims: grid.dims,
      linkWidth: width,
      directed: old !== undefined || family?.directed === true,
      duplicate: family?.store === "duplicate" && old === undefined,
      attributes: undefined,
    };
    return old === undefined
      ? linkWriter(own, cutter as Cutter, scratch) // which asks for no more
      : linkWriter07(own, cutter, scratch, old);
  };
  for await (const set of source.links({ meets: () => true }, names, options)) if (set.count > 0) await take(set);
  if (implied) for await (const set of impliedLinks(copy, known)) await take(set);
  if (writer === undefined && source.linkWidth > 0) writer = writerOf(source.linkWidth);
  if (writer === undefined) return [];
  const layout = { grid, chunkCount: table.count, rank: all, first: new Uint32Array(table.count), ...nothing };
  return writer.finish(arrays, layout);
}

const nothing = { offsets: new Uint32Array(), list: new Uint32Array(), index: new Uint32Array() };

/** zarr-vectors 0.2.0 would take the vertex before for the parent even across trees, so what follows from the order is stored. */
async function* impliedLinks(
  { source, table, options }: LevelCopy,
  known: readonly Set<number>[],
): AsyncGenerator<LinkSet> {
  const all = Array.from({ length: table.count }, (_, chunk) => chunk);
  for await (const { chunk, parts } of source.tiles(all, { positions: false, vertex: [], fragment: [] }, options)) {
    const ends: number[] = [];
    for (let p = 0; p + 1 < parts.length; p++)
      for (let v = parts[p]! + 1; v < parts[p + 1]!; v++) if (!known[chunk]!.has(v)) ends.push(v, v - 1);
    const chunks = new Int32Array(ends.length).fill(chunk);
    if (ends.length > 0)
      yield { width: 2, count: ends.length / 2, chunks, vertices: Uint32Array.from(ends), columns: new Map() };
  }
}

/**
 * Links to another level. From 0.9 on in the cell of the first end, in the array of the offsets of the others from the chunk
 * there that has the lower corner of the cell; before, in the cell where both have the same coordinates, else in one blob.
 */
async function copyBetween(copy: LevelCopy, delta: number): Promise<void> {
  const { opened, meta, arrays, old, grid, table, scratch, options } = copy;
  const rank = grid.dims;
  const other = await opened.level(meta.level + delta, options);
  const lead = rank - meta.chunkShape.length;
  const anchor = (at: number, axis: number): number =>
    axis < lead ? at : Math.floor((at * meta.chunkShape[axis - lead]!) / other.chunkShape[axis - lead]!);
  let width = 0;
  let cells = numbering(1);
  let rows = spool([], scratch);
  let count = 0;
  const across: LevelLinks[] = [];
  for await (const links of linksBetween(opened, meta.level, delta, options)) {
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
          tuple[1 + (k - 1) * rank + axis] = old === undefined ? to - anchor(start, axis) : 0;
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
  const said = { zv_array: "cross_chunk_links", level_delta: delta, link_width: width, num_links: far, sid_ndim: rank };
  await arrays.document(`cross_chunk_links/${name}`, groupDocument(said));
  await arrays.document("cross_chunk_links", groupDocument());
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
