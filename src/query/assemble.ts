/**
 * Objects put together from the tiles in which their parts lie, some at a time, as one batch. First the sizes of all parts are
 * known, so that every tile, in whatever order it comes, is copied to its place and can be forgotten.
 */
import { Corrupt, LimitExceeded } from "../errors.js";
import { withLimits } from "../limits.js";
import type { ReadOptions } from "../model/dataset.js";
import type { LevelSource, Placement, Tile, Want } from "../model/source.js";
import type { Batch, Positions } from "../model/vectors.js";
import { ColumnsBuilder } from "./columns.js";
import { joinLinks, type Links } from "./links.js";

/** What to put together: item i is an object, or a part that nobody owns (row −1), and its blocks. */
export interface Items {
  readonly rows: Int32Array;
  readonly place: Placement;
  /** For each block 1 where what came before it in its object was left out. */
  readonly gaps?: Uint8Array | undefined;
}

/** The attributes to bring along, by domain. */
export interface Wanted {
  readonly vertex: readonly string[];
  readonly fragment: readonly string[];
  readonly object: readonly string[];
  readonly link: readonly string[];
}

/** A batch whose fragments are known, with the links that lead out of it. */
export interface Assembled extends Batch {
  readonly fragments: NonNullable<Batch["fragments"]>;
  /** Object row of each of `ids`. */
  readonly rows: Uint32Array;
  readonly outward: Links | undefined;
}

const HELD = 512; // tiles that are kept in hand rather than asked for twice

export const isPath = ({ geometry }: { readonly geometry: string }): boolean =>
  geometry === "lines" || geometry === "polylines" || geometry === "streamlines";

export async function assemble(
  source: LevelSource,
  items: Items,
  wanted: Wanted,
  options: ReadOptions = {},
): Promise<Assembled> {
  const { dims } = source;
  const { rows, place } = items;
  const chunks = [...new Set(place.chunk)].sort((a, b) => a - b);
  const want: Want = { positions: true, vertex: wanted.vertex, fragment: wanted.fragment };
  const held = chunks.length <= HELD ? await collect(source.tiles(chunks, want, options)) : undefined;
  const sizes = new Map<number, Uint32Array>();
  for await (const { chunk, parts } of held ??
    source.tiles(chunks, { positions: false, vertex: [], fragment: [] }, options))
    sizes.set(chunk, parts);

  const layout = lay(items, sizes, isPath(source));
  const total = layout.fragments[layout.count]!;
  const limits = withLimits(options.limits);
  if (total * dims * 8 > limits.resultBytes || total >= 2 ** 32)
    throw new LimitExceeded(
      `${rows.length} objects with ${total} vertices are more than the ${limits.resultBytes} bytes of one batch`,
    );

  let positions: Positions | undefined;
  const vertexColumns = new ColumnsBuilder(total);
  const fragmentColumns = new ColumnsBuilder(layout.count);
  for await (const tile of held ?? source.tiles(chunks, want, options)) {
    positions ??=
      tile.positions instanceof Float64Array ? new Float64Array(total * dims) : new Float32Array(total * dims);
    copyTile(tile, layout, dims, positions, vertexColumns, fragmentColumns);
  }
  const owners = rows.filter((row) => row >= 0);
  const objectRows = Uint32Array.from(owners);
  const objects = source.objects;
  const [ids, objectColumns, links] = await Promise.all([
    objects === undefined ? new BigInt64Array() : objects.ids(objectRows, options),
    objects === undefined ? new Map() : objects.columns(wanted.object, objectRows, options),
    source.linkWidth > 0 && !isPath(source) ? joinLinks(source, layout, chunks, wanted.link, options) : undefined,
  ]);
  // Items without an owner have no id: the ids are those of the others, in their order.
  const place_ = new Int32Array(rows.length);
  for (let i = 0, next = 0; i < rows.length; i++) place_[i] = rows[i]! < 0 ? -1 : next++;
  return {
    level: source.level,
    geometry: source.geometry,
    dims,
    positions: positions ?? new Float32Array(),
    parts: layout.parts,
    objects: layout.items.map((item) => place_[item]!),
    ids,
    rows: objectRows,
    links: links?.inside,
    outward: links?.outward,
    fragments: { offsets: layout.fragments, columns: fragmentColumns.done() },
    vertexColumns: vertexColumns.done(),
    objectColumns,
    chunk: chunks.length === 1 ? chunkOf(await source.chunks(options), chunks[0]!) : undefined,
  };
}

