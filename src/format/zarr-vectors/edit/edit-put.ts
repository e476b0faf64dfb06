/**
 * New geometry in a level: cut as the writer cuts it (write-cut.ts), its fragments put behind those that are there. Points
 * without objects go into the bins of their chunks.
 */
import { bytesOf } from "../../../codec/numeric.js";
import { Unsupported } from "../../../errors.js";
import type { Links } from "../../../model/vectors.js";
import { Directory } from "../nodes/nodes-directory.js";
import type { Block } from "../payload/manifest-write.js";
import { geometryOf } from "../read/geometry.js";
import { attributeInfo } from "../read/schema.js";
import { type Plan, planOf } from "../write/description.js";
import { type BatchParts, type Rows, rowsOf } from "../write/write-batch.js";
import { binsOf } from "../write/write-bins.js";
import { type Cut, cutter, type Fragments } from "../write/write-cut.js";
import { upTo } from "../write/write-layout.js";
import { notImplied } from "../write/write-skeleton.js";
import { addFragments, addToFragments, pickRows } from "./edit-chunks.js";
import { refuseOthers, takeColumn } from "./edit-columns.js";
import { linkArrays, linkAttributes, linkDescription, linksWithin, linkTaker } from "./edit-families.js";
import { expandGrid } from "./edit-grid.js";
import type { LevelEdit } from "./edit-level.js";
import { addLinks } from "./edit-links.js";

/** What a level's own documents say about geometry that is put into it. */
export async function planFor({ tree, meta, dtype, objects }: LevelEdit): Promise<Plan> {
  const { root, url } = tree.opened;
  const geometry = geometryOf(root.geometryTypes[0]);
  if (geometry === undefined || meta.chunkAttribute !== undefined)
    throw new Unsupported(
      geometry === undefined
        ? `${url} holds ${root.geometryTypes.join(", ") || "no geometry"}, to which nothing can be added`
        : `${url} is chunked by the attribute ${meta.chunkAttribute!.name}, and nothing can be added to it`,
      { where: url },
    );
  const family = (await tree.group(`${meta.path}/links/0`))?.attributes;
  const links = family && {
    width: Number(family.link_width),
    directed: family.directed === true,
    store: family.store === "duplicate" ? ("duplicate" as const) : ("canonical" as const),
  };
  return planOf({
    geometry,
    axes: root.axes,
    dtype,
    chunkShape: meta.chunkShape,
    ...(objects === undefined ? { binShape: meta.binShape } : {}),
    ...(links === undefined || geometry === "points" || isPath(geometry) ? {} : { links }),
  });
}

const isPath = (geometry: string): boolean =>
  geometry === "lines" || geometry === "polylines" || geometry === "streamlines";

/** A batch, checked, with positions as they are stored, and the box around them. */
export function checkBatch(
  level: LevelEdit,
  plan: Plan,
  batch: BatchParts,
): { rows: Rows; min: Float64Array; max: Float64Array } {
  const shift = level.tree.opened.root.coordinateOffset;
  const moved = shift?.some((by) => by !== 0) === true;
  const positions = moved
    ? Float64Array.from(batch.positions, (value, i) => value - shift![i % plan.dims]!)
    : batch.positions;
  const extent = { min: new Float64Array(plan.dims).fill(Infinity), max: new Float64Array(plan.dims).fill(-Infinity) };
  const rows = rowsOf(plan, level.dtype, { ...batch, positions }, extent, { vertices: 0, objects: 0 });
  return { rows, ...extent };
}

