/**
 * A new store: what it holds, how it is laid out, and what happens to bad input.
 *
 * What a description leaves out, and why it is chosen so:
 *
 * | left out   | becomes                                                                                                 |
 * |------------|---------------------------------------------------------------------------------------------------------|
 * | axes       | x, y, z, w, d4 …, of space, without a unit                                                              |
 * | dtype      | what the first batch has: nothing is rounded unasked                                                    |
 * | chunkShape | "auto": about 64k vertices in a chunk, more than one chunk; chosen when everything is there              |
 * | attributes | those of the first batch                                                                                |
 * | ids        | "sparse": the ids that objects have                                                                     |
 * | codecs     | zstd with its checksum: nearly as fast as nothing, and the reference notices damage; in 0.7.0 what its   |
 * |            | seed says: blosc with zstd 5, bytes shuffled, of links bits; and a crc32c, since blosc notices nothing    |
 * | sharding   | "auto": where there would be more than 1,000 files: then about 2 MB of a column lie together             |
 * | policies   | "raise", except that empty objects and empty datasets are kept: they are true                           |
 */
import type { Json, JsonObject } from "../../../bytes/json.js";
import type { CodecSpec } from "../../../codec/types.js";
import { InvalidInput, Unsupported } from "../../../errors.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import type { Axis, Geometry, Parametric } from "../../../model/vectors.js";
import type { Compressor } from "../../zarr/create.js";

/** The versions of the format that are written. */
export type WrittenVersion = "0.9.2" | "0.7.0";

/** A store that is to be made. */
export interface VectorDescription {
  readonly geometry: Geometry;
  /** "0.9.2" unless told. 0.7.0 has no sharding, and its ids are rows: 0, 1, 2 … */
  readonly formatVersion?: WrittenVersion | undefined;
  /** The axes; or only how many there are, which `bounds` say as well. */
  readonly axes?: readonly Axis[] | undefined;
  readonly dims?: number | undefined;
  readonly crs?: Json | undefined;
  /** Of positions. */
  readonly dtype?: "float16" | "float32" | "float64" | undefined;
  /** "draco": positions of three axes are rounded to `quantizationBits` (11) of the extent of their chunk. */
  readonly encoding?: "raw" | "draco" | undefined;
  readonly quantizationBits?: number | undefined;
  /** The size of a chunk along each axis, or along all of them. */
  readonly chunkShape?: readonly number[] | number | "auto" | undefined;
  /** The size of a bin, of which a chunk has a whole number along each axis. Points without objects are ordered by it. */
  readonly binShape?: readonly number[] | undefined;
  /** What the grid covers; by default the vertices. */
  readonly bounds?: { readonly min: readonly number[]; readonly max: readonly number[] } | undefined;
  /** The attributes by what they are attached to; other columns of batches are then refused. */
  readonly attributes?:
    | { readonly [D in "vertex" | "link" | "fragment" | "object"]?: readonly AttributeInfo[] | undefined }
    | undefined;
  /** Whether points belong to objects; by default as in the first batch. All other kinds have objects. */
  readonly objects?: boolean | undefined;
  /** "dense" gives the objects the ids 0, 1, 2 … as they come; "preserve" keeps ids and has a row for those missing, too. */
  readonly ids?: "dense" | "sparse" | "preserve" | undefined;
  /** forceExplicit: the fragments of an object in a chunk are always a list. */
  readonly manifests?: { readonly forceExplicit?: boolean | undefined } | undefined;
  /** Fragments of a chunk that are equal to the bit are stored once; "vertices": and each vertex is one. Not for kinds with links. */
  readonly sharedFragments?: boolean | "vertices" | undefined;
  /**
   * directed: ends keep their order on disk; duplicate: a copy with every chunk that a link touches. late: batches of links alone, which
   * have `late` as well, name vertices of all batches before; where each of these lies is put aside for it.
   */
  readonly links?:
    | {
        readonly width?: number | undefined;
        readonly late?: boolean | undefined;
        readonly directed?: boolean | undefined;
        readonly store?: "canonical" | "duplicate" | undefined;
      }
    | undefined;
  /** What compresses the cells: a word, or the codecs that come after `vlen-bytes`. */
  readonly codecs?: Compressor | readonly CodecSpec[] | undefined;
  /** Off: no checksums where `codecs` is a word. */
  readonly checksums?: boolean | undefined;
  /** The shape of a shard in cells. */
  readonly sharding?: readonly number[] | number | "auto" | "none" | undefined;
  /** The name of the collection; by default the last part of the place. */
  readonly name?: string | undefined;
  readonly userMetadata?: JsonObject | undefined;
  /** Planes, lines and spheres beside the geometry. */
  readonly parametric?: Parametric | undefined;
  /** Headers of other formats, by format. */
  readonly headers?: { readonly [format: string]: JsonObject } | undefined;
  /** A coordinate that is NaN or infinite. "drop": the point; in all other kinds its object. */
  readonly nonFinite?: "raise" | "drop" | undefined;
  /** A vertex outside the given bounds. */
  readonly outside?: "raise" | "clamp" | "expand" | "drop" | undefined;
  /** An object without vertices. "keep": it has an empty manifest. */
  readonly emptyObjects?: "keep" | "drop" | "raise" | undefined;
  /** Nothing at all. */
  readonly empty?: "keep" | "raise" | undefined;
  /** A path in several pieces, for which the format has no word. "join": the end of one to the start of the next. */
  readonly pieces?: "raise" | "join" | undefined;
}

