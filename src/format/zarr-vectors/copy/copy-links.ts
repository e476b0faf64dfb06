import type { LinkSet } from "../../../model/source.js";
import type { Schema } from "../../../model/vectors.js";
import { Delta, linksBetween } from "../read/link-levels.js";
import type { Kind } from "../write/description.js";
import { linkWriter07 } from "../write/write-07-links.js";
import { betweenWriter } from "../write/write-between.js";
import type { Cutter } from "../write/write-cut.js";
import { groupDocument } from "../write/write-documents.js";
import { upTo } from "../write/write-layout.js";
import { linkWriter } from "../write/write-links.js";
import { Growing } from "../write/write-numbering.js";
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

const nothing = { offsets: new Uint32Array(), list: new Uint32Array(), moved: new Map() };

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

/** Links to another level. */
async function copyBetween(copy: LevelCopy, delta: number): Promise<void> {
  const { opened, meta, options } = copy;
  const writer = betweenWriter(copy, await opened.level(meta.level + delta, options), delta);
  for await (const links of linksBetween(opened, meta.level, delta, options)) await writer.add(links);
  await writer.finish();
}
