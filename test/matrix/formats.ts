/**
 * The table: what each format holds of a scene. `held` is the scene as it comes out of the format again, so that what a way through
 * several of them should give is known beforehand; to the last bit, where no `precision` is said.
 */
import type { ConvertToOptions } from "../../src/convert/options.js";
import type { Column } from "../../src/model/attributes.js";
import type { Geometry } from "../../src/model/vectors.js";
import type { Scene } from "./scenes.js";

/** What becomes of an attribute of such geometry; undefined: it is lost. */
type Rule = (column: Column, geometry: Geometry) => Column | undefined;

export interface Row {
  readonly name: string;
  /** What the file is called. */
  readonly file: string;
  readonly options?: ConvertToOptions;
  /** What it holds, and as what that is read again. */
  readonly geometry: { readonly [G in Geometry]?: Geometry };
  /** Attributes; none where nothing is said. */
  readonly vertex?: Rule;
  readonly object?: Rule;
  readonly link?: Rule;
  /** Attributes of groups; without it there are no groups. */
  readonly group?: Rule;
  /** Ids as they are, 0, 1, 2 … in their order, or all as one object. */
  readonly ids?: "order" | "one";
  /** Points that are objects: as that, with their ids as an attribute, or (tables) by that attribute; else they stand for themselves. */
  readonly points?: "objects" | "id" | "column";
  /** Objects at most. */
  readonly most?: number;
  /** How far coordinates may be off in their own unit, because the format has no others. */
  readonly precision?: number;
  /** What coordinates count, where the format says. */
  readonly unit?: string;
  /** Attributes that all its files have, or that stand for others that it cannot hold as they are. */
  readonly adds?: RegExp;
  /** Objects lie by their places: who numbers them in the order of the file numbers them otherwise. Points have ids that were made up. */
  readonly scattered?: true;
  /** What a loss report says whatever is in the data. */
  readonly says?: RegExp;
}

const all: Rule = (column) => column;
const isText = ({ info }: Column): boolean => info.dtype.kind === "string";
/** Numbers; bools are such. */
const numbers: Rule = (column) => (isText(column) ? undefined : counted(column));
const counted = (column: Column): Column =>
  column.info.dtype.kind === "bool"
    ? { ...column, info: { ...column.info, dtype: { kind: "uint", size: 1, endian: "little" } } }
    : column;
const called =
  (...names: readonly string[]): Rule =>
  (column) =>
    names.includes(column.info.name) ? column : undefined;
const single: Rule = (column) => (column.info.channels === 1 ? column : undefined);
const small: Rule = (column) => (isBig(column) ? undefined : column);
const isBig = ({ info: { dtype } }: Column): boolean =>
  (dtype.kind === "int" || dtype.kind === "uint") && dtype.size === 8;
const isDouble = ({ info: { dtype } }: Column): boolean => dtype.kind === "float" && dtype.size === 8;

/** One rule after the other. */
const each =
  (...rules: readonly Rule[]): Rule =>
  (column, geometry) =>
    rules.reduce<Column | undefined>((own, rule) => own && rule(own, geometry), column);

/** Only of such geometry. */
const of =
  (geometries: readonly Geometry[], rule: Rule): Rule =>
  (column, geometry) =>
    geometries.includes(geometry) ? rule(column, geometry) : undefined;

/** Numbers of another type, where they are such. */
const floats =
  (size: 4 | 8, wanted: (column: Column) => boolean): Rule =>
  (column) => {
    if (isText(column) || !wanted(column)) return column;
    const values = Array.from(column.values as Iterable<number | bigint>, Number);
    const info = { ...column.info, dtype: { kind: "float", size, endian: "little" } as const };
    return { info, values: size === 4 ? Float32Array.from(values) : Float64Array.from(values) };
  };
const halved = floats(4, isDouble);

const ALL = {
  points: "points",
  lines: "lines",
  polylines: "polylines",
  streamlines: "streamlines",
  graph: "graph",
  skeletons: "skeletons",
  mesh: "mesh",
} as const;
const PATHS = { lines: "streamlines", polylines: "streamlines", streamlines: "streamlines" } as const;
const PATH = ["lines", "polylines", "streamlines"] as const;
const GRAPHS = { graph: "graph", skeletons: "graph" } as const;

const IMAGE = /the image that it is about/;
const CODES = /label$/; // texts become codes
const SPLIT = /^(o_|l_)?(normal|dir|color)[._]((ch)?\d|red|green|blue)$/; // numbers that were one value