/** A description in which everything that can be known before the first batch is. */
export interface Plan extends VectorDescription {
  readonly kind: Kind;
  readonly formatVersion: WrittenVersion;
  readonly dims: number;
  readonly axes: readonly Axis[];
  readonly chunkShape: readonly number[] | "auto";
  readonly ids: "dense" | "sparse" | "preserve";
  readonly linkWidth: number;
  readonly directed: boolean;
  readonly duplicate: boolean;
}

/** What a geometry means for the layout. */
export interface Kind {
  /** The word on disk. */
  readonly type: string;
  readonly convention: "explicit" | "implicit_sequential" | "implicit_sequential_with_branches";
  /** Vertices follow each other: a fragment for every run in a chunk. Else one for every object in a chunk. */
  readonly path: boolean;
  /** Vertices of a link; 0 where a batch has none. */
  readonly width: number;
}

const path = { convention: "implicit_sequential", path: true, width: 0 } as const;
const KINDS: { readonly [geometry in Geometry]: Kind | undefined } = {
  points: { type: "point_cloud", convention: "implicit_sequential", path: false, width: 0 },
  lines: { type: "line", ...path },
  polylines: { type: "polyline", ...path },
  streamlines: { type: "streamline", ...path },
  graph: { type: "graph", convention: "explicit", path: false, width: 2 },
  skeletons: { type: "skeleton", convention: "implicit_sequential_with_branches", path: false, width: 2 },
  mesh: { type: "mesh", convention: "explicit", path: false, width: 3 },
  parametric: undefined,
};

const NAMES = ["x", "y", "z", "w"];

