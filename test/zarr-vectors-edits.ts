/** Objects that are easy to check, and stores of them: what tests, the proof and its processes edit. */

import { editZarrVectors } from "../src/format/zarr-vectors/edit/edit.js";
import { openZarrVectors } from "../src/format/zarr-vectors/index.js";
import { validateZarrVectors } from "../src/format/zarr-vectors/validate/validate.js";
import type { VectorDescription } from "../src/format/zarr-vectors/write/description.js";
import { type BatchParts, createZarrVectors } from "../src/format/zarr-vectors/write/write.js";
import type { Column } from "../src/model/attributes.js";
import type { Batch, Geometry } from "../src/model/vectors.js";
import { Prefix } from "../src/store/key.js";
import type { Store } from "../src/store/types.js";

export const at = Prefix.of("a.zarrvectors");
export const PATHS: readonly Geometry[] = ["lines", "polylines", "streamlines"];
export const DIMS = 3;
const SIDE = 40; // of the space, in chunks of 10

/** An object: vertices that are told apart by a number, links between them, and one value. */
export interface Thing {
  readonly positions: readonly (readonly number[])[];
  readonly marks: readonly number[];
  readonly links: readonly (readonly number[])[];
  readonly weight: number;
}
export type Things = Map<bigint, Thing>;

const widthOf = (geometry: Geometry): number =>
  geometry === "mesh" ? 3 : geometry === "graph" || geometry === "skeletons" ? 2 : 0;

/** Any object of a kind; `dice(n)` gives a whole number below n. */
export function anyThing(geometry: Geometry, dice: (n: number) => number, mark: () => number): Thing {
  const count = geometry === "lines" ? 2 : 1 + dice(12);
  const at = Array.from({ length: DIMS }, () => dice(SIDE));
  const positions = Array.from({ length: count }, () =>
    at.map((from, axis) => {
      at[axis] = Math.max(0, Math.min(SIDE - 1 / 8, from + (dice(97) - 48) / 8));
      return at[axis]!;
    }),
  );
  const width = widthOf(geometry);
  const links: number[][] = [];
  for (let v = width - 1; width > 0 && v < count; v++) {
    if (dice(8) === 0) continue; // several pieces
    const others = Array.from({ length: v }, (_, i) => i);
    const ends = [v];
    while (ends.length < width)
      ends.push(others.splice(dice(3) === 0 ? dice(others.length) : others.length - 1, 1)[0]!);
    links.push(ends);
  }
  return { positions, marks: positions.map(mark), links, weight: dice(1000) };
}

const int32 = { kind: "int", size: 4, endian: "little" } as const;
const column = (name: string, values: readonly number[]): Column => ({
  info: { name, dtype: int32, channels: 1 },
  values: Int32Array.from(values),
});

export function batchOf(geometry: Geometry, things: Iterable<readonly [bigint, Thing]>, named = true): BatchParts {
  const all = [...things];
  const parts = [0];
  const links: number[] = [];
  for (const [, thing] of all) {
    for (const link of thing.links) links.push(...link.map((end) => parts.at(-1)! + end));
    parts.push(parts.at(-1)! + thing.positions.length);
  }
  const width = widthOf(geometry);
  const object = { objects: Int32Array.from(all.keys()), ids: BigInt64Array.from(all, ([id]) => id) };
  return {
    positions: Float32Array.from(all.flatMap(([, { positions }]) => positions.flat())),
    parts: Uint32Array.from(parts),
    ...(named ? object : {}),
    ...(width === 0 ? {} : { links: { width, ends: Uint32Array.from(links), columns: new Map() } }),
    vertexColumns: new Map([
      [
        "mark",
        column(
          "mark",
          all.flatMap(([, { marks }]) => marks),
        ),
      ],
    ]),
    ...(named
      ? {
          objectColumns: new Map([
            [
              "weight",
              column(
                "weight",
                all.map(([, { weight }]) => weight),
              ),
            ],
          ]),
        }
      : {}),
  };
}