const skeletons = {
  geometry: { graph: "skeletons", skeletons: "skeletons" },
  vertex: each(numbers, small, halved),
  object: each(single, small, halved, counted),
  group: called("name"),
  unit: "nm",
  adds: /^(label|big|o_big|o_(dir|color)_((ch)?\d|red|green|blue))$/,
} as const;
const meshes = {
  geometry: { mesh: "mesh" },
  object: skeletons.object,
  group: skeletons.group,
  unit: "nm",
  adds: skeletons.adds,
} as const;
const annotations = {
  geometry: { points: "points", lines: "lines", polylines: "polylines", streamlines: "polylines" },
  vertex: of(["points"], each(single, small, halved, counted)),
  object: each(single, small, halved, counted),
  points: "id",
  unit: "nm",
  adds: /^(id_?|(o_)?(big|(normal|dir|color)_((ch)?\d|red|green|blue)))$/,
  scattered: true,
} as const;
const vtk = {
  geometry: { points: "points", mesh: "mesh", ...PATHS },
  vertex: numbers,
  object: of(PATH, numbers),
  link: numbers,
  adds: CODES,
} as const;
const ply = {
  geometry: { points: "points", mesh: "mesh", ...GRAPHS },
  vertex: each(numbers, floats(8, isBig)),
  link: each(numbers, floats(8, isBig)),
  adds: /label$|^object_id$|^(o_|l_)?(normal|dir|color)$/, // numbered names are one attribute
} as const;
const table = { geometry: { points: "points", lines: "lines" }, points: "column" } as const;
const text = { ...table, vertex: single, object: single, adds: SPLIT } as const;
const columns = { ...table, vertex: all, object: all } as const;

export const ROWS: readonly Row[] = [
  {
    name: "Zarr Vectors",
    file: "a.zv",
    geometry: ALL,
    vertex: all,
    object: all,
    link: all,
    group: all,
    points: "objects",
  },
  { name: "skeletons", file: "s", options: { to: "precomputed", kind: "skeletons" }, ...skeletons },
  {
    name: "skeletons, sharded",
    file: "ss",
    options: { to: "precomputed", kind: "skeletons", sharded: true },
    ...skeletons,
  },
  {
    name: "meshes",
    file: "m",
    options: { to: "precomputed", kind: "meshes" },
    ...meshes,
    precision: 1e-3,
    says: /coordinates, rounded to 16 bits/,
  },
  {
    name: "meshes, sharded",
    file: "ms",
    options: { to: "precomputed", kind: "meshes", sharded: true },
    ...meshes,
    precision: 1e-3,
    says: /coordinates, rounded to 16 bits/,
  },
  { name: "meshes, older form", file: "mo", options: { to: "precomputed", kind: "legacy-meshes" }, ...meshes },
  { name: "annotations", file: "n", options: { to: "precomputed", kind: "annotations" }, ...annotations },
  {
    name: "annotations, sharded",
    file: "ns",
    options: { to: "precomputed", kind: "annotations", sharded: true },
    ...annotations,
  },
  {
    name: "ptree",
    file: "a.ptree",
    geometry: { points: "points" },
    vertex: each((column) => (column.info.dtype.kind === "bool" ? undefined : column), numbers),
    adds: /^original$/,
  },
  {
    name: "SWC",
    file: "a.swc",
    geometry: { graph: "skeletons", skeletons: "skeletons" },
    most: 1,
    ids: "one",
    unit: "um",
    adds: /^(type|radius|node_id)$/,
  },
  {
    name: "TRK",
    file: "a.trk",
    geometry: PATHS,
    vertex: each(
      numbers,
      floats(4, () => true),
    ),
    object: each(
      numbers,
      floats(4, () => true),
    ),
    ids: "order",
    unit: "mm",
    precision: 1e-5,
    says: /the image that it is about|digits of \d+ vertices/,
  },
  { name: "TCK", file: "a.tck", geometry: PATHS, ids: "order", unit: "mm" },
  {
    name: "TRX",
    file: "a.trx",
    geometry: PATHS,
    vertex: numbers,
    object: numbers,
    group: all,
    ids: "order",
    unit: "mm",
    says: IMAGE,
  },
  { name: "VTK", file: "a.vtk", ...vtk },
  { name: "VTK, text", file: "t.vtk", options: { ascii: true }, ...vtk },
  { name: "vtp", file: "a.vtp", ...vtk },
  {
    name: "OBJ",
    file: "a.obj",
    geometry: { points: "points", mesh: "mesh", ...PATHS },
    vertex: (column, geometry) =>
      column.info.name === "color"
        ? column.info.dtype.kind === "float"
          ? column
          : undefined
        : of(["points", "mesh"], called("normal"))(column, geometry),
    group: called("name"),
    adds: /^color$/,
  },
  { name: "PLY", file: "a.ply", ...ply },
  { name: "PLY, text", file: "t.ply", options: { ascii: true }, ...ply },
  { name: "STL", file: "a.stl", geometry: { mesh: "mesh" }, ids: "one", adds: /^(normal|attribute)$/ },
  { name: "STL, text", file: "t.stl", options: { ascii: true }, geometry: { mesh: "mesh" }, adds: /^(normal|name)$/ },
  {
    name: "glTF",
    file: "a.glb",
    geometry: { points: "points", mesh: "mesh", graph: "graph", skeletons: "graph", ...PATHS },
    vertex: each(
      numbers,
      floats(4, ({ info }) => info.name !== "color"),
    ),
    adds: CODES,
  },
  {
    name: "GIFTI",
    file: "a.surf.gii",
    geometry: { points: "points", mesh: "mesh" },
    vertex: numbers,
    link: numbers,
    unit: "mm",
    adds: CODES,
  },
  { name: "FreeSurfer", file: "lh.pial", geometry: { mesh: "mesh" }, ids: "one", unit: "mm" },
  { name: "HDF5", file: "a.hdf5", geometry: { points: "points" }, vertex: numbers },
  {
    name: "LAS",
    file: "a.las",
    geometry: { points: "points" },
    vertex: numbers,
    precision: 1e-6,
    points: "id",
    says: /coordinates by up to/,
    adds: /^(id|intensity|return_number|number_of_returns|scan_direction|scan_direction_flag|edge_of_flight_line|classification|synthetic|key_point|withheld|overlap|scan_angle|scan_angle_rank|user_data|point_source_id|gps_time|scanner_channel)_?$/,
  },
  { name: "CSV", file: "a.csv", ...text },
  { name: "TSV", file: "a.tsv", ...text },
  { name: "XYZ", file: "a.xyz", geometry: { points: "points" }, adds: /^(id|column\d+)$/ },
  { name: "Parquet", file: "a.parquet", ...columns },
  { name: "Arrow", file: "a.arrow", ...columns },
  { name: "npy", file: "a.npy", geometry: { points: "points" } },
  { name: "npz", file: "a.npz", ...columns, geometry: { points: "points" } },
  {
    name: "GraphML",
    file: "a.graphml",
    geometry: GRAPHS,
    vertex: single,
    link: single,
    adds: /^(node_id|(l_)?(normal|dir|color)[._](ch)?\d)$/,
  },
  { name: "list of edges", file: "a.edges", geometry: GRAPHS, ids: "one", adds: /^node_id$/ },
];

