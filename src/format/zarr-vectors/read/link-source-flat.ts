/**
 * Links up to 0.7: cells for those within a chunk, one blob for all others, which is read once.
 *
 * A mesh of 0.3 to early 0.5 has its faces across chunks in `cross_chunk_faces`, and beside them their edges in
 * `cross_chunk_links`, as pairs: those are not links of the mesh. In 0.2 the edges are all there is: three in a row that close
 * are a face.
 */
import { Corrupt } from "../../../errors.js";
import type { Column } from "../../../model/attributes.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { LinkFilter, LinkSet } from "../../../model/source.js";
import { absentColumn } from "../../../query/columns.js";
import type { Directory } from "../nodes/nodes-directory.js";
import { once } from "../nodes/once.js";
import { AttributeCell } from "../payload/attribute-cell.js";
import { CrossChunkLinks } from "../payload/cross-chunk-links.js";
import { LinkCell } from "../payload/link-cells.js";
import type { Cells } from "../types.js";
import { chooser, type LinkContext, type LinkSource, pickLinks, stacked } from "./link-source.js";
import { attributeInfo } from "./schema.js";
import { sumOf } from "./tiles.js";

export async function flatLinks(context: LinkContext, options?: ReadOptions): Promise<LinkSource | undefined> {
  const { nodes, where } = context;
  const [cells, cross, faces] = await Promise.all([
    nodes.cells("links/0", options),
    nodes.attributes("cross_chunk_links/0", options),
    nodes.attributes("cross_chunk_faces", options),
  ]);
  if (cells === undefined && cross === undefined && faces === undefined) return undefined;
  const crossWidth = cross?.link_width ?? 2;
  const inner = cells?.attributes.link_width;
  const directory = cells === undefined ? undefined : await cells.directory(options);
  const edges = context.mesh && faces === undefined && crossWidth === 2;
  const width =
    directory !== undefined && directory.count > 0 && typeof inner === "number"
      ? inner
      : faces || edges
        ? 3
        : crossWidth;
  if (typeof width !== "number" || !Number.isInteger(width) || width < 1 || width > 12)
    throw new Corrupt(`${where}/links should have a link_width from 1 to 12, found ${String(width)}`, { where });
  const path = faces !== undefined ? "cross_chunk_faces" : "cross_chunk_links/0";
  const others = once((now) => readOthers(context, path, width, edges, now));
  return {
    width,
    /** How much the blob of all others is nobody tells. */
    async cost(filter, _, now) {
      const places = cells && directory && chosenCells(context, directory, filter).places;
      const inner = places && (await cells.cost(places, now));
      return sumOf([inner, cross || faces ? { requests: faces ? 2 : 1, bytes: 0, exact: false } : undefined]);
    },
    async *read(filter, columns, now) {
      if (cells !== undefined && directory !== undefined)
        yield* readCells(context, width, cells, directory, filter, columns, now);
      const all = await others(now);
      if (all === undefined) return;
      const choose = chooser(context, width, filter);
      const rows: number[] = [];
      for (let l = 0; l < all.count; l++) if (choose(all.chunks, l * width)) rows.push(l);
      if (rows.length > 0) yield pickLinks(await withColumns(context, all, columns, now), rows);
    },
  };
}

/** All links from chunk to chunk. */
async function readOthers(
  { nodes, table, where: level }: LinkContext,
  path: string,
  width: number,
  edges: boolean,
  options?: ReadOptions,
): Promise<LinkSet | undefined> {
  const where = `${level}/${path}`;
  const data = await nodes.blob(`${path}/data`, options);
  if (data === undefined) return undefined;
  const offsets = path === "cross_chunk_faces" ? await nodes.blob(`${path}/offsets`, options) : undefined;
  const links =
    offsets === undefined
      ? CrossChunkLinks.parse(data, edges ? 2 : width, table.rank, where)
      : CrossChunkLinks.parseFaces(data, offsets, table.rank, where);
  for (let l = 0; l < links.count; l++)
    if (links.offsets[l + 1]! - links.offsets[l]! !== (edges ? 2 : width))
      throw new Corrupt(`${where} should have ${width} ends for each link`, { where });
  const chunks = new Int32Array(links.vertices.length);
  for (let end = 0; end < chunks.length; end++) {
    chunks[end] = table.find(links.chunks, end * table.rank);
    if (chunks[end]! < 0) throw new Corrupt(`${where} has a link to a chunk that has no vertices`, { where });
  }
  const set = { width, count: links.count, chunks, vertices: links.vertices, columns: new Map() };
  return edges ? facesOfEdges(set, where) : set;
}

