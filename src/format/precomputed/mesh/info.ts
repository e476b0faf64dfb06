/**
 * The info of meshes, of which there are two kinds.
 *
 * | member                     | holds                                                                                  |
 * |----------------------------|----------------------------------------------------------------------------------------|
 * | `@type`                    | `neuroglancer_multilod_draco`, or `neuroglancer_legacy_mesh`, which has only the last two |
 * | `vertex_quantization_bits` | 10 or 16: the steps of a vertex within its fragment                                    |
 * | `transform`                | 12 numbers, 3 rows of 4: from units of the model to nanometres; absent: as they are    |
 * | `lod_scale_multiplier`     | what the scales in manifests are multiplied with                                       |
 * | `sharding`                 | how values lie; absent: two files for each id                                          |
 * | `segment_properties`       | the folder of a table with a row for each id, relative to this one                     |
 *
 * Other members (`spatial_index`, `mip`, `chunk_size` of igneous) are those of the software that wrote them, and left alone.
 */
import type { JsonObject } from "../../../bytes/json.js";
import type { Affine } from "../../../space/transform.js";
import { asString, wrong } from "../../zarr/document.js";
import { identityRows, shardingOf, transformOf } from "../info.js";
import { formatSharding } from "../sharded/parse.js";
import type { Sharding } from "../sharded/types.js";

export const LEGACY = "neuroglancer_legacy_mesh";
export const MULTI = "neuroglancer_multilod_draco";

interface AnyMeshInfo {
  readonly segmentProperties: string | undefined;
  /** Why Neuroglancer would not draw them, in sentences. */
  readonly undrawn: readonly string[];
}

/** What the info of older meshes says. */
export interface LegacyMeshInfo extends AnyMeshInfo {
  readonly kind: "legacy";
  readonly sharding: null;
}

/** What the info of meshes of several resolutions says. */
export interface MultiMeshInfo extends AnyMeshInfo {
  readonly kind: "multi";
  readonly quantizationBits: 10 | 16;
  /** From units of the model to nanometres; undefined where they are that. */
  readonly transform: Affine | undefined;
  readonly lodScaleMultiplier: number;
  readonly sharding: Sharding | null;
}

/** What the info of meshes says. */
export type MeshInfo = LegacyMeshInfo | MultiMeshInfo;

/** From the document, and to it. */
export const MeshInfo = {
  /** Corrupt where the document is none; `where` names it. */
  parse(info: JsonObject, where: string): MeshInfo {
    const { segment_properties: properties } = info;
    const segmentProperties =
      properties === undefined ? undefined : asString(properties, "a segment_properties", where);
    if (info["@type"] === LEGACY) {
      // No software reads these from shards.
      if (info.sharding !== undefined && info.sharding !== null)
        throw wrong(where, "no sharding, as meshes of the older form have none", info.sharding);
      return { kind: "legacy", sharding: null, segmentProperties, undrawn: [] };
    }
    const { vertex_quantization_bits: bits, lod_scale_multiplier: multiplier } = info;
    if (bits !== 10 && bits !== 16) throw wrong(where, "10 or 16 as vertex_quantization_bits", bits);
    if (typeof multiplier !== "number" || !Number.isFinite(multiplier) || multiplier <= 0)
      throw wrong(where, "a number above 0 as lod_scale_multiplier", multiplier);
    return {
      kind: "multi",
      quantizationBits: bits,
      transform: transformOf(info, where),
      lodScaleMultiplier: multiplier,
      sharding: shardingOf(info, where),
      segmentProperties,
      undrawn: info.sharding === null ? ['Neuroglancer does not open an info with "sharding": null.'] : [],
    };
  },

  /** As all software reads it. */
  format(info: Omit<LegacyMeshInfo, "undrawn"> | Omit<MultiMeshInfo, "undrawn">): JsonObject {
    const { segmentProperties } = info;
    const link = segmentProperties === undefined ? {} : { segment_properties: segmentProperties };
    if (info.kind === "legacy") return { "@type": LEGACY, ...link };
    return {
      "@type": MULTI,
      vertex_quantization_bits: info.quantizationBits,
      transform: [...(info.transform?.rows ?? identityRows)],
      lod_scale_multiplier: info.lodScaleMultiplier,
      ...(info.sharding && { sharding: { ...formatSharding(info.sharding) } }),
      ...link,
    };
  },
};
