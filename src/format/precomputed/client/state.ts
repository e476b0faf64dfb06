/**
 * The state of Neuroglancer that shows some datasets: a layer for each, the view at the centre of all of them.
 *
 * | dataset                     | layer                                                                                     |
 * |-----------------------------|-------------------------------------------------------------------------------------------|
 * | volume, Zarr array          | image, or segmentation where it holds labels                                              |
 * | skeletons, meshes           | segmentation, with its objects shown where they are few                                   |
 * | segment properties          | a further source of the layers of segments                                                |
 * | annotations                 | annotation, its relationships linked to the layer of segments where there is one          |
 *
 * Lengths are counted in the voxels of the first volume, else in what the first annotations count, else in nanometres.
 */
import { InvalidInput, OctavoError, Unsupported } from "../../../errors.js";
import type { Dataset, ReadOptions } from "../../../model/dataset.js";
import type { VectorDataset } from "../../../model/vectors.js";
import type { AnnotationDataset } from "../annotation/dataset.js";
import type { SegmentPropertiesDataset } from "../properties/dataset.js";
import type { VolumeArray } from "../volume/array.js";
import { webAddressOf } from "./address.js";
import { DEMO } from "./serving.js";

/** A dataset, and the address under which a page finds it. */
export interface Shown {
  readonly url: string;
  readonly dataset: Dataset;
  /** Of its layer; the last part of the address unless told. */
  readonly name?: string | undefined;
  /** Of objects: those that are shown, and where all of them lie in nanometres, lower corner and upper; they are asked where that is not known. */
  readonly known?: { readonly objects: readonly bigint[]; readonly bounds: readonly number[] } | undefined;
}

/** What to show of it. */
export interface StateOptions<T extends Shown = Shown> extends ReadOptions {
  /** The objects that are shown; those that there are, where they are few, unless told. */
  readonly objects?: readonly bigint[] | undefined;
  /** Called with what Neuroglancer cannot show, which is left out unless this throws; else the error of the first one is thrown. */
  readonly onRefused?: ((shown: T, error: OctavoError) => void) | undefined;
}

/** A layer, as Neuroglancer's own documents spell it. */
export interface StateLayer {
  readonly type: "image" | "segmentation" | "annotation";
  readonly name: string;
  readonly source: string | readonly string[];
  readonly segments?: readonly string[];
  readonly linkedSegmentationLayer?: { readonly [relationship: string]: string };
}

/** A state, as Neuroglancer's own documents spell it. */
export interface NeuroglancerState {
  readonly dimensions: { readonly [name: string]: readonly [number, string] };
  readonly position?: readonly number[];
  readonly crossSectionScale?: number;
  readonly projectionScale?: number;
  readonly layers: readonly StateLayer[];
  readonly showSlices?: boolean;
  readonly layout: "3d" | "4panel";
}

/** Where something lies, in metres or whatever the unit of a dimension is. */
interface Extent {
  readonly [dimension: string]: readonly [low: number, high: number];
}

/** What a dataset brings into the state. */
interface Part {
  readonly layer: StateLayer;
  readonly dimensions?: NeuroglancerState["dimensions"] | undefined;
  readonly extent?: Extent | undefined;
  readonly relationships?: readonly string[] | undefined;
  /** A source of other layers rather than a layer. */
  readonly table?: true | undefined;
  readonly isVolume?: true | undefined;
}

const FEW = 100; // objects that are shown all
const SAMPLE = 16; // objects that tell where all of them lie

/** The state that shows these datasets, which are asked where they lie; InvalidInput where a page cannot reach one. */
export async function neuroglancerState<T extends Shown>(
  shown: readonly T[],
  options: StateOptions<T> = {},
): Promise<NeuroglancerState> {
  const { onRefused, ...reading } = options;
  const names = new Set<string>();
  const parts: Part[] = [];
  for (const own of shown) {
    const { url, dataset, known, name = nameOf(url) } = own;
    try {
      parts.push(await partOf(dataset, sourceOf(url, dataset), once(name, names), reading, known));
    } catch (error) {
      if (onRefused === undefined || !(error instanceof OctavoError)) throw error;
      onRefused(own, error);
    }
  }
  if (parts.length === 0) throw new InvalidInput("a state shows at least one dataset");
  const layers = layersOf(parts);
  const { dimensions } = parts.find(({ isVolume }) => isVolume) ?? parts.find((part) => part.dimensions) ?? {};
  const hasVolume = parts.some(({ isVolume }) => isVolume);
  const view = hasVolume ? { layout: "4panel" as const } : { showSlices: false, layout: "3d" as const };
  const all = dimensions ?? NANOMETRES;
  return {
    dimensions: all,
    ...viewOf(
      all,
      parts.flatMap(({ extent }) => (extent === undefined ? [] : [extent])),
    ),
    layers,
    ...view,
  };
}