const chunkOf = ({ coords, rank }: { coords: Int32Array; rank: number }, chunk: number): number[] => [
  ...coords.subarray(chunk * rank, (chunk + 1) * rank),
];

async function collect(tiles: AsyncIterable<Tile>): Promise<Tile[]> {
  const list: Tile[] = [];
  for await (const tile of tiles) list.push(tile);
  return list;
}

/** Where everything goes. */
export interface Layout {
  /** Fragments in the batch, in order. */
  readonly count: number;
  /** Fragment f is the vertices fragments[f] up to fragments[f + 1] of the batch. */
  readonly fragments: Uint32Array;
  readonly item: Uint32Array;
  readonly chunk: Int32Array;
  readonly part: Uint32Array;
  /** The first vertex of its part in the tile. */
  readonly from: Uint32Array;
  /** The fragments that come from each chunk. */
  readonly byChunk: ReadonlyMap<number, readonly number[]>;
  readonly parts: Uint32Array;
  /** The item of each part of the batch. */
  readonly items: Int32Array;
  readonly tileSizes: ReadonlyMap<number, number>;
}

function lay({ rows, place, gaps }: Items, sizes: ReadonlyMap<number, Uint32Array>, paths: boolean): Layout {
  let count = 0;
  for (let b = 0; b < place.count.length; b++) count += place.count[b]!;
  const fragments = new Uint32Array(count + 1);
  const [item, chunk, part, from] = [
    new Uint32Array(count),
    new Int32Array(count),
    new Uint32Array(count),
    new Uint32Array(count),
  ];
  const byChunk = new Map<number, number[]>();
  const parts: number[] = [];
  const items: number[] = [];
  let f = 0;
  for (let i = 0; i < rows.length; i++) {
    parts.push(fragments[f]!);
    items.push(i);
    for (let b = place.offsets[i]!; b < place.offsets[i + 1]!; b++) {
      const c = place.chunk[b]!;
      const inTile = sizes.get(c);
      const end = place.first[b]! + place.count[b]!;
      if (inTile === undefined || end >= inTile.length)
        throw new Corrupt(
          `an object has fragment ${end - 1} of a chunk, but the chunk has ${(inTile?.length ?? 1) - 1} fragments`,
        );
      if (paths && gaps?.[b] === 1 && fragments[f]! > parts.at(-1)!) {
        parts.push(fragments[f]!);
        items.push(i);
      }
      let list = byChunk.get(c);
      if (list === undefined) {
        list = [];
        byChunk.set(c, list);
      }
      for (let p = place.first[b]!; p < end; p++, f++) {
        item[f] = i;
        chunk[f] = c;
        part[f] = p;
        from[f] = inTile[p]!;
        fragments[f + 1] = fragments[f]! + inTile[p + 1]! - inTile[p]!;
        list.push(f);
      }
    }
  }
  parts.push(fragments[f]!);
  const tileSizes = new Map([...sizes].map(([c, offsets]) => [c, offsets[offsets.length - 1]!]));
  return {
    count,
    fragments,
    item,
    chunk,
    part,
    from,
    byChunk,
    parts: Uint32Array.from(parts),
    items: Int32Array.from(items),
    tileSizes,
  };
}

function copyTile(
  tile: Tile,
  { byChunk, fragments, from, part }: Layout,
  dims: number,
  positions: Positions,
  vertices: ColumnsBuilder,
  ofFragments: ColumnsBuilder,
): void {
  for (const f of byChunk.get(tile.chunk) ?? []) {
    const [start, at, size] = [from[f]!, fragments[f]!, fragments[f + 1]! - fragments[f]!];
    if (size > 16) positions.set(tile.positions.subarray(start * dims, (start + size) * dims), at * dims);
    else for (let i = 0; i < size * dims; i++) positions[at * dims + i] = tile.positions[start * dims + i]!;
    vertices.put(tile.vertexColumns, start, size, at);
    ofFragments.put(tile.fragmentColumns, part[f]!, 1, f);
  }
}
