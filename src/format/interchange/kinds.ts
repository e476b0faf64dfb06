/** The kinds of files there are, by the names that files have. A new one is one more line, and a module. */
import { InvalidInput } from "../../errors.js";
import type { FileFormat, TableOptions } from "./types.js";

export interface Kind {
  readonly id: string;
  /** For people. */
  readonly name: string;
  /** What names of such files end in; ".gz" may follow. */
  readonly extensions: readonly string[];
  /** How files begin that are known by that rather than by their names. */
  readonly magic?: readonly number[] | undefined;
  /** Packed inside, and read from its end: nobody could read it as .gz. */
  readonly packed?: true | undefined;
  /** Read, but not written. */
  readonly readOnly?: true | undefined;
  /** All such files have the same attributes. */
  readonly fixed?: true | undefined;
  load(): Promise<{ readonly file: FileFormat }>;
}

export const kinds: readonly Kind[] = [
  { id: "trk", name: "TrackVis tracks (TRK)", extensions: ["trk"], load: () => import("./trk.js") },
  { id: "swc", name: "SWC", extensions: ["swc"], fixed: true, load: () => import("./swc.js") },
  { id: "graphml", name: "GraphML", extensions: ["graphml"], load: () => import("./graphml.js") },
  { id: "edges", name: "list of edges", extensions: ["edges"], load: () => import("./edges.js") },
  { id: "trx", name: "TRX", extensions: ["trx"], packed: true, load: () => import("./trx.js") },
  { id: "tck", name: "MRtrix tracks (TCK)", extensions: ["tck"], fixed: true, load: () => import("./tck.js") },
  { id: "csv", name: "table in text (CSV)", extensions: ["csv", "txt"], load: () => import("./csv.js") },
  {
    id: "tsv",
    name: "table in text (TSV)",
    extensions: ["tsv"],
    load: async () => ({ file: (await import("./csv.js")).tsv }),
  },
  {
    id: "xyz",
    name: "points in text (XYZ)",
    extensions: ["xyz"],
    load: async () => ({ file: (await import("./csv.js")).xyz }),
  },
  { id: "ply", name: "PLY", extensions: ["ply"], load: () => import("./ply.js") },
  { id: "obj", name: "Wavefront OBJ", extensions: ["obj"], load: () => import("./obj.js") },
  { id: "stl", name: "STL", extensions: ["stl"], load: () => import("./stl.js") },
  { id: "vtk", name: "VTK polydata", extensions: ["vtk"], load: () => import("./vtk.js") },
  { id: "vtp", name: "VTK polydata in XML", extensions: ["vtp"], load: () => import("./vtp.js") },
  { id: "gltf", name: "glTF", extensions: ["gltf"], load: () => import("./gltf.js") },
  {
    id: "glb",
    name: "glTF in one binary file (GLB)",
    extensions: ["glb"],
    load: async () => ({ file: (await import("./gltf.js")).glb }),
  },
  { id: "gifti", name: "GIFTI surface", extensions: ["gii"], load: () => import("./gifti.js") },
  {
    id: "freesurfer",
    name: "FreeSurfer surface",
    extensions: ["pial", "white", "inflated", "sphere", "sphere.reg", "smoothwm", "orig"],
    magic: [0xff, 0xff, 0xfe],
    load: () => import("./freesurfer.js"),
  },
  { id: "parquet", name: "Parquet table", extensions: ["parquet"], packed: true, load: () => import("./parquet.js") },
  { id: "las", name: "LAS points", extensions: ["las"], load: () => import("./las.js") },
  {
    id: "laz",
    name: "LAZ points",
    extensions: ["laz"],
    packed: true,
    readOnly: true,
    load: async () => ({ file: (await import("./las.js")).laz }),
  },
  { id: "npy", name: "numpy array of points", extensions: ["npy"], load: () => import("./npy-table.js") },
  {
    id: "npz",
    name: "numpy arrays of points",
    extensions: ["npz"],
    packed: true,
    load: async () => ({ file: (await import("./npy-table.js")).npz }),
  },
  { id: "arrow", name: "Arrow table", extensions: ["arrow", "feather"], load: () => import("./arrow.js") },
];

/** A kind of file that can be written. */
export interface Target extends Omit<Kind, "load"> {
  load(): Promise<{ readonly file: Omit<FileFormat, "open"> }>;
}

/** All of them; a snapshot is read as a format of its own. */
export const targets: readonly Target[] = [
  ...kinds,
  {
    id: "hdf5",
    name: "snapshot of particles (HDF5)",
    extensions: ["hdf5", "h5"],
    packed: true,
    load: () => import("../snapshot/file.js"),
  },
];

/** The kind of a file by its name; undefined where no kind has such names. */
export const kindNamed = (name: string): Kind | undefined => named(kinds, name);
/** The same of a file that is to be written. */
export const targetNamed = (name: string): Target | undefined => named(targets, name);

function named<T extends Target>(among: readonly T[], name: string): T | undefined {
  const plain = name.toLowerCase().replace(/\.gz$/, "");
  return among.find(({ extensions }) => extensions.some((end) => plain.endsWith(`.${end}`)));
}

/** What is packed already is not packed once more: nobody reads that. */
export function refusePacked({ packed, name: what }: Target, name: string): void {
  if (packed !== true || !/\.gz$/i.test(name)) return;
  const plain = name.replace(/\.gz$/i, "");
  throw new InvalidInput(`${name}: ${what} is packed already, and nobody reads it as .gz`, {
    where: name,
    hint: `Call it ${plain}.`,
  });
}

const TABLES: readonly string[] = ["csv", "tsv", "xyz", "parquet", "arrow", "npy", "npz", "graphml"];

/** Whether files of this kind have columns. */
export const isTable = (format: string): boolean => TABLES.includes(format);

/** What is said of columns means nothing for data that have none: a wrong call, not silence. */
export function refuseTable(table: TableOptions | undefined, format: string, where: string): void {
  if (table === undefined || isTable(format)) return;
  throw new InvalidInput(`${where} is no table, and has no columns that could be ${Object.keys(table).join(", ")}`, {
    where,
  });
}
