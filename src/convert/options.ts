/** What the options of `convert` are, and what they mean for each thing that it can write: those that mean nothing there are refused. */
import { Unsupported } from "../errors.js";
import { targets } from "../format/interchange/kinds.js";
import type { WritableVersion } from "../format/zarr/index.js";
import type { Region } from "../model/array.js";
import type { Dataset } from "../model/dataset.js";
import type { Query } from "../model/vectors.js";
import type { OpenOptions } from "../open.js";
import type { PyramidOptions } from "../pyramid/index.js";
import type { LocationOptions } from "../store/open.js";
import type { ConvertOptions } from "./arrays.js";
import { type ConvertFileOptions, fileKind } from "./files.js";
import type { Input } from "./inputs.js";
import type { Strictness } from "./losses.js";
import type { ConvertParticlesOptions } from "./particles.js";
import type { PublishOptions } from "./precomputed/publication.js";
import type { StageOptions } from "./stage.js";
import type { TractOptions } from "./tracts.js";
import type { ConvertVectorsOptions } from "./vectors.js";
import type { ConvertVolumeOptions } from "./volumes.js";

/** The formats of arrays that can be written, by the name that `to` has. */
export const TARGETS = { zarr3: 3, zarr2: 2, zarr0: 0 } as const satisfies Record<string, WritableVersion>;

/** What the target is to be, and how to get there. */
export interface ConvertToOptions
  extends Omit<ConvertOptions, "version" | "codecs">,
    Omit<LocationOptions, "create">,
    Pick<OpenOptions, "as" | "table">,
    Strictness,
    Pick<ConvertFileOptions, "attributes" | "ascii">,
    TractOptions,
    Pick<ConvertVectorsOptions, "formatVersion" | "dtype" | "codecs" | "ids">,
    Pick<PublishOptions, "kind" | "keepTypes">,
    Pick<ConvertVolumeOptions, "encoding" | "sharded" | "scales" | "resolution">,
    Pick<StageOptions, "resume" | "part" | "finish"> {
  /** Of precomputed skeletons and meshes: the address of the volume of labels whose info shall name them. */
  readonly link?: string | undefined;
  /** "zarr3" for arrays; for geometry the kind of file that the target's name says ("trk"), else "zarr-vectors". */
  readonly to?: keyof typeof TARGETS | "zarr-vectors" | "precomputed" | "ptree" | (string & {}) | undefined;
  /** Of geometry: the part that is converted, as a selection says it as well. */
  readonly query?: Query | undefined;
  /** Of an array: the part that is converted, as `read` takes it; an axis that is picked by one index is gone. */
  readonly slice?: Region | undefined;
  /** Of Zarr Vectors: its coarser levels are built as well, when level 0 is there; what they shall be. */
  readonly pyramid?: PyramidOptions | true | undefined;
  /** Objects and inputs that are damaged are left out, and told as `skipped`; without it the first one is an error. */
  readonly skipBad?: boolean | undefined;
}

/** Everything that `to` may be. */
export const FORMATS: readonly string[] = [
  ...Object.keys(TARGETS),
  "zarr-vectors",
  "precomputed",
  "ptree",
  ...targets.map(({ id }) => id),
];

/** Whether these are several inputs. */
export const isMany = (source: Dataset | readonly Input[]): source is readonly Input[] => Array.isArray(source);

/** Whether what is written is a store that can have coarser levels. */
export const holdsLevels = (
  source: Dataset | readonly Input[],
  target: string,
  { to, formatVersion }: ConvertToOptions,
): boolean =>
  (isMany(source) || source.kind === "vectors") &&
  (to === undefined ? fileKind(target, to) === undefined && !isParticleFile(target, to) : to === "zarr-vectors") &&
  formatVersion !== "0.7.0";

/** Whether a target is a file of particles with their tree: as `to` says, else its name. */
export const isParticleFile = (target: string, to: string | undefined): boolean =>
  to === undefined ? /\.ptree$/i.test(target) : to === "ptree";

