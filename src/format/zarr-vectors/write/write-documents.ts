/** The documents of a new store: its root, its level and the groups between them and the arrays. */
import type { JsonObject } from "../../../bytes/json.js";
import { JsonFloat, stringifyJson, type WritableJson } from "../../../bytes/json-write.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import type { AttributeInfo } from "../../../model/attributes.js";
import type { Plan } from "./description.js";
import { dtypeName } from "./write-columns.js";

export type Document = { readonly [key: string]: WritableJson };

/** A group's `zarr.json`. */
export const groupDocument = (attributes: Document = {}): Uint8Array =>
  encodeUtf8(
    stringifyJson({ attributes, zarr_format: 3, node_type: "group" }, { indent: 2, ascii: true }),
    "a zarr.json",
  );

/** The same without white space, as nobody else writes it: what a column of owners is sealed with (owner-column.ts). */
export const sealedDocument = (attributes: Document): Uint8Array =>
  encodeUtf8(stringifyJson({ attributes, zarr_format: 3, node_type: "group" }, { ascii: true }), "a zarr.json");

/** Python tells 50.0 from 50, so what is a float there is written as one. */
export const floats = (values: readonly number[]): JsonFloat[] => values.map((value) => new JsonFloat(value));

export interface RootFacts {
  readonly name: string;
  readonly chunkShape: readonly number[];
  readonly bounds: { readonly min: readonly number[]; readonly max: readonly number[] };
  readonly capabilities: readonly string[];
  readonly attributes: { readonly [domain: string]: readonly AttributeInfo[] };
  readonly levels: readonly { readonly level: number; readonly binShape: readonly number[] }[];
  /** Further words of `zarr_vectors`. */
  readonly more?: Document | undefined;
}

export function rootDocument(
  plan: Plan,
  { name, chunkShape, bounds, capabilities, attributes, levels, more }: RootFacts,
): Uint8Array {
  const current = plan.formatVersion === "0.9.2";
  const axes = plan.axes.map(({ name, type, unit }) => ({ name, type, ...(unit === undefined ? {} : { unit }) }));
  const specs = specsOf(attributes);
  const base = plan.binShape ?? chunkShape;
  return groupDocument({
    zarr_vectors: {
      zv_version: plan.formatVersion,
      format_capabilities: capabilities,
      chunk_shape: floats(chunkShape),
      bounds: [floats(bounds.min), floats(bounds.max)],
      geometry_types: [plan.kind.type],
      ...(plan.crs === undefined ? {} : { crs: plan.crs }),
      ...(plan.binShape === undefined ? {} : { base_bin_shape: floats(plan.binShape) }),
      ...(!current || Object.keys(specs).length === 0 ? {} : { attribute_specs: specs }),
      links_convention: plan.kind.convention,
      object_index_convention: "standard",
      cross_chunk_strategy: "explicit_links",
      ...more,
    },
    multiscales: [
      {
        version: "0.4",
        name: "default",
        axes,
        datasets: levels.map(({ level, binShape }) => ({
          path: `${level}`,
          coordinateTransformations: [
            { type: "scale", scale: floats(binShape.map((size, axis) => (level === 0 ? 1 : size / base[axis]!))) },
            { type: "translation", translation: floats(binShape.map((size) => size / 2)) },
          ],
        })),
        metadata: { format: "zarr_vectors" },
      },
    ],
    ...(current ? { ome: collection(name, axes, levels) } : {}),
    ...(plan.userMetadata === undefined ? {} : { user_metadata: plan.userMetadata }),
  });
}

/** OME's words for it; from 0.9.2 on. */
const collection = (name: string, axes: readonly Document[], levels: readonly { readonly level: number }[]) => ({
  version: "0.6",
  type: "collection",
  name,
  attributes: { scene: { coordinateSystems: [{ name: "world", axes }], coordinateTransformations: [] } },
  nodes: levels.map(({ level }) => ({ type: "zv:level", name: `${level}` })),
});

/** Units and descriptions have no other place than the declarations of the root. */
function specsOf(attributes: RootFacts["attributes"]): JsonObject {
  const domains = Object.entries(attributes).map(([domain, infos]) => {
    const entries = infos.map((info) => {
      const { name, unit, description, channels } = info;
      return [
        name,
        {
          dtype: dtypeName(info.dtype),
          ...(unit === undefined ? {} : { unit }),
          ...(description === undefined ? {} : { description }),
          ...(channels === 1 ? {} : { channels }),
        },
      ] as const;
    });
    return [domain, Object.fromEntries(entries)] as const;
  });
  return Object.fromEntries(domains.filter(([, specs]) => Object.keys(specs).length > 0));
}

export interface LevelFacts {
  readonly vertices: number;
  readonly arrays: readonly string[];
  readonly shared: boolean;
  /** From 0.9 on: in every chunk the fragments follow each other. */
  readonly tiled: boolean;
  readonly level?: number | undefined;
  /** What a coarser level says, instead of what the finest does. */
  readonly more?: Document | undefined;
}

export const levelDocument = ({ vertices, arrays, shared, tiled, level = 0, more }: LevelFacts): Uint8Array =>
  groupDocument({
    zarr_vectors_level: {
      level,
      object_sparsity: new JsonFloat(1),
      vertex_count: vertices,
      coarsening_method: "none",
      parent_level: null,
      arrays_present: arrays,
      ...(shared ? { shared_fragments: true } : {}),
      ...(tiled ? { fragments_tile: true } : {}),
      ...more,
    },
  });