/** The scene as it comes out of the format; undefined where it does not go into it. */
export function held(scene: Scene, row: Row): Scene | undefined {
  const geometry = row.geometry[scene.geometry];
  const count = scene.ids?.length ?? 0;
  if (geometry === undefined || count > (row.most ?? Number.POSITIVE_INFINITY)) return undefined;
  if (scene.scattered && row.ids === "order") return undefined;
  const kept = (list: readonly Column[], rule: Rule = () => undefined) =>
    list.flatMap((column) => rule(column, scene.geometry) ?? []);
  const own = {
    ...scene,
    geometry,
    scattered: row.scattered,
    vertex: kept(scene.vertex, row.vertex),
    link: kept(scene.link, row.link),
    object: kept(scene.object, row.object),
    group: kept(scene.group, row.group),
    members: row.group === undefined ? [] : scene.members,
  };
  const alone = { object: [], group: [], members: [] };
  if (scene.geometry === "points") {
    const { ids, called: names } = scene;
    const cloud = { ...own, ids: undefined, parts: [0, own.parts.at(-1)!], ...alone };
    if (row.points === "id") return { ...cloud, called: ids ?? names };
    if (row.points === undefined) return cloud;
    if (row.points === "column" && scene.scattered && names === undefined) return undefined;
    return row.points === "column" && names !== undefined
      ? { ...own, ids: names, parts: [...names.keys(), names.length] }
      : own;
  }
  if (row.ids === "one") return { ...own, ids: [0n], parts: [0, own.parts.at(-1)!], ...alone };
  if (row.ids !== "order") return own;
  const number = new Map(scene.ids!.map((id, i) => [id, BigInt(i)]));
  return { ...own, ids: [...number.values()], members: own.members.map((ids) => ids.map((id) => number.get(id)!)) };
}