/** What the options mean for geometry that becomes precomputed. */
export function publishOptions({ url: where }: { readonly url: string }, options: ConvertToOptions): PublishOptions {
  const { to: _, formatVersion, dtype, codecs, chunkShape, shardShape, encoding, scales, link: _l, ...rest } = options;
  const foreign = { formatVersion, dtype, codecs, chunkShape, shardShape, encoding, scales };
  refuse(
    foreign,
    `${where} cannot become precomputed geometry`,
    "It has kind, sharded, resolution, ids and keepTypes.",
  );
  return rest;
}

/** What the options mean for particles with their tree. */
export function particleOptions(
  { url: where }: { readonly url: string },
  options: ConvertToOptions,
): ConvertParticlesOptions {
  const { formatVersion, dtype, ids, codecs, chunkShape, shardShape, ...rest } = withoutPublishing(
    options,
    `${where} cannot become a ptree file`,
  );
  refuse({ formatVersion, dtype, ids, codecs, chunkShape, shardShape }, `${where} cannot become a ptree file`);
  return rest;
}

/** What the options mean for volumes. */
export function volumeOptions(
  { url: where }: { readonly url: string },
  options: ConvertToOptions,
): ConvertVolumeOptions {
  const { to: _, formatVersion, dtype, ids, codecs, shardShape, kind, keepTypes, link, ...rest } = options;
  const foreign = { formatVersion, dtype, ids, codecs, shardShape, kind, keepTypes, link };
  refuse(foreign, `${where} cannot become a volume`, "Volumes have encoding, sharded, scales and resolution.");
  return rest;
}

/** Unsupported where one of these options is given. */
export function refuse(foreign: { readonly [name: string]: unknown }, what: string, hint?: string): void {
  const [name] = Object.entries(foreign).find(([, value]) => value !== undefined && value !== false) ?? [];
  if (name !== undefined)
    throw new Unsupported(`${what} with the option ${name}, which means nothing there`, { ...(hint && { hint }) });
}

/** What the options mean for arrays. */
export function arrayOptions({ url: where }: { readonly url: string }, options: ConvertToOptions): ConvertOptions {
  const { to = "zarr3" } = options;
  if (to === "precomputed")
    throw new Unsupported(`${where} is a group, and a volume is one array at several scales`, {
      where,
      hint: "Convert its arrays one by one.",
    });
  const { formatVersion, dtype, ids, ...rest } = withoutPublishing(options, `${where} cannot become Zarr`);
  if (!(to in TARGETS) || formatVersion !== undefined || dtype !== undefined || ids !== undefined)
    throw new Unsupported(`${where} has no geometry, so it cannot become ${to in TARGETS ? "Zarr Vectors" : to}`, {
      where,
    });
  return { ...rest, version: TARGETS[to as keyof typeof TARGETS] };
}

/** What the options mean for geometry. */
export function vectorOptions(
  { url: where }: { readonly url: string },
  options: ConvertToOptions,
): ConvertVectorsOptions {
  const { to = "zarr-vectors" } = options;
  if (to !== "zarr-vectors")
    throw new Unsupported(`${where} is geometry, and ${to} holds arrays`, {
      where,
      ...(/\.npy(\.gz)?$/i.test(where) && { hint: "As an array: --as npy-array." }),
    });
  const { shardShape, chunkShape, ...rest } = withoutPublishing(options, `${where} cannot become Zarr Vectors`);
  const one = Array.isArray(chunkShape) && chunkShape.length === 1; // for all axes
  return { ...rest, chunkShape: one ? chunkShape[0] : chunkShape, sharding: shardShape };
}

/** The options without those of precomputed data, which nobody may have given. */
function withoutPublishing(options: ConvertToOptions, otherwise: string) {
  const { to, encoding, sharded, scales, resolution, kind, keepTypes, link, ...rest } = options;
  refuse({ encoding, sharded, scales, resolution, kind, keepTypes, link }, otherwise);
  return rest;
}
