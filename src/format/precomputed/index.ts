/** Neuroglancer precomputed: volumes, skeletons, meshes, annotations and segment properties, sharded or not. */
import type { Format } from "../../model/format.js";
import { readInfo } from "./info.js";

export {
  type ChosenSharding,
  chooseSharding,
  type ValuesToCome,
} from "./sharded/choose.js";
export type { Compacted, CompactOptions } from "./sharded/edit.js";
export { formatSharding, parseSharding } from "./sharded/parse.js";
export type { Sharding, ShardingDocument } from "./sharded/types.js";
export {
  compactValues,
  createValues,
  editValues,
  type FoundValues,
  type IdRange,
  type OpenValuesOptions,
  openValues,
  repairValues,
  type ScanOptions,
  type ValueBatch,
  type ValueEditor,
  type ValueNames,
  type ValueReader,
  type ValuesWritten,
  type ValueWriter,
  verifyValues,
  type WriteValuesOptions,
} from "./values.js";

/** Precomputed as a format. */
export const precomputed: Format = {
  id: "precomputed",
  name: "Neuroglancer precomputed",
  async detect(store, at, options) {
    const place = await readInfo(store, at, options);
    if (place === undefined) return undefined;
    const kind = (await import("./open.js")).kindOf(place);
    return (
      kind && {
        format: "precomputed",
        version: "1",
        summary: `Neuroglancer precomputed, ${kind.name}`,
        open: async () => (await kind.load()).open(place, options),
      }
    );
  },
  async open(store, at, options) {
    const { findKind } = await import("./open.js");
    const { kind, place } = await findKind(store, at, options);
    return kind.open(place, options);
  },
  async *validate(store, at, options) {
    const { findKind } = await import("./open.js");
    const { kind, place } = await findKind(store, at, options);
    yield* kind.validate(place, options);
  },
  async repair(store, at, options) {
    const { findKind } = await import("./open.js");
    const { kind, place } = await findKind(store, at, options);
    return (await kind.repair?.(place, options)) ?? { fixed: [], left: [] };
  },
};
