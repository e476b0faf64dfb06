/** What there is of this format, by the `@type` of its `info`; each is loaded when there is one. */
import { showJson } from "../../bytes/json.js";
import { NotFound, Unsupported } from "../../errors.js";
import type { Dataset } from "../../model/dataset.js";
import type {
  Finding,
  FormatOptions,
  Match,
  RepairOptions,
  RepairReport,
  ValidateOptions,
} from "../../model/format.js";
import type { Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { type InfoAt, infoOf, readInfo, typeOf } from "./info.js";

/** One kind of data. */
export interface Kind {
  open(place: InfoAt, options?: FormatOptions): Promise<Dataset>;
  validate(place: InfoAt, options?: ValidateOptions): AsyncIterable<Finding>;
  repair?(place: InfoAt, options?: RepairOptions): Promise<RepairReport>;
}

interface KindEntry {
  /** For people: "skeletons". */
  readonly name: string;
  load(): Promise<Kind>;
}

const MESHES: KindEntry = {
  name: "meshes",
  load: async () => (await import("./mesh/kind.js")).meshKind,
};

const KINDS: { readonly [type: string]: KindEntry } = {
  neuroglancer_multiscale_volume: {
    name: "volume",
    load: async () => (await import("./volume/kind.js")).volumeKind,
  },
  neuroglancer_skeletons: {
    name: "skeletons",
    load: async () => (await import("./skeleton/kind.js")).skeletonKind,
  },
  neuroglancer_multilod_draco: MESHES,
  neuroglancer_legacy_mesh: MESHES,
  neuroglancer_annotations_v1: {
    name: "annotations",
    load: async () => (await import("./annotation/kind.js")).annotationKind,
  },
  neuroglancer_segment_properties: {
    name: "segment properties",
    load: async () => (await import("./properties/kind.js")).propertiesKind,
  },
  neuroglancer_uint64_sharded_v1: {
    name: "bytes by id",
    load: async () => (await import("./sharded/kind.js")).shardedKind,
  },
};

/** The kind of a place, unless it is of another software; Unsupported where the type is not known. */
export function kindOf(place: InfoAt): KindEntry | undefined {
  const { redirect } = place.info;
  if (typeof redirect === "string")
    throw new Unsupported(`${place.where} says that the data are elsewhere: ${showJson(redirect)}`, {
      where: place.where,
      hint: "open that address",
    });
  const type = typeOf(place);
  if (type === undefined) return undefined;
  if (Object.hasOwn(KINDS, type)) return KINDS[type];
  const { where } = place;
  throw new Unsupported(`${where} has the type ${showJson(type)}, Octavo knows ${Object.keys(KINDS).join(", ")}`, {
    where,
  });
}

/** What the bytes of an `info` say to whoever asks which format a place has. */
export function matchOf(store: Store, at: Prefix, bytes: Uint8Array, options: FormatOptions): Match | undefined {
  const place = infoOf(store, at, bytes, options);
  const kind = kindOf(place);
  return (
    kind && {
      format: "precomputed",
      version: "1",
      summary: `Neuroglancer precomputed, ${kind.name}`,
      open: async () => (await kind.load()).open(place, options),
    }
  );
}

/** What is at a place; NotFound where there is no `info` of this format. */
export async function findKind(
  store: Store,
  at: Prefix,
  options: FormatOptions = {},
): Promise<{ readonly kind: Kind; readonly place: InfoAt }> {
  const place = await readInfo(store, at, options);
  const entry = place && kindOf(place);
  if (entry !== undefined) return { kind: await entry.load(), place: place! };
  const where = `${store.url}/${at}info`;
  throw new NotFound(`${where} should be the info of precomputed data, but ${place ? "it is not" : "is not there"}`, {
    where,
  });
}
