/**
 * Geometry in space, whatever the format: points, lines, streamlines, graphs, skeletons and meshes, in levels from fine to
 * coarse, with objects, groups and attributes. A dataset is asked with `select`, and answers in batches of typed arrays.
 *
 * What a query means, in words that a brute force can follow (test/query has it):
 * 1. The objects that are asked for: all, or those named by `object` and `group`. Vertices that no object owns are parts without
 *    an object, asked for where nothing is named. A fragment that several objects share is in each of them.
 * 2. Of these the vertices that satisfy `where`, each with the attributes of its fragment, its object and any of its groups, and
 *    the segments and faces all of whose ends do; with conditions on links, only the links that satisfy them and their ends.
 *    What has no object has no value for the attributes of objects.
 * 3. An object, or a part without one, is in the answer when any of those touches the region (closed: its border belongs to it). A
 *    segment or a face may touch it without a vertex inside. Without a region, when there is any; objects without vertices only
 *    where `object` names them and nothing is asked of space or vertices.
 * 4. The answer holds these objects whole; with `clip`, what of 2 lies in the region, cut at its faces; with `clip: "vertices"`,
 *    the vertices of 2 inside and the links between them. What has nothing left is not in the answer.
 *
 * Points without an object stand for themselves, one by one; other parts without an object have the links between them together.
 * A link is an object's when it has all of its ends. One that no object has joins the first objects that have its ends: it is in
 * the answer when they all are, decides nothing about them, and is never cut.
 */
import type { Json } from "../bytes/json.js";
import type { AttributeInfo, Column } from "./attributes.js";
import type { ReadOptions, ReadPlan } from "./dataset.js";
import type { LevelSource } from "./source.js";

/** What the vertices are. Lines have two each; streamlines are polylines with a name of their own. */
export type Geometry = "points" | "lines" | "polylines" | "streamlines" | "graph" | "skeletons" | "mesh" | "parametric";

/** One axis of the space. */
export interface Axis {
  readonly name: string;
  /** "space", "time", "channel" or what the format says. */
  readonly type: string;
  readonly unit?: string | undefined;
}

/** What an attribute is attached to. */
export type Domain = "vertex" | "link" | "fragment" | "object" | "group";
/** The attributes that are there, by what they are attached to. */
export type Schema = { readonly [D in Domain]: readonly AttributeInfo[] };

/** One level of a pyramid; 0 is the finest. */
export interface LevelOutline {
  readonly level: number;
  /** Where it lies, below the dataset. */
  readonly path?: string | undefined;
  /** As its metadata says (`validate` counts); undefined where that would be a request to a server that opening does without. */
  readonly vertices: number | undefined;
  readonly objects: number | undefined;
  /** The size of a chunk along each axis; undefined as `vertices` is. */
  readonly chunkShape: readonly number[] | undefined;
  /** The size of a bin: what the level resolves. */
  readonly binShape: readonly number[];
  /** Some of the vertices of the finest level as they are: nothing is in it alone. */
  readonly sample?: true | undefined;
  /** The level that it was made from, and how. */
  readonly parent?: number | undefined;
  readonly method?: string | undefined;
  /** The share of the parent's objects that was kept. */
  readonly sparsity?: number | undefined;
}

/** What a level says of itself. */
export interface VectorLevel extends LevelOutline {
  readonly chunkShape: readonly number[];
}

/** A part of a dataset. The command line's `get` has the same options by the same names. */
export interface Query {
  /** Which geometry of a dataset that has several; the first where nothing is said. */
  readonly geometry?: Geometry | undefined;
  /** The level; 0 where nothing says otherwise. */
  readonly level?: number | undefined;
  /** Instead of a level: the finest one that answers with at most so many vertices. */
  readonly maxVertices?: number | undefined;
  /** Instead of a level: the coarsest one whose bins are not larger than this along any axis of space. */
  readonly resolution?: number | undefined;
  /** Lower corner, then upper corner, both inclusive. */
  readonly box?: readonly number[] | undefined;
  /** Centre, then radius. */
  readonly sphere?: readonly number[] | undefined;
  /** Place, then k: the k nearest vertices of a point cloud, the k nearest objects (and parts without one) of everything else. */
  readonly nearest?: readonly number[] | undefined;
  readonly object?: Iterable<number | bigint> | undefined;
  /** By number, or by what their attribute `name` says. */
  readonly group?: Iterable<number | string> | undefined;
  /** A condition on attributes, such as "fa > 0.3 and object.type in ('a', 'b')". */
  readonly where?: string | undefined;
  /** Off: whole objects. On: cut to the region. "vertices": only the vertices inside. */
  readonly clip?: boolean | "vertices" | undefined;
  /** At most so many objects and, after them, parts without one (points one by one); in the order of the answer. */
  readonly limit?: number | undefined;
}

/** What reading a selection understands. */
export interface SelectOptions extends ReadOptions {
  /** The attributes to bring along ("fa", "object.type"); all of them where nothing is said. */
  readonly attributes?: readonly string[] | undefined;
  /** About how many vertices a batch should have; an object is never split. 2^18 unless told. */
  readonly batchVertices?: number | undefined;
}

/** How much a selection is. */
export interface Counts {
  readonly vertices: number;
  readonly objects: number;
  /** Off: an upper bound, known without reading data; vertices at which `clip` cuts come on top. */
  readonly exact: boolean;
}