/** The address of a state, for a client of Neuroglancer; the public one unless told. */
export const stateUrl = (state: NeuroglancerState, client = DEMO): string =>
  `${client.replace(/[/#!]+$/, "")}/#!${encodeURIComponent(JSON.stringify(state))}`;

const NANOMETRES: NeuroglancerState["dimensions"] = { x: [1e-9, "m"], y: [1e-9, "m"], z: [1e-9, "m"] };

/** The address as Neuroglancer takes it. */
function sourceOf(url: string, { format, version }: Dataset): string {
  const base = url.startsWith("gs:") ? url.split("|")[0]!.replace(/\/+$/, "") : webAddressOf(url);
  if (base === undefined)
    throw new InvalidInput(`${url} is on no web server, and Neuroglancer reads from one`, {
      where: url,
      hint: "Name the address under which it is served: https://…, s3://…, gs://…",
    });
  const path = /\|[a-z0-9-]+:([^|]*)$/i.exec(url)?.[1]?.replace(/^\/+|\/+$/g, "") ?? "";
  const whole = path === "" ? base : `${base}/${path}`;
  if (format === "precomputed") return `precomputed://${whole}`;
  if (format === "zarr" && (version === "2" || version === "3")) return `${whole}/|zarr${version}:`;
  throw new Unsupported(`${url} is ${format} ${version}, which Neuroglancer does not read`, {
    where: url,
    hint: "octavo convert … --to precomputed",
  });
}

