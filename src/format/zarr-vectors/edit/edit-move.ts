/**
 * Vertices that move. As long as each stays in its chunk, only positions change. Else the object is cut anew, and links go with
 * its vertices: to others of its own, of other objects, and of other levels. Where it shares fragments with other objects these
 * stay where they are for the others, and the object gets its own; to which of the two a link from elsewhere should lead
 * nobody has said, which is a reason to refuse.
 */
import { halfToNumber, numberToHalf } from "../../../bytes/half.js";
import { bytesOf } from "../../../codec/numeric.js";
import { InvalidInput, Unsupported } from "../../../errors.js";
import type { Positions } from "../../../model/vectors.js";
import { Int64 } from "../payload/int64.js";
import type { Block } from "../payload/manifest-write.js";
import { datasetOf } from "../read/dataset.js";
import { removeObjects } from "./edit-append.js";
import { putVertices } from "./edit-attributes.js";
import { parseChunk } from "./edit-cells.js";
import { type ChunkEdit, total } from "./edit-chunks.js";
import { cutFragments, type OldFragment, placeFragments } from "./edit-cut.js";
import { familiesOf } from "./edit-families.js";
import { expandGrid } from "./edit-grid.js";
import { editLevel, fragmentsOf, type LevelEdit, ownersOf, pickRowsOf, verticesOf } from "./edit-level.js";
import { addLinks, type NewLinks } from "./edit-links.js";
import { planFor, putGeometry } from "./edit-put.js";
import { noRows, sequenceOf } from "./edit-recut.js";
import { type Relink, takeUp } from "./edit-relink.js";
import type { Tree } from "./edit-tree.js";

/** Gives rows of an object, as a query for it has them, other positions. */
export async function moveVertices(
  tree: Tree,
  id: bigint,
  rows: ArrayLike<number>,
  to: Positions,
  expand: boolean,
): Promise<void> {
  const level = await editLevel(tree, tree.opened.levels[0]!);
  const { dims, row } = checked(level, id, rows, to);
  const shift = tree.opened.root.coordinateOffset;
  const vertices = await verticesOf(level, row);
  const places = pickRowsOf(vertices, rows, `vertices of object ${id}`);
  const stored = rounded(level, to, (i) => shift?.[i % dims] ?? 0);
  const stays = places.every(({ chunk }, i) => {
    const at = stored.positions.subarray(i * dims, (i + 1) * dims);
    return chunkOf(at, level.meta.chunkShape) === chunk.split(".").slice(-dims).join(".");
  });
  if (!(await isAlone(level, row, stays ? places : vertices))) return moveShared(level, id, row, rows, to, expand);
  const [min, max] = boxOf(stored.positions, dims);
  await expandGrid(level, min, max, !stays && expand);
  await putVertices(level, 0, level.chunks.rowBytes, places, stored.bytes);
  if (!stays) await recutObject(level, row);
  await level.finish();
}

/** The fragments of an object into the chunks that their vertices lie in now. */
async function recutObject(level: LevelEdit, row: number): Promise<void> {
  const { tree, meta, chunks, objects, dtype } = level;
  const sequence = await sequenceOf(level);
  const named = await fragmentsOf(level, row);
  const fragments: OldFragment[] = [];
  const before = new Map<string, ChunkEdit>();
  for (const { chunk, fragment } of named) {
    const now = await chunks.chunk(chunk);
    const edit = before.get(chunk) ?? { ...now, columns: [...now.columns], fragmentColumns: [...now.fragmentColumns] };
    before.set(chunk, edit);
    fragments.push({ chunk: edit, fragment, entry: total(edit.sizes.slice(0, fragment)) });
  }
  const plan = {
    fragments,
    objects: [[...fragments.keys()]],
    dtype,
    chunkShape: meta.chunkShape,
    bins: undefined,
    follows: sequence.follows,
  };
  const cut = cutFragments(plan);
  await removeObjects(level, [row]);
  const into = await Promise.all(cut.names.map((name) => chunks.chunk(name)));
  const placed = placeFragments(plan, cut, into, noRows(level));
  const places: Relink = {
    cut: (end) => (end.level === meta.level ? placed.at(end) : undefined),
    kept({ level: number, chunk, entry }) {
      const moved = number === meta.level ? chunks.touched.get(chunk)?.moved : undefined;
      return { chunk, entry: moved?.[entry] ?? entry };
    },
  };
  const families = await familiesOf(tree, [meta.level]);
  const links: NewLinks[] = [];
  for (const family of families)
    links.push(await takeUp(tree, family, places, family.delta === "0" ? sequence.says : () => false));
  await level.settleLinks(); // takes them out where they were
  for (const [i, family] of families.entries())
    await addLinks(tree, family, links[i]!, (await tree.cells(family.level, "vertices"))!);
  await sequence.putSteps(placed.steps);
  const blocks = cut.objects[0]!.map(
    (m): Block => ({ chunk: parseChunk(cut.names[cut.made[m]!.chunk]!), fragments: placed.numbers[m]! }),
  );
  await objects!.set(row, blocks);
}