/** Checks a description and fills in what it leaves out. */
export function planOf(description: VectorDescription): Plan {
  const { geometry, links = {}, binShape, bounds } = description;
  const { formatVersion = "0.9.2" } = description;
  const old = formatVersion === "0.7.0";
  const kind = old ? kind07(KINDS[geometry]) : KINDS[geometry];
  if (kind === undefined) throw new Unsupported(`stores of ${geometry} objects are read, but not written`);
  const dims = description.axes?.length ?? description.dims ?? bounds?.min.length;
  if (dims === undefined || !Number.isInteger(dims) || dims < 1 || dims > 16)
    throw new InvalidInput(`a store should have 1 to 16 axes, found ${dims ?? "neither axes nor dims"}`);
  if (description.dims !== undefined && description.dims !== dims)
    throw new InvalidInput(`there are ${dims} axes, but dims is ${description.dims}`);
  const axes =
    description.axes ?? Array.from({ length: dims }, (_, axis) => ({ name: NAMES[axis] ?? `d${axis}`, type: "space" }));
  if (new Set(axes.map(({ name }) => name)).size < dims)
    throw new InvalidInput(`axes should have different names, found ${axes.map(({ name }) => name).join(", ")}`);
  const given = description.chunkShape ?? "auto";
  const chunkShape = typeof given === "number" ? new Array<number>(dims).fill(given) : given;
  const sizes = (shape: readonly number[], what: string): void => {
    if (shape.length !== dims || !shape.every((size) => size > 0 && Number.isFinite(size)))
      throw new InvalidInput(`the ${what} shape should be ${dims} sizes above 0, found [${shape}]`);
  };
  if (chunkShape !== "auto") sizes(chunkShape, "chunk");
  if (binShape !== undefined) {
    sizes(binShape, "bin");
    if (chunkShape !== "auto" && !binShape.every((bin, axis) => wholeNumber(chunkShape[axis]! / bin)))
      throw new InvalidInput(`a chunk of [${chunkShape}] should be a whole number of bins, found [${binShape}]`);
  }
  if (bounds !== undefined && !axes.every((_, axis) => bounds.min[axis]! <= bounds.max[axis]!))
    throw new InvalidInput(`bounds should be ${dims} minima and maxima, found [${bounds.min}] and [${bounds.max}]`);
  const linkWidth = links.width ?? kind.width;
  if (kind.width === 0 ? links.width !== undefined : linkWidth < kind.width || linkWidth > 12)
    throw new InvalidInput(`links of ${geometry} cannot have ${links.width} ends`);
  if ((description.sharedFragments ?? false) !== false && kind.width > 0)
    throw new Unsupported(`fragments of ${geometry} cannot be shared: links name their vertices`);
  if (
    links.late === true &&
    (geometry === "skeletons" || [description.nonFinite, description.outside].includes("drop"))
  )
    throw new Unsupported(
      "links that come late need to know every vertex by its number: not of skeletons, nothing dropped",
    );
  if (description.outside !== undefined && bounds === undefined)
    throw new InvalidInput(`what happens outside the bounds needs bounds, found none`);
  if (old && !["auto", "none"].includes(`${description.sharding ?? "auto"}`))
    throw new Unsupported("format 0.7.0 has no shards that its readers find");
  if (old && links.store === "duplicate") throw new Unsupported("format 0.7.0 has no copies of links");
  if (description.encoding === "draco" && (dims !== 3 || (description.dtype ?? "float32") !== "float32"))
    throw new Unsupported(`Draco has float32 positions of 3 axes, not ${description.dtype ?? "float32"} of ${dims}`);
  return {
    ...description,
    kind,
    formatVersion,
    dims,
    axes,
    chunkShape,
    ids: description.ids ?? "sparse",
    linkWidth: kind.path ? 2 : linkWidth, // paths have links where they cross from chunk to chunk
    directed: old || (links.directed ?? false), // 0.7.0 always keeps the order of ends
    duplicate: links.store === "duplicate",
  };
}

/** zarr-vectors 0.2.0 takes the vertex before for the parent even from tree to tree: there all links of skeletons are stored. */
const kind07 = (kind: Kind | undefined): Kind | undefined =>
  kind?.convention === "implicit_sequential_with_branches" ? { ...kind, convention: "explicit" } : kind;

/** The rule of the reference: to 1e-9. */
const wholeNumber = (ratio: number): boolean => Math.round(ratio) >= 1 && Math.abs(ratio - Math.round(ratio)) <= 1e-9;
