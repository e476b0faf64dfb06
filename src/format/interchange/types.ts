/**
 * The files that other software reads and writes: one module each, which opens a file as pieces of whole objects and writes one from
 * batches. Everything above (queries, `info`, `convert`, `validate`) comes from dataset.ts and format.ts, the same for all.
 */
import type { Json, JsonObject } from "../../bytes/json.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { FormatOptions } from "../../model/format.js";
import type {
  Axis,
  Batch,
  Columns,
  Geometry,
  Schema,
  SelectOptions,
  VectorDataset,
  VectorLevel,
} from "../../model/vectors.js";
import type { Scratch } from "../../store/scratch.js";
import type { Sink } from "../../store/types.js";
import type { Ids, Piece, RowGroups } from "../rows/row-source.js";
import type { BatchParts } from "../zarr-vectors/write/write-batch.js";
import type { InputFile } from "./file.js";
import type { Blame, VertexAt } from "./finite.js";

/** What a module of this folder exports as `file`. */
export interface FileFormat {
  /** Objects without vertices are in the file as well. */
  readonly holdsEmpty?: true | undefined;
  /** Groups of objects are in the file as well. */
  readonly holdsGroups?: true | undefined;
  /** Units of axes: the one that all such files are in, to which others are brought, or true where `write` tells what is lost of them. */
  readonly units?: string | true | undefined;
  /** Reads what must be known before everything else: the header, where there is one. */
  open(file: InputFile, options: OpenFileOptions): Promise<FileContent>;
  /** Writes all of it; what the file cannot hold is told, nothing is left out in silence. */
  write?(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport>;
}

export interface OpenFileOptions extends FormatOptions {
  /** Of tables: which columns are what. */
  readonly table?: TableOptions | undefined;
  /** Objects that are damaged are left out, and told here; without it the first one is an error. */
  readonly onBad?: ((problem: Error) => void) | undefined;
  /** Bytes that may be held at once; files that are read whole are refused where they would take more. */
  readonly maxMemory?: number | undefined;
}

/** Which columns of a table are what; names that are not given are found by what they are usually called. */
export interface TableOptions {
  readonly kind?: "point" | "line" | undefined;
  /** Columns of the coordinates: one for each axis, or one with a list of them. */
  readonly position?: readonly string[] | undefined;
  readonly start?: readonly string[] | undefined;
  readonly end?: readonly string[] | undefined;
  /** The column of ids, 64 bits exact. */
  readonly id?: string | undefined;
  /** Ids of other objects: relationship by column. */
  readonly relationships?: { readonly [relationship: string]: string } | undefined;
  /** Columns that are attributes, with their type where it shall be another; all others where nothing is said. */
  readonly properties?: readonly { readonly name: string; readonly dtype?: string | undefined }[] | undefined;
  /** "voxel": positions are multiplied by `resolution`. */
  readonly units?: string | undefined;
  readonly resolution?: readonly number[] | undefined;
}

/** What is in a file, as far as its header tells. */
export interface FileContent {
  /** For people: "TRK 2". */
  readonly version: string;
  readonly geometry: Geometry;
  readonly axes: readonly Axis[];
  readonly crs?: Json | undefined;
  /** Vertices per link: 2 of edges (child, parent in skeletons), 3 of faces, 0 of points and paths. */
  readonly linkWidth: number;
  /** Everything in the header that the way back needs and the data do not say. */
  readonly header?: JsonObject | undefined;
  /** What the file says besides, for users. */
  readonly attributes?: JsonObject | undefined;
  readonly notes?: readonly string[] | undefined;
  /** What of the file is not in the data, or is something else there. */
  readonly losses?: readonly string[] | undefined;
  readonly vertices?: number | undefined;
  readonly objects?: number | undefined;
  /** Of files with levels of detail, the finest first; the finest has all of it. */
  readonly levels?: readonly Pick<VectorLevel, "vertices" | "binShape" | "chunkShape">[] | undefined;
  readonly bounds?: VectorDataset["bounds"] | undefined;
  /** No coordinate is anything but a number, by what the file is or because that was looked at. */
  readonly finite?: true | undefined;
  /** Goes through the file, once: where its pieces are. Asked for before anything is read. */
  index(options: ReadOptions): Promise<PieceIndex>;
  /** Of what is too large to be held: everything in it once, in the order of the file; `index` then says that it is too large. */
  readonly passing?: ((makeScratch: () => Scratch, options: ReadOptions) => Promise<Passing>) | undefined;
  /** Some of it, without going through all of it; absent where the index is as quick, and of packed files. */
  readonly sample?: ((wanted: SampleSize, options: ReadOptions) => Promise<FileSample>) | undefined;
}

/** A file on its way to a writer of Zarr Vectors, looked at but not held. */
export interface Passing {
  readonly geometry: Geometry;
  readonly linkWidth: number;
  readonly vertices: number;
  /** What of the file is not in the data. */
  readonly losses?: readonly string[] | undefined;
  /** Their members by id. */
  readonly groups?: { readonly members: readonly Ids[]; readonly columns: Columns } | undefined;
  /** Vertices object by object, before the links that name them, which come late; objects without any last. */
  batches(): AsyncIterable<BatchParts>;
}

/** How much of a file a sample takes. */
export interface SampleSize {
  /** Places in the file, evenly apart. */
  readonly places: number;
  /** Vertices of each place, about: objects are whole. */
  readonly vertices: number;
}

/** A part of a file that is held in memory. */
export interface FileSample {
  readonly schema: Schema;
  readonly pieces: readonly Piece[];
}

/** The pieces of a file: stretches of whole objects, about a megabyte or a few, each decoded by itself. */
export interface PieceIndex {
  readonly schema: Schema;
  /** Piece p has the objects starts[p] up to starts[p + 1]; undefined: points that stand for themselves. */
  readonly objects: { readonly ids: Ids; readonly starts: Uint32Array } | undefined;
  /** The rows of objects without vertices, ascending. */
  readonly empty?: Uint32Array | undefined;
  /** Vertices of each piece. */
  readonly vertices: Uint32Array;
  /** Bytes in the file of each piece. */
  readonly bytes: Float64Array;
  /** min, then max of each piece, 2 × dims numbers, where they are known. */
  readonly boxes?: Float64Array | undefined;
  /** Of files with levels: how many of the first pieces each level has. */
  readonly until?: readonly number[] | undefined;
  readonly groups?: RowGroups | undefined;
  /** Sentences about what the file says of itself and what was found: counts that do not agree. */
  readonly notes?: readonly string[] | undefined;
  /** Where in the file a coordinate is. */
  place?(at: VertexAt): Blame | Promise<Blame>;
  load(piece: number, options: ReadOptions): Promise<Piece>;
}

/** What is to be written: a selection and what is known about where it comes from. */
export interface FileData extends Pick<VectorDataset, "url" | "axes" | "crs" | "attributes" | "bounds"> {
  /** What it is a part of, where that is one dataset. */
  readonly dataset?: VectorDataset | undefined;
  readonly geometry: Geometry;
  readonly schema: Schema;
  /** Headers of the files that the data once were, by format. */
  readonly headers: ReadonlyMap<string, JsonObject>;
  groups(): Promise<{ readonly members: readonly Ids[]; readonly columns: Columns }>;
  /** In order, each object once; may be asked for again. */
  batches(options?: SelectOptions): AsyncIterable<Batch>;
}

export interface WriteFileOptions extends ReadOptions {
  /** Where what comes later in the file than in the data is put aside, and how much memory there is. */
  readonly scratch: Scratch;
  /** As text where the format has both. */
  readonly ascii?: boolean | undefined;
  /** Of streamlines: the image whose space the file is about. */
  readonly reference?: ImageSpace | undefined;
}

/** The grid of an image: how many voxels, and from voxel to millimetres (RAS+), 4 × 4 row by row. */
export interface ImageSpace {
  readonly dimensions: readonly number[];
  readonly affine: readonly number[];
}

export interface FileReport {
  readonly vertices: number;
  readonly objects: number;
  /** Sentences about what the file cannot hold, or holds with less precision. */
  readonly losses: readonly string[];
}
