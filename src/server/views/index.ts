/**
 * Any dataset of geometry as Neuroglancer precomputed, without converting it: a view is a store that is read and never written, whose
 * values are made from the data when they are asked for.
 *
 * | geometry                 | views                                                                                       |
 * |--------------------------|---------------------------------------------------------------------------------------------|
 * | skeletons, graphs        | `skeletons`, one for each object                                                            |
 * | streamlines, polylines   | `skeletons`, one for each group or random subset; `annotations`, a line for each segment     |
 * | points, lines            | `annotations`; so are paths without objects, segment by segment                             |
 * | meshes                   | `meshes` in several resolutions                                                             |
 */
import { transformTo } from "../../convert/precomputed/frame.js";
import { type Publication, publicationOf } from "../../convert/precomputed/publication.js";
import { Unsupported } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { VectorDataset } from "../../model/vectors.js";
import { Affine } from "../../space/transform.js";
import type { Store } from "../../store/types.js";
import { annotationView } from "./annotations.js";
import { bundleView } from "./bundles.js";
import { valueCache } from "./cache.js";
import { type Computation, computedStore } from "./computed.js";
import { meshView } from "./meshes.js";
import { objectItems } from "./paths.js";
import { looseItems } from "./points.js";
import { skeletonView } from "./skeletons.js";

/** How to make views. */
export interface ViewOptions extends Pick<ReadOptions, "signal" | "limits"> {
  /** What a unit of each axis of space is in nanometres; as the axes say unless told. */
  readonly resolution?: readonly number[] | undefined;
  /** Where values are kept once they were made: an empty folder, say. Memory unless told. */
  readonly cache?: Store | undefined;
  /** Bytes that are kept, at most; 256 MB unless told. */
  readonly cacheBytes?: number | undefined;
  /** Annotations in a cell of a spatial index, about; 4096 unless told. */
  readonly cellLimit?: number | undefined;
}

/** A dataset as one layer. */
export interface View {
  readonly name: "skeletons" | "annotations" | "meshes";
  /** Precomputed data, made as they are read. */
  readonly store: Store;
  /** Of layers of objects: those that a first picture should show, and where all of them lie, in nanometres. */
  readonly known: { readonly objects: readonly bigint[]; readonly bounds: readonly number[] } | undefined;
}

/** The views of a dataset, and what they leave out, in sentences. */
export async function viewsOf(
  dataset: VectorDataset,
  options: ViewOptions = {},
): Promise<{ readonly views: readonly View[]; readonly notes: readonly string[] }> {
  const { signal, limits, resolution, cacheBytes = 256e6 } = options;
  const publication = await publicationOf(dataset, { signal, limits, resolution });
  if (publication.level.scattered === true)
    throw new Unsupported(`${dataset.url} has no index of space, so that every view would read all of it`, {
      where: dataset.url,
      hint: "octavo convert makes a Zarr Vectors store of it, which has one.",
    });
  const cache = valueCache(cacheBytes, options.cache);
  // A view goes on when the call that asked for it is over: what is read for it has signals of its own.
  const lasting: Publication = { ...publication, reading: { limits } };
  const views: View[] = [];
  for (const [name, make] of makersFor(lasting, options.cellLimit)) {
    const made = await make();
    const store = computedStore(`${dataset.url}|${name}`, made, cache.part(name));
    views.push({ name, store, known: made.shown && { objects: made.shown, bounds: boundsOf(lasting) } });
  }
  return { views, notes: [...publication.losses, ...publication.notes] };
}

/** Where the data lie, in nanometres. */
function boundsOf({ source, options }: Publication): number[] {
  const rows = Affine.of(transformTo(source, options.resolution, () => {}));
  const corners = [source.bounds.min, source.bounds.max].map((corner) =>
    Affine.applyAll(
      rows,
      Float64Array.from([0, 1, 2], (axis) => corner[axis] ?? 0),
    ),
  );
  const [a, b] = corners as [Float64Array, Float64Array];
  return [...a.map((value, axis) => Math.min(value, b[axis]!)), ...a.map((value, axis) => Math.max(value, b[axis]!))];
}

function makersFor(
  publication: Publication,
  limit: number | undefined,
): readonly (readonly [View["name"], () => Promise<Computation>])[] {
  const { source, geometry, level } = publication;
  const { objects } = level;
  const refuse = (why: string): Unsupported => new Unsupported(`${source.url} ${why}`, { where: source.url });
  const annotations = async (alone: boolean): Promise<Computation> =>
    annotationView(
      publication,
      objects === undefined || (geometry === "points" && !alone)
        ? await looseItems(publication, geometry === "points" ? "point" : "line")
        : await objectItems(publication, !alone),
      limit,
    );
  switch (geometry) {
    case "points":
      return [["annotations", () => annotations(objects !== undefined && objects.rows === source.levels[0]?.vertices)]];
    case "lines":
    case "polylines":
    case "streamlines": {
      if (objects === undefined) return [["annotations", () => annotations(false)]];
      if (geometry === "lines" && 2 * objects.rows === source.levels[0]?.vertices)
        return [["annotations", () => annotations(true)]];
      return [
        ["skeletons", () => bundleView(publication)],
        ["annotations", () => annotations(false)],
      ];
    }
    case "mesh":
      if (objects === undefined || level.linkWidth !== 3)
        throw refuse("should have objects, and faces of three corners");
      return [["meshes", () => meshView(publication)]];
    default:
      if (objects === undefined) throw refuse("has no objects, and a skeleton needs the id of one");
      return [["skeletons", () => skeletonView(publication)]];
  }
}