/** The last part of the address that says something. */
function nameOf(url: string): string {
  const [address = ""] = url.split("|");
  const last =
    address
      .replace(/[?#].*$/, "")
      .split("/")
      .filter(Boolean)
      .at(-1) ?? "data";
  return decodeURIComponent(last).replace(/\.(zarr|zv|precomputed)$/, "");
}

/** The name, with a number where another layer has it already. */
function once(plain: string, taken: Set<string>): string {
  let name = plain;
  for (let i = 2; taken.has(name); i++) name = `${plain} ${i}`;
  taken.add(name);
  return name;
}

async function partOf(
  dataset: Dataset,
  source: string,
  name: string,
  options: StateOptions,
  known: Shown["known"],
): Promise<Part> {
  if (dataset.kind === "array") {
    const { info } = dataset as Partial<VolumeArray>;
    const layer = {
      type: info?.type ?? "image",
      name,
      source,
      ...chosen(info?.type === "segmentation" ? options.objects : undefined),
    };
    return info === undefined ? { layer } : { layer, isVolume: true, ...spaceOf(dataset as VolumeArray) };
  }
  if (dataset.kind === "group") {
    const { table } = dataset as Partial<SegmentPropertiesDataset>;
    if (table === undefined)
      throw new Unsupported(`${dataset.url} is a group: name one of its arrays`, { where: dataset.url });
    return { layer: { type: "segmentation", name, source, ...chosen(options.objects) }, table: true };
  }
  const { collection } = dataset as Partial<AnnotationDataset>;
  if (collection !== undefined) {
    const { dimensions, lower, upper, relationships } = collection.info;
    return {
      layer: { type: "annotation", name, source },
      dimensions: Object.fromEntries(dimensions.map((own) => [own.name, [own.scale, own.unit] as const])),
      extent: Object.fromEntries(
        dimensions.map((own, i) => [own.name, [lower[i]! * own.scale, upper[i]! * own.scale] as const]),
      ),
      relationships: relationships.map(({ id }) => id),
    };
  }
  if (known !== undefined) {
    const { objects, bounds } = known;
    const layer = { type: "segmentation" as const, name, source, ...chosen(options.objects ?? objects) };
    return { layer, extent: inMetres(bounds.slice(0, 3), bounds.slice(3)) };
  }
  const ids = await idsOf(dataset, options);
  const few = options.objects ?? (ids.length <= FEW ? ids : ids.slice(0, SAMPLE));
  const layer = { type: "segmentation" as const, name, source, ...chosen(few) };
  return { layer, extent: await extentOf(dataset, few.slice(0, SAMPLE), options) };
}

const chosen = (ids: readonly bigint[] | undefined) => ({
  ...(ids !== undefined && ids.length > 0 && { segments: ids.map(String) }),
});

function spaceOf({ scale: { resolution, offset, size } }: VolumeArray): Pick<Part, "dimensions" | "extent"> {
  const axes = ["x", "y", "z"].map((name, i) => {
    const metres = Number(`${resolution[i]}e-9`);
    return { name, metres, low: offset[i]! * metres, high: (offset[i]! + size[i]!) * metres };
  });
  return {
    dimensions: Object.fromEntries(axes.map(({ name, metres }) => [name, [metres, "m"] as const])),
    extent: Object.fromEntries(axes.map(({ name, low, high }) => [name, [low, high] as const])),
  };
}

/** Those that there are, apart from 0, which is never shown; none where nobody can say. */
async function idsOf(dataset: VectorDataset, options: ReadOptions): Promise<readonly bigint[]> {
  try {
    return Array.from((await dataset.objectIds(0, options)) as BigUint64Array).filter((id) => id !== 0n);
  } catch (error) {
    if (error instanceof Unsupported) return []; // a web server lists nothing
    throw error;
  }
}

/** Where some objects lie. */
async function extentOf(
  dataset: VectorDataset,
  object: readonly bigint[],
  options: ReadOptions,
): Promise<Extent | undefined> {
  if (object.length === 0) return undefined;
  const level = dataset.levels.at(-1)!.level; // the coarsest will do
  const [low, high] = [[0, 0, 0].fill(Number.POSITIVE_INFINITY), [0, 0, 0].fill(Number.NEGATIVE_INFINITY)];
  try {
    for await (const { positions } of dataset.select({ level, object }).batches(options))
      for (let i = 0; i < positions.length; i++) {
        low[i % 3] = Math.min(low[i % 3]!, positions[i]!);
        high[i % 3] = Math.max(high[i % 3]!, positions[i]!);
      }
  } catch (error) {
    if (error instanceof OctavoError) return undefined; // a view of something else is better than none
    throw error;
  }
  if (!low.every(Number.isFinite)) return undefined;
  return inMetres(low, high);
}

const inMetres = (low: readonly number[], high: readonly number[]): Extent =>
  Object.fromEntries(["x", "y", "z"].map((name, i) => [name, [low[i]! * 1e-9, high[i]! * 1e-9] as const]));

/** Tables go to the layers of segments, and annotations know the only one that there is. */
function layersOf(parts: readonly Part[]): StateLayer[] {
  const isSegments = ({ layer, table }: Part): boolean => layer.type === "segmentation" && table === undefined;
  const tables = parts.filter(({ table }) => table);
  const segments = parts.filter(isSegments);
  const only = segments.length === 1 ? segments[0]!.layer.name : undefined;
  return parts.flatMap((part) => {
    const { layer, relationships = [] } = part;
    if (part.table) return segments.length > 0 ? [] : [layer];
    if (isSegments(part) && tables.length > 0)
      return [{ ...layer, source: [layer.source, ...tables.map((own) => own.layer.source)].flat() }];
    if (only === undefined || relationships.length === 0) return [layer];
    return [{ ...layer, linkedSegmentationLayer: Object.fromEntries(relationships.map((name) => [name, only])) }];
  });
}

const PIXELS = 600; // of a panel

/** The centre of everything, and how much of it is seen. */
function viewOf(dimensions: NeuroglancerState["dimensions"], extents: readonly Extent[]): Partial<NeuroglancerState> {
  if (extents.length === 0) return {};
  const spans = Object.entries(dimensions).map(([name, [scale]]) => {
    const own = extents.flatMap((extent) => (extent[name] === undefined ? [] : [extent[name]]));
    const [low, high] = [Math.min(...own.map(([from]) => from)), Math.max(...own.map(([, to]) => to))];
    return own.length === 0 ? { scale, middle: 0, length: 0 } : { scale, middle: (low + high) / 2, length: high - low };
  });
  const unit = Math.min(...spans.map(({ scale }) => scale)); // what Neuroglancer counts scales in
  const largest = Math.max(...spans.map(({ length }) => length)) / unit || 1;
  return {
    position: spans.map(({ middle, scale }) => rounded(middle / scale)),
    crossSectionScale: rounded(largest / PIXELS),
    projectionScale: rounded(largest * 1.5),
  };
}

const rounded = (value: number): number => Number(value.toPrecision(6));
