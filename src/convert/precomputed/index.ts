/** Geometry to precomputed: skeletons, annotations or meshes, with what is known of the objects beside them. */
import { Unsupported } from "../../errors.js";
import { refuseOverlap } from "../../format/zarr/room.js";
import type { Geometry, VectorDataset } from "../../model/vectors.js";
import type { Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import type { ConvertReport } from "../arrays.js";
import { refuseLosses } from "../losses.js";
import { type PUBLISHED, type Publication, type PublishOptions, publicationOf } from "./publication.js";
import { inRoom } from "./room.js";

type Kind = (typeof PUBLISHED)[number];

const KINDS: { readonly [G in Geometry]: readonly Kind[] } = {
  points: ["annotations"],
  lines: ["annotations", "skeletons"],
  polylines: ["skeletons", "annotations"],
  streamlines: ["skeletons", "annotations"],
  graph: ["skeletons"],
  skeletons: ["skeletons"],
  mesh: ["meshes", "legacy-meshes"],
  parametric: [],
};

const TYPES: { readonly [kind in Kind]: readonly string[] } = {
  skeletons: ["neuroglancer_skeletons"],
  annotations: ["neuroglancer_annotations_v1"],
  meshes: ["neuroglancer_multilod_draco", "neuroglancer_legacy_mesh"],
  "legacy-meshes": ["neuroglancer_multilod_draco", "neuroglancer_legacy_mesh"],
};

/** What a dataset becomes; Unsupported where that cannot be. */
export function publishedAs({ url, geometries, attributes }: VectorDataset, wanted: Kind | undefined): Kind {
  const possible = KINDS[geometries[0] ?? "parametric"];
  const were = attributes.annotation_type !== undefined && possible.includes("annotations");
  const kind = wanted ?? (were ? "annotations" : possible[0]); // what they once were, they become again
  if (kind !== undefined && possible.includes(kind)) return kind;
  throw new Unsupported(
    `${url} holds ${geometries.join(" and ")}, which cannot become ${wanted ?? "precomputed"}${possible.length > 0 ? `, only ${possible.join(" or ")}` : ""}`,
    { where: url },
  );
}

/** Into an empty place, or one whose data of the same kind may go. */
export async function convertToPrecomputed(
  source: VectorDataset,
  store: Store,
  at: Prefix,
  options: PublishOptions = {},
): Promise<ConvertReport> {
  refuseOverlap(source, store, at);
  const kind = publishedAs(source, options.kind);
  return inRoom(store, at, TYPES[kind], options, async () => {
    const report = await published(kind, await publicationOf(source, options), store, at);
    refuseLosses(options, report.losses);
    return report;
  });
}

async function published(kind: Kind, publication: Publication, store: Store, at: Prefix): Promise<ConvertReport> {
  if (kind === "skeletons") return (await import("./skeletons.js")).publishSkeletons(publication, store, at);
  if (kind === "annotations") return (await import("./annotations.js")).publishAnnotations(publication, store, at);
  return (await import("./meshes.js")).publishMeshes(publication, store, at, kind === "legacy-meshes");
}