/** A selection: nothing is read before it is asked something. */
export interface Selection {
  /** What it is a part of. */
  readonly dataset: VectorDataset;
  readonly query: Query;
  /** The level that the query means. */
  level(options?: ReadOptions): Promise<number>;
  /** From indexes alone an upper bound, which says whether it is exact; with `exact`, data are read where they must be. */
  count(options?: ReadOptions & { readonly exact?: boolean | undefined }): Promise<Counts>;
  /** What `batches` would cost at most. */
  plan(options?: SelectOptions): Promise<ReadPlan>;
  /** The answer, piece by piece in bounded memory; each object is in one batch, each link in one batch. */
  batches(options?: SelectOptions): AsyncIterable<Batch>;
  /** The answer in one piece; LimitExceeded beyond `limits.resultBytes`. */
  read(options?: SelectOptions): Promise<Batch>;
}

/** Columns by attribute name. */
export type Columns = ReadonlyMap<string, Column>;

/** Links between vertices: rows of `width` vertex numbers. */
export interface Links {
  readonly width: number;
  readonly ends: Uint32Array;
  readonly columns: Columns;
}

/** dims numbers per vertex, as stored; float16 and integers are widened. */
export type Positions = Float32Array | Float64Array;

/** A piece of an answer, as typed arrays. */
export interface Batch {
  readonly level: number;
  readonly geometry: Geometry;
  readonly dims: number;
  readonly positions: Positions;
  /** Part p is the vertices parts[p] up to parts[p + 1]; in lines, polylines and streamlines they follow each other as a path. */
  readonly parts: Uint32Array;
  /** For each part the row of its object in `ids`, or −1. */
  readonly objects: Int32Array;
  /** The ids of the objects in this batch. */
  readonly ids: BigInt64Array | BigUint64Array;
  /** Edges of graphs and skeletons (child, parent), faces of meshes. */
  readonly links: Links | undefined;
  /** The vertices of each fragment, as `parts`, where attributes of fragments were asked for. */
  readonly fragments: { readonly offsets: Uint32Array; readonly columns: Columns } | undefined;
  readonly vertexColumns: Columns;
  /** One row for each of `ids`. */
  readonly objectColumns: Columns;
  /** Its vertices were in earlier batches: they are here again for the links between objects of different batches. */
  readonly repeats?: true | undefined;
  /** The chunk that it comes from, where it is of one. */
  readonly chunk: readonly number[] | undefined;
}

/** A group of objects. */
export interface ObjectGroup {
  readonly group: number;
  readonly size: number;
}

/** One plane, line or sphere, by its coefficients. */
export interface ParametricObject {
  readonly type: string;
  readonly name: string | undefined;
  readonly coefficients: readonly number[];
  readonly coefficientNames: readonly string[];
}

/** The parametric objects of a dataset, outside of all levels, with their attributes and groups. */
export interface Parametric {
  readonly objects: readonly ParametricObject[];
  /** One row for each of `objects`. */
  readonly columns: Columns;
  /** The members of each group, as numbers into `objects`. */
  readonly groups: readonly (readonly bigint[])[];
}

/** An opened dataset of geometry. */
export interface VectorDataset {
  readonly kind: "vectors";
  readonly format: string;
  readonly version: string;
  readonly url: string;
  /** Usually one. */
  readonly geometries: readonly Geometry[];
  readonly axes: readonly Axis[];
  /** Both corners belong to it. */
  readonly bounds: { readonly min: readonly number[]; readonly max: readonly number[] };
  readonly crs: Json | undefined;
  readonly levels: readonly LevelOutline[];
  /** What users keep beside the data. */
  readonly attributes: { readonly [key: string]: Json };
  /** What a person should know before trusting the data, in sentences. */
  readonly notes: readonly string[];
  /** What is there and is not in these data, in sentences, which are among the notes too: losses of whatever is made of it. */
  readonly losses?: readonly string[] | undefined;
  /** A level as its own document describes it, also where `levels` does not know. */
  describe(level?: number, options?: ReadOptions): Promise<VectorLevel>;
  /** The attributes of a level. */
  schema(level?: number, options?: ReadOptions): Promise<Schema>;
  /** The ids of the objects of a level, in its order; objects without vertices there are left out. */
  objectIds(level?: number, options?: ReadOptions): Promise<BigInt64Array | BigUint64Array>;
  /** The groups of objects of a level. */
  groups(level?: number, options?: ReadOptions): Promise<readonly ObjectGroup[]>;
  /** The ids of the objects in a group; NotFound where there is no such group. */
  groupMembers(group: number, level?: number, options?: ReadOptions): Promise<BigInt64Array | BigUint64Array>;
  /** The attributes of groups, a row for each of `groups`. */
  groupColumns(level?: number, options?: ReadOptions): Promise<Columns>;
  /** The headers of files that the data were made from, by format ("trk"). */
  headers(options?: ReadOptions): Promise<ReadonlyMap<string, { readonly [key: string]: Json }>>;
  /** Planes, lines and spheres, of formats that can have them; undefined where there are none. */
  parametric?(options?: ReadOptions): Promise<Parametric | undefined>;
  /** A level below the queries, chunk by chunk; of the first geometry unless told. */
  source(level: number, options?: ReadOptions, geometry?: Geometry): Promise<LevelSource>;
  /** A part of it, or all; nothing is read yet. */
  select(query?: Query): Selection;
}