/** a–b, b–c, c–a is the face a, b, c. */
function facesOfEdges({ count, chunks, vertices }: LinkSet, where: string): LinkSet {
  const faces = count / 3;
  const out = { chunks: new Int32Array(count), vertices: new Uint32Array(count) };
  for (let e = 0; e < count; e++) {
    const next = 2 * (e % 3 === 2 ? e - 2 : e + 1);
    if (count % 3 !== 0 || chunks[2 * e + 1] !== chunks[next] || vertices[2 * e + 1] !== vertices[next])
      throw new Corrupt(
        `${where} should be the edges of triangles, three in a row that close, but edge ${e} does not`,
        { where },
      );
    out.chunks[e] = chunks[2 * e]!;
    out.vertices[e] = vertices[2 * e]!;
  }
  return { width: 3, count: faces, ...out, columns: new Map() };
}

async function withColumns(
  { nodes, where }: LinkContext,
  links: LinkSet,
  names: readonly string[],
  options?: ReadOptions,
): Promise<LinkSet> {
  const columns = new Map<string, Column>();
  for (const name of names) {
    const path = `cross_chunk_link_attributes/${name}/0`;
    const attributes = await nodes.attributes(path, options);
    const blob = attributes && (await nodes.blob(`${path}/data`, options));
    if (attributes !== undefined && blob !== undefined) {
      columns.set(
        name,
        AttributeCell.parse(blob, attributeInfo(name, attributes, path), links.count, `${where}/${path}`),
      );
      continue;
    }
    // Some writers kept the attributes of links within a chunk only.
    const own = await nodes.attributes(`link_attributes/${name}/0`, options);
    if (own !== undefined) columns.set(name, absentColumn(attributeInfo(name, own, path), links.count));
  }
  return { ...links, columns };
}

/** The cells that are asked for: their chunks, and where they lie. */
function chosenCells(
  context: LinkContext,
  { count, rank, coords }: Directory,
  filter: LinkFilter,
): { readonly chunks: number[]; readonly places: Int32Array } {
  const { table, where } = context;
  const choose = chooser(context, 1, filter);
  const chunks: number[] = [];
  const places = new Int32Array(count * rank);
  for (let cell = 0; cell < count; cell++) {
    const chunk = table.find(coords, cell * rank);
    if (chunk < 0) throw new Corrupt(`${where}/links/0 has links in a chunk that has no vertices`, { where });
    if (!choose(Int32Array.of(chunk), 0)) continue;
    places.set(coords.subarray(cell * rank, (cell + 1) * rank), chunks.length * rank);
    chunks.push(chunk);
  }
  return { chunks, places: places.subarray(0, chunks.length * rank) };
}

async function* readCells(
  context: LinkContext,
  width: number,
  cells: Cells,
  directory: Directory,
  filter: LinkFilter,
  names: readonly string[],
  options?: ReadOptions,
): AsyncGenerator<LinkSet> {
  const { nodes, where } = context;
  const { chunks, places } = chosenCells(context, directory, filter);
  if (chunks.length === 0) return;
  const ragged = nodes.dialect.fragments === "offsets";
  const payloads = await cells.read(places, options);
  const parsed = payloads.map((bytes) =>
    LinkCell.parse(bytes ?? new Uint8Array(), { width, ragged, perm: false }, `${where}/links/0`),
  );
  const total = parsed.reduce((sum, cell) => sum + cell.count, 0);
  const out = { chunks: new Int32Array(total * width), vertices: new Uint32Array(total * width) };
  let at = 0;
  for (const [i, cell] of parsed.entries()) {
    out.chunks.fill(chunks[i]!, at, at + cell.ends.length);
    out.vertices.set(cell.ends, at);
    at += cell.ends.length;
  }
  const columns = new Map<string, Column>();
  for (const name of names) {
    const array = await nodes.cells(`link_attributes/${name}/0`, options);
    if (array === undefined) continue;
    const info = attributeInfo(name, array.attributes, array.path);
    const blobs = await array.read(places, options);
    if (blobs.every((blob) => blob === undefined)) {
      columns.set(name, absentColumn(info, total)); // 0.2 made the array, and wrote nothing into it
      continue;
    }
    columns.set(
      name,
      stacked(
        blobs.map((blob, i) =>
          AttributeCell.parse(blob ?? new Uint8Array(), info, parsed[i]!.count, `${where}/${array.path}`),
        ),
      ),
    );
  }
  yield { width, count: total, ...out, columns };
}