/** Puts the vertices of a batch into their chunks; part p belongs to the object of this number, or to nobody (−1). */
export async function putGeometry(
  level: LevelEdit,
  plan: Plan,
  batch: BatchParts,
  owners: Int32Array,
  ids: readonly bigint[],
  expand: boolean,
): Promise<Block[][]> {
  const { chunks, tree, objects, ownersAt, meta } = level;
  const { rows, min, max } = checkBatch(level, plan, batch);
  refuseOthers(
    rows.vertexColumns,
    chunks.vertexAttributes.map(({ info }) => info.name),
    "vertex",
  );
  if (rows.count > 0) await expandGrid(level, min, max, expand);
  const columns = [
    rows.stored,
    ...chunks.vertexAttributes.map((attribute) =>
      takeColumn(attribute, rows.vertexColumns.get(attribute.info.name), rows.count, "vertex"),
    ),
  ];
  const widths = columns.map((column) => column.length / Math.max(1, rows.count));
  const cuts = cutter(plan, level.meta.chunkShape, objects !== undefined);
  const cut = cuts.cut(rows, owners);
  const names = Array.from({ length: cuts.chunks.count }, (_, c) =>
    Directory.key(cuts.chunks.tuples, c * plan.dims, plan.dims),
  );
  const edits = await Promise.all(names.map((name) => chunks.chunk(name)));
  if (objects === undefined) {
    const inChunks = byBucket(cut, names.length);
    for (const [c, list] of inChunks.entries()) {
      const coords = cuts.chunks.tuples.subarray(c * plan.dims, (c + 1) * plan.dims);
      const { count, bins } = binsOf(meta.chunkShape, meta.binShape, coords, rows.positions, list);
      addToFragments(
        edits[c]!,
        count,
        bins,
        columns.map((column, i) => pickRows(column, widths[i]!, list)),
      );
    }
    return [];
  }

  const { fragments } = cuts;
  const vertices = byFragment(cut, fragments, rows.count);
  const byChunk: number[][] = names.map(() => []);
  for (let f = 0; f < fragments.size.length; f++) byChunk[fragments.chunk.values[f]!]!.push(f);
  const number = new Uint32Array(fragments.size.length); // in its chunk
  const start = new Uint32Array(fragments.size.length); // its first entry there
  const before = edits.map(({ sizes }) => sizes.reduce((sum, size) => sum + size, 0)); // entries of each chunk
  for (const [c, list] of byChunk.entries()) {
    const own = list.flatMap((f) => [...vertices[f]!]);
    let entry = before[c]!;
    const ownerIds = BigInt64Array.from(list, (f) =>
      fragments.owner.values[f] === 0 ? -1n : ids[fragments.owner.values[f]! - 1]!,
    );
    const first = addFragments(
      edits[c]!,
      list.map((f) => fragments.size.values[f]!),
      columns.map((column, i) => pickRows(column, widths[i]!, own)),
      chunks.fragmentAttributes.map((attribute, i) =>
        i === ownersAt ? bytesOf(ownerIds) : takeColumn(attribute, undefined, list.length, "fragment"),
      ),
    );
    for (const [i, f] of list.entries()) {
      number[f] = first + i;
      start[f] = entry;
      entry += fragments.size.values[f]!;
    }
  }
  await level.settleLinks();
  const placeOf = (fragment: number, ordinal: number) => ({
    chunk: names[fragments.chunk.values[fragment]!]!,
    entry: start[fragment]! + ordinal,
  });
  if (cut.bridges !== undefined) {
    const { chunk, row } = cut.bridges;
    const ends = Array.from(chunk, (c, i) => ({ chunk: names[c]!, entry: before[c]! + row[i]! }));
    await putLinks(level, 2, ends, new Map());
  }
  if (rows.links !== undefined && cut.places !== undefined) {
    const { fragment, ordinal } = cut.places;
    const { kept, taken } = await takeLinks(level, plan, rows.links, fragment, ordinal);
    const ends = kept.flatMap((l) =>
      Array.from(rows.links!.ends.subarray(l * rows.links!.width, (l + 1) * rows.links!.width), (v) =>
        placeOf(fragment[v]!, ordinal[v]!),
      ),
    );
    await putLinks(level, rows.links.width, ends, taken);
  } else if (plan.kind.width > 0 && tree !== undefined) refuseOthers(rows.links?.columns ?? new Map(), [], "link");

  const blocks: Block[][] = ids.map(() => []);
  const inOrder = plan.kind.path
    ? [...upTo(fragments.size.length)]
    : byChunk
        .map((_, c) => c)
        .sort((a, b) => order(cuts.chunks.tuples, plan.dims, a, b))
        .flatMap((c) => byChunk[c]!);
  for (const f of inOrder) {
    const owner = fragments.owner.values[f]! - 1;
    const at = fragments.chunk.values[f]! * plan.dims;
    if (owner >= 0) blocks[owner]!.push({ chunk: cuts.chunks.tuples.slice(at, at + plan.dims), fragments: number[f]! });
  }
  return blocks;
}

function order(tuples: Int32Array, dims: number, a: number, b: number): number {
  for (let axis = 0; axis < dims; axis++) {
    const step = tuples[a * dims + axis]! - tuples[b * dims + axis]!;
    if (step !== 0) return step;
  }
  return 0;
}

export async function putLinks(
  { tree, meta, chunks }: LevelEdit,
  width: number,
  ends: readonly { chunk: string; entry: number }[],
  columns: ReadonlyMap<string, Uint8Array>,
): Promise<void> {
  if (ends.length === 0) return;
  const links = {
    width,
    chunks: ends.map(({ chunk }) => chunk),
    entries: Uint32Array.from(ends, ({ entry }) => entry),
    columns,
  };
  const family = await linksWithin(tree, meta, width, chunks.vertices.meta.shape.length);
  await addLinks(tree, family, links, chunks.vertices);
}

/** The links that are stored, and their attributes. Of a skeleton those that follow from the order of vertices are not. */
async function takeLinks(
  { tree, meta, rank }: LevelEdit,
  plan: Plan,
  { ends, width, columns }: Links,
  fragment: Uint32Array,
  ordinal: Uint32Array,
): Promise<{ kept: number[]; taken: Map<string, Uint8Array> }> {
  const names = await linkAttributes(tree, meta.path);
  refuseOthers(columns, names, "link");
  const count = ends.length / width;
  const taken = new Map<string, Uint8Array>();
  for (const name of names) {
    const described = (await linkDescription(tree, meta.path, name))!;
    const info = attributeInfo(name, described, `link_attributes/${name}`);
    const arrays = await linkArrays(tree, await linksWithin(tree, meta, width, rank), name);
    taken.set(name, takeColumn(linkTaker(info, arrays.values()), columns.get(name), count, "link"));
  }
  const implied =
    plan.geometry === "skeletons" && names.length === 0 && tree.opened.root.linksConvention !== "explicit";
  const kept = implied ? notImplied(ends, fragment, ordinal) : [...upTo(count)];
  return { kept, taken };
}

/** The vertices of each fragment, in its order. */
function byFragment({ segments, places }: Cut, { size }: Fragments, count: number): number[][] {
  const out: number[][] = Array.from({ length: size.length }, () => []);
  for (let v = 0, s = -1; v < count; v++) {
    while (places === undefined && s + 1 < segments.count && segments.starts?.[s + 1] === v) s++;
    out[places === undefined ? s : places.fragment[v]!]!.push(v);
  }
  return out;
}

/** The points of each chunk. */
function byBucket({ segments }: Cut, count: number): number[][] {
  const out: number[][] = Array.from({ length: count }, () => []);
  for (let v = 0; v < segments.rows; v++) out[segments.buckets[v]!]!.push(v);
  return out;
}
