/**
 * The info of skeletons.
 *
 * | member               | holds                                                                                     |
 * |----------------------|-------------------------------------------------------------------------------------------|
 * | `@type`              | `neuroglancer_skeletons`                                                                  |
 * | `transform`          | 12 numbers, 3 rows of 4: from stored coordinates to nanometres; absent: as they are       |
 * | `vertex_attributes`  | `{id, data_type, num_components}` each, in the order in which their values are stored     |
 * | `sharding`           | how values lie; absent: a file for each id                                                |
 * | `segment_properties` | the folder of a table with a row for each id, relative to this one                        |
 *
 * The transform is always written: cloud-volume does not read skeletons without one.
 */
import type { JsonObject } from "../../../bytes/json.js";
import { Corrupt, InvalidInput } from "../../../errors.js";
import type { Affine } from "../../../space/transform.js";
import { asInteger, asObject, asString } from "../../zarr/document.js";
import {
  asOptionalList,
  asWord,
  identityRows,
  NUMBER_TYPES,
  type NumberType,
  shardingOf,
  transformOf,
} from "../info.js";
import { formatSharding } from "../sharded/parse.js";
import type { Sharding } from "../sharded/types.js";

/** The attribute that all software knows: how far the surface is from a vertex, in nanometres; `transform` is not for it. */
export const RADIUS = "radius";
export const NANOMETER = "nanometer";

/** Numbers that each vertex has. */
export interface SkeletonAttribute {
  readonly id: string;
  readonly type: NumberType;
  /** Numbers per vertex; 1 to 4 is what Neuroglancer can hand to a shader. */
  readonly components: number;
}

/** What the info of skeletons says. */
export interface SkeletonInfo {
  /** From stored coordinates to nanometres; undefined where they are that. */
  readonly transform: Affine | undefined;
  readonly attributes: readonly SkeletonAttribute[];
  readonly sharding: Sharding | null;
  readonly segmentProperties: string | undefined;
  /** Why Neuroglancer would not draw them, in sentences. */
  readonly undrawn: readonly string[];
}

/** From the document, and to it. */
export const SkeletonInfo = {
  /** Corrupt where the document is none; `where` names it. */
  parse(info: JsonObject, where: string): SkeletonInfo {
    const listed = asOptionalList(info.vertex_attributes, "a list as vertex_attributes", where);
    const attributes = listed.map((entry) => {
      const own = asObject(entry, "objects in vertex_attributes", where);
      return {
        id: asString(own.id, "an id in each of vertex_attributes", where),
        type: asWord(own.data_type, NUMBER_TYPES, "a data_type in each of vertex_attributes", where),
        components: asInteger(own.num_components, 1, 2 ** 16, "a num_components in each of vertex_attributes", where),
      };
    });
    const wrong = idProblem(attributes);
    if (wrong !== undefined) throw new Corrupt(`${where} ${wrong}`, { where });
    const { segment_properties: properties } = info;
    return {
      transform: transformOf(info, where),
      attributes,
      sharding: shardingOf(info, where),
      segmentProperties: properties === undefined ? undefined : asString(properties, "a segment_properties", where),
      undrawn: undrawnOf(attributes, info.sharding === null),
    };
  },

  /** As all software reads it. */
  format({ transform, attributes, sharding, segmentProperties }: Omit<SkeletonInfo, "undrawn">): JsonObject {
    const wrong = idProblem(attributes);
    if (wrong !== undefined) throw new InvalidInput(`the description of the skeletons ${wrong}`);
    return {
      "@type": "neuroglancer_skeletons",
      transform: [...(transform?.rows ?? identityRows)],
      vertex_attributes: attributes.map(({ id, type, components }) => ({
        id,
        data_type: type,
        num_components: components,
      })),
      ...(sharding && { sharding: { ...formatSharding(sharding) } }),
      ...(segmentProperties !== undefined && { segment_properties: segmentProperties }),
    };
  },
};

function idProblem(attributes: readonly SkeletonAttribute[]): string | undefined {
  if (attributes.some(({ id }) => id === "")) return "has a vertex attribute without a name";
  const seen = new Set(attributes.map(({ id }) => id));
  return seen.size === attributes.length ? undefined : "has two vertex attributes of one name";
}

/** What is allowed by the format, and yet shows nothing, or no layer at all, in Neuroglancer. */
export function undrawnOf(attributes: readonly SkeletonAttribute[], nullSharding = false): string[] {
  const others = attributes.filter(({ type }) => type !== "float32");
  return [
    ...(others.length === 0
      ? []
      : [
          `Neuroglancer draws no skeleton with attributes other than float32: ${others
            .map(({ id, type }) => `${id} is ${type}`)
            .join(", ")}.`,
        ]),
    ...(nullSharding ? ['Neuroglancer does not open an info with "sharding": null.'] : []),
  ];
}