/** An object that shares fragments: taken out and put in again, as one of its own. */
async function moveShared(
  level: LevelEdit,
  id: bigint,
  row: number,
  rows: ArrayLike<number>,
  to: Positions,
  expand: boolean,
): Promise<void> {
  const { tree } = level;
  const dims = tree.opened.root.axes.length;
  const plan = await planFor(level);
  const dataset = await datasetOf(tree.opened, tree.options);
  const batch = await dataset.select({ object: [id] }).read(tree.options);
  const positions = Float64Array.from(batch.positions);
  for (let i = 0; i < rows.length; i++) positions.set(to.subarray(i * dims, (i + 1) * dims), rows[i]! * dims);
  const before = await linkCounts(level);
  await removeObjects(level, [row]);
  await level.settleLinks();
  const after = await linkCounts(level);
  const own = batch.links === undefined ? 0 : batch.links.ends.length / batch.links.width;
  const lost = plan.kind.path ? 0 : (before.get("0") ?? 0) - (after.get("0") ?? 0) - own;
  if (lost > 0 || [...before].some(([delta, count]) => delta !== "0" && after.get(delta) !== count))
    throw new Unsupported(
      `the vertices of object ${id} cannot move: it shares them with other objects, and there are links to them`,
      { where: tree.opened.url },
    );
  const { objectColumns: _, ...rest } = batch;
  const [blocks] = await putGeometry(
    level,
    plan,
    { ...rest, positions, ids: BigInt64Array.of(id) },
    batch.objects.map(() => 0),
    [id],
    expand,
  );
  await level.objects!.set(row, blocks!);
  await level.finish();
}

function checked(
  { objects, tree }: LevelEdit,
  id: bigint,
  rows: ArrayLike<number>,
  to: Positions,
): { dims: number; row: number } {
  const dims = tree.opened.root.axes.length;
  const row = objects?.rowOf(id) ?? -1;
  if (row < 0) throw new InvalidInput(`${tree.opened.url} has no object ${id}`);
  if (to.length !== rows.length * dims)
    throw new InvalidInput(`${rows.length} vertices have ${rows.length * dims} coordinates, found ${to.length}`);
  const bad = to.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new InvalidInput(`a vertex cannot move to the coordinate ${to[bad]}`);
  return { dims, row };
}

/** Positions as they will be stored, as numbers and as bytes. */
function rounded(
  { dtype }: LevelEdit,
  to: Positions,
  shift: (i: number) => number,
): { positions: Float64Array; bytes: Uint8Array } {
  const moved = Float64Array.from(to, (value, i) => value - shift(i));
  if (dtype === "float64") return { positions: moved, bytes: bytesOf(moved) };
  if (dtype === "float32") {
    const singles = Float32Array.from(moved);
    return { positions: Float64Array.from(singles), bytes: bytesOf(singles) };
  }
  const halves = Uint16Array.from(moved, numberToHalf);
  return { positions: Float64Array.from(halves, halfToNumber), bytes: bytesOf(halves) };
}

const chunkOf = (at: Float64Array, shape: readonly number[]): string =>
  Array.from(at, (value, axis) => Math.floor(value / shape[axis]!)).join(".");

function boxOf(positions: Float64Array, dims: number): [Float64Array, Float64Array] {
  const [min, max] = [new Float64Array(dims).fill(Infinity), new Float64Array(dims).fill(-Infinity)];
  for (const [i, value] of positions.entries()) {
    min[i % dims] = Math.min(min[i % dims]!, value);
    max[i % dims] = Math.max(max[i % dims]!, value);
  }
  return [min, max];
}

/** Whether no other object has these fragments: by the owner column where it can be believed, else by all manifests. */
async function isAlone(
  level: LevelEdit,
  row: number,
  places: readonly { chunk: string; fragment: number }[],
): Promise<boolean> {
  const { objects, rank, owners, ownersAt, chunks } = level;
  const names = new Set(places.map(({ chunk }) => chunk));
  if (owners === undefined || ownersAt < 0) {
    const all = await ownersOf(objects!, rank, names);
    return places.every(({ chunk, fragment }) => all.get(chunk)!.get(fragment)!.length === 1);
  }
  const columns = new Map<string, BigInt64Array>();
  for (const name of names) columns.set(name, Int64.values((await chunks.chunk(name)).fragmentColumns[ownersAt]!));
  return places.every(({ chunk, fragment }) => columns.get(chunk)![fragment] === objects!.ids[row]);
}

/** How many links every family has that may have ends in the level, by delta. */
async function linkCounts({ tree, meta }: LevelEdit): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const number of tree.opened.levels) {
    const { path } = await tree.opened.level(number, tree.options);
    for (const delta of await tree.names(`${path}/links`)) {
      const family = await tree.group(`${path}/links/${delta}`);
      const key = path === meta.path && delta === "0" ? "0" : `${path}/${delta}`;
      counts.set(key, Number(family?.attributes.num_links ?? 0));
    }
  }
  return counts;
}
