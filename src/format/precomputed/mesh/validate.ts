/** Everything that can be said against meshes. */
import type { Finding, ValidateOptions } from "../../../model/format.js";
import { checkValues } from "../check-values.js";
import { folderOf, type InfoAt } from "../info.js";
import { openSegmentProperties } from "../properties/read.js";
import { failure, finding } from "../rules.js";
import { verifyValues } from "../values.js";
import type { MeshFragment } from "./fragment.js";
import { MeshInfo } from "./info.js";
import { Manifest } from "./manifest.js";
import { type MeshOutline, meshesAt } from "./read.js";

export async function* validateMeshes(place: InfoAt, options: ValidateOptions = {}): AsyncGenerator<Finding> {
  const { store, at, where } = place;
  const { level = 5, signal, limits } = options;
  let info: MeshInfo;
  try {
    info = MeshInfo.parse(place.info, where);
  } catch (error) {
    yield failure("info", where, error);
    return;
  }
  if (level >= 2) for (const says of info.undrawn) yield finding("undrawn", where, says, "take it away");
  if (level >= 3 && info.segmentProperties !== undefined) {
    try {
      await openSegmentProperties(store, folderOf(at, info.segmentProperties, where), options);
    } catch (error) {
      yield failure("segment-properties", where, error);
    }
  }
  if (level < 4) return;
  const { values, url, outlineOf } = await meshesAt(place, options);
  const middle = info.kind === "multi" ? 2 ** (info.quantizationBits - 1) : 0;
  if (values.sharding !== null)
    for await (const found of verifyValues(store, at, values.sharding, { ...options, level: 3 }))
      if (found.rule !== "sharded/unreferenced") yield found; // those are the fragments
  yield* checkValues(values, url, options, async function* (id, bytes) {
    const outline = outlineOf(id, bytes);
    yield* checkManifest(outline, `${url}/${id}`);
    if (level >= 5)
      for (let lod = 0; lod < outline.levels; lod++)
        yield* checkGeometry(outline, lod, middle, `${url}/${id}`, { signal, limits });
  });
}

function* checkManifest({ manifest }: MeshOutline, where: string): Generator<Finding> {
  for (const [lod, one] of (manifest?.lods ?? []).entries()) {
    if (one.scale === 0 && one.sizes.length > 0)
      yield finding(
        "undrawn",
        where,
        `lod ${lod} has fragments, but a scale of 0, by which Neuroglancer takes it for absent`,
      );
    const lost = Manifest.orphan(manifest!, lod);
    if (lost !== undefined)
      yield finding("fragment-parent", where, `fragment ${lost} of lod ${lod} lies in no cell of the next coarser lod`);
    const at = Manifest.disorder(one);
    if (at !== undefined)
      yield finding(
        "fragment-order",
        where,
        `fragment ${at} of lod ${lod} does not follow the one before it on the z-curve`,
      );
  }
}

/** A lod that cannot be read says nothing about the others. */
async function* checkGeometry(
  outline: MeshOutline,
  lod: number,
  middle: number,
  where: string,
  options: Pick<ValidateOptions, "signal" | "limits">,
): AsyncGenerator<Finding> {
  if (outline.manifest !== undefined && Manifest.lodAt(outline.manifest, lod) !== lod) return; // nothing is stored for it
  try {
    if (outline.manifest === undefined) {
      const { positions } = await outline.read(lod, options);
      if (!positions.every(Number.isFinite))
        yield finding("vertex-finite", where, "the mesh has coordinates that are NaN or infinite");
      return;
    }
    let across = 0;
    for (const fragment of await outline.cells(lod, options)) if (lod > 0) across += facesAcross(fragment, middle);
    if (across > 0)
      yield finding(
        "fragment-split",
        where,
        `${across} of the faces of lod ${lod} lie across the middle of their cell`,
      );
  } catch (error) {
    yield failure("fragment-decodes", where, error);
  }
}

/** Faces with corners on both sides of the middle of their cell, on any axis. */
function facesAcross({ steps, faces }: MeshFragment, middle: number): number {
  let count = 0;
  for (let i = 0; i < faces.length; i += 3) {
    const [a, b, c] = [3 * faces[i]!, 3 * faces[i + 1]!, 3 * faces[i + 2]!];
    for (let axis = 0; axis < 3; axis++) {
      const [p, q, r] = [steps[a + axis]!, steps[b + axis]!, steps[c + axis]!];
      if (Math.min(p, q, r) >= middle || Math.max(p, q, r) <= middle) continue;
      count++;
      break;
    }
  }
  return count;
}
