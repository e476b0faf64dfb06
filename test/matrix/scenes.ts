/**
 * What goes through the matrix: small geometry of every kind with every type of attribute, names unlike in each domain, so that a
 * loss report can be held to the letter. A scene is plain data; `stored` makes a dataset of it, which `diff` compares with.
 */
import type { DataType } from "../../src/bytes/dtype.js";
import { createZarrVectors, openZarrVectors, type ZarrVectors } from "../../src/format/zarr-vectors/index.js";
import type { Column } from "../../src/model/attributes.js";
import type { Geometry } from "../../src/model/vectors.js";
import { Prefix } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { columnsOf, info, random } from "../zarr-vectors-scenes.js";

/** One object for each part; without ids, points that stand for themselves. */
export interface Scene {
  readonly geometry: Geometry;
  readonly positions: Float32Array | Float64Array;
  readonly parts: readonly number[];
  readonly ids?: readonly bigint[] | undefined;
  /** Ids of points that are no objects. */
  readonly called?: readonly bigint[] | undefined;
  /** In the order of some spatial index. */
  readonly scattered?: true | undefined;
  readonly links?: { readonly width: number; readonly ends: readonly number[] } | undefined;
  readonly vertex: readonly Column[];
  readonly object: readonly Column[];
  readonly link: readonly Column[];
  readonly group: readonly Column[];
  readonly members: readonly (readonly bigint[])[];
}

/** The kinds of data, and what they are. */
const GEOMETRY = {
  cloud: "points",
  points: "points",
  lines: "lines",
  streamlines: "streamlines",
  graph: "graph",
  skeletons: "skeletons",
  tree: "skeletons",
  mesh: "mesh",
  surface: "mesh",
} as const satisfies { readonly [kind: string]: Geometry };
export type Kind = keyof typeof GEOMETRY;

const number = (kind: "float" | "int" | "uint", size: 1 | 2 | 4 | 8): DataType =>
  ({ kind, size, endian: "little" }) as DataType;

/** Every type that an attribute has, with values that only it can hold. */
function columns(prefix: string, rows: number, next: () => number): Column[] {
  const made = (name: string, dtype: DataType, values: Column["values"], channels = 1): Column => ({
    info: info(`${prefix}${name}`, dtype, channels),
    values,
  });
  return [
    made("fa", number("float", 4), Float32Array.from({ length: rows }, next)),
    made(prefix === "" ? "normal" : "dir", number("float", 4), Float32Array.from({ length: 3 * rows }, next), 3),
    made(
      "exact",
      number("float", 8),
      Float64Array.from({ length: rows }, () => next() / 3),
    ),
    made(
      "big",
      number("int", 8),
      BigInt64Array.from({ length: rows }, (_, i) => 2n ** 60n + 1n + BigInt(i)),
    ),
    made(
      "small",
      number("int", 2),
      Int16Array.from({ length: rows }, (_, i) => -i),
    ),
    made(
      "color",
      number("uint", 1),
      Uint8Array.from({ length: 3 * rows }, () => 256 * next()),
      3,
    ),
    made(
      "flag",
      { kind: "bool", size: 1 },
      Uint8Array.from({ length: rows }, () => 2 * next()),
    ),
    made(
      "label",
      { kind: "string" },
      Array.from({ length: rows }, (_, i) => `n${"é".repeat(i % 3)} ${i}`),
    ),
  ];
}

const IDS = [0n, 3n, 7n, 100n, 2n ** 40n + 1n];

/** The same for the same seed. */
export function sceneOf(kind: Kind, seed: number): Scene {
  const next = random(seed);
  const geometry: Geometry = GEOMETRY[kind];
  const ids = kind === "cloud" ? undefined : kind === "tree" ? [0n] : kind === "surface" ? [7n] : IDS;
  const positions: number[] = [];
  const parts = [0];
  const ends: number[] = [];
  for (const _ of ids ?? [0n]) {
    const from = positions.length / 3;
    const place = [-20 + 40 * next(), -20 + 40 * next(), -20 + 40 * next()];
    const step = () => positions.push(...place.map((at) => at + 20 * (next() - 0.5)));
    const rows = 2 + Math.floor(3 * next());
    const count =
      { cloud: 16, points: 1, lines: 2 }[kind as string] ??
      (geometry === "mesh" ? rows * 3 : 2 + Math.floor(12 * next()));
    for (let v = 0; v < count; v++) step();
    if (geometry === "skeletons") for (let v = 1; v < count; v++) ends.push(from + v, from + Math.floor(v * next()));
    if (geometry === "graph") for (let v = 1; v < count; v++) ends.push(from + Math.floor(v * next()), from + v);
    for (let row = 0; geometry === "mesh" && row + 1 < rows; row++)
      for (let i = 0; i < 2; i++) {
        const [a, b] = [from + 3 * row + i, from + 3 * (row + 1) + i];
        ends.push(a, a + 1, b, a + 1, b + 1, b);
      }
    parts.push(from + count);
  }
  const width = geometry === "mesh" ? 3 : 2;
  const linked = ends.length > 0 ? { width, ends } : undefined;
  const grouped = kind !== "cloud" && kind !== "points" && ids!.length > 1;
  return {
    geometry,
    positions: Float32Array.from(positions),
    parts,
    ids,
    links: linked,
    vertex: columns("", positions.length / 3, next),
    object: ids === undefined || kind === "points" ? [] : columns("o_", ids.length, next),
    link: linked === undefined ? [] : columns("l_", ends.length / width, next),
    members: grouped ? [[0n, 7n], [100n]] : [],
    group: grouped
      ? [
          { info: info("name", { kind: "string" }), values: ["left", "right"] },
          { info: info("g_mean", number("float", 4)), values: Float32Array.of(0.5, 0.25) },
        ]
      : [],
  };
}

/** A dataset of a scene, in chunks that cut its objects; its coordinates count `unit`, or nothing is said of that. */
export async function stored(scene: Scene, unit?: string): Promise<ZarrVectors> {
  const { geometry, positions, parts, ids, links, members } = scene;
  const [store, at] = [memoryStore(), Prefix.of("scene.zv")];
  const named = (list: readonly Column[]) => columnsOf(...list.map(({ info: own, values }) => [own, values] as const));
  const writer = await createZarrVectors(store, at, {
    geometry,
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space", ...(unit && { unit }) })),
    chunkShape: [25, 25, 25],
    ids: "sparse",
    dtype: positions instanceof Float64Array ? "float64" : "float32",
    objects: ids !== undefined,
    links: links === undefined ? undefined : { width: links.width },
  });
  await writer.add({
    positions,
    vertexColumns: named(scene.vertex),
    ...(ids !== undefined && {
      parts: Uint32Array.from(parts),
      objects: Int32Array.from(ids, (_, i) => i),
      ids: BigInt64Array.from(ids),
      objectColumns: named(scene.object),
    }),
    ...(links !== undefined && {
      links: { width: links.width, ends: Uint32Array.from(links.ends), columns: named(scene.link) },
    }),
  });
  if (members.length > 0) writer.groups(members, named(scene.group));
  await writer.commit();
  return openZarrVectors(store, at);
}