/** A new store of these. */
export async function storeOf(
  store: Store,
  geometry: Geometry,
  things: Things,
  description: Partial<VectorDescription> = {},
): Promise<void> {
  const writer = await createZarrVectors(store, at, {
    geometry,
    dims: DIMS,
    dtype: "float32",
    chunkShape: 10,
    bounds: { min: [0, 0, 0], max: [SIDE - 1 / 8, SIDE - 1 / 8, SIDE - 1 / 8] },
    attributes: { vertex: [column("mark", []).info], object: [column("weight", []).info] },
    ...description,
  });
  await writer.add(batchOf(geometry, things));
  await writer.commit();
}

/** A line for each object: the numbers of its vertices, along the path or sorted, and its links by them. */
export function listThings(geometry: Geometry, things: Things): string[] {
  return [...things]
    .map(([id, { positions, marks, links, weight }]) =>
      line(
        geometry,
        id,
        weight,
        marks.map((mark, v) => [mark, positions[v]!]),
        links.map((link) => link.map((end) => marks[end]!)),
      ),
    )
    .sort();
}

function line(
  geometry: Geometry,
  id: bigint,
  weight: number,
  vertices: [number, readonly number[]][],
  links: number[][],
): string {
  const shown = vertices.map(([mark, position]) => `${mark}@${position.join(",")}`);
  const ends = links.map((link) => link.join("-")).sort();
  return `${id} ${weight}: ${(PATHS.includes(geometry) ? shown : shown.sort()).join(" ")} | ${ends.join(" ")}`;
}

export function listBatch({
  geometry,
  dims,
  positions,
  parts,
  objects,
  ids,
  links,
  vertexColumns,
  objectColumns,
}: Batch): string[] {
  const marks = vertexColumns.get("mark")?.values as Int32Array;
  const weights = objectColumns.get("weight")?.values as Int32Array;
  const vertices: [number, number[]][][] = Array.from(ids, () => []);
  const own: number[][][] = Array.from(ids, () => []);
  const objectOf = new Int32Array(positions.length / dims);
  for (let p = 0; p < objects.length; p++)
    for (let v = parts[p]!; v < parts[p + 1]!; v++) {
      objectOf[v] = objects[p]!;
      vertices[objects[p]!]!.push([marks[v]!, [...positions.subarray(v * dims, (v + 1) * dims)]]);
    }
  const width = links?.width ?? 1;
  for (let l = 0; l * width < (links?.ends.length ?? 0); l++) {
    const ends = [...links!.ends.subarray(l * width, (l + 1) * width)];
    own[objectOf[ends[0]!]!]!.push(ends.map((end) => marks[end]!));
  }
  return Array.from(ids, (id, row) => line(geometry, BigInt(id), weights[row]!, vertices[row]!, own[row]!)).sort();
}

/** Everything in a store, object by object; objects without vertices are left out. */
export async function listStore(store: Store): Promise<string[]> {
  return listBatch(await (await openZarrVectors(store, at)).select().read());
}

/** What a reader would complain about. */
export async function findings(store: Store): Promise<string[]> {
  const found: string[] = [];
  for await (const { severity, rule, where, message } of validateZarrVectors(store, at))
    if (severity !== "info") found.push(`${severity} ${rule} ${where}: ${message}`);
  return found;
}

/** Numbers below n, one after the other, from a seed. */
export function diceOf(seed: number): (n: number) => number {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

/** One commit of some appends, deletes and replacements, done to the things as well; new ids are above `largest`. */
export async function editAtRandom(
  store: Store,
  geometry: Geometry,
  things: Things,
  dice: (n: number) => number,
  thing: () => Thing,
  largest: () => bigint,
): Promise<void> {
  const edit = await editZarrVectors(store, at);
  for (let step = 0; step <= dice(2); step++) {
    const ids = [...things.keys()];
    const any = ids[dice(ids.length)];
    const what = any === undefined ? 2 : dice(4);
    if (what === 0) {
      edit.delete([any!]);
      things.delete(any!);
    } else if (what === 1) {
      const next = { ...thing(), weight: things.get(any!)!.weight };
      const { ids: _, objects: __, objectColumns: ___, ...batch } = batchOf(geometry, [[any!, next]]);
      edit.replace(any!, batch);
      things.set(any!, next);
    } else {
      const more = Array.from({ length: 1 + dice(3) }, (): [bigint, Thing] => [largest(), thing()]);
      edit.append(batchOf(geometry, more));
      for (const [id, one] of more) things.set(id, one);
    }
  }
  await edit.commit();
}
