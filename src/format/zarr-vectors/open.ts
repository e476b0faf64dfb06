/** Is it a store of this format, and if so, which. */
import type { FormatOptions, Match } from "../../model/format.js";
import type { Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { findRoot, openStore } from "./nodes/open-nodes.js";
import { geometryOf } from "./read/geometry.js";
import { vectorDataset } from "./read/live.js";

export async function detectZarrVectors(
  store: Store,
  at: Prefix,
  options: FormatOptions = {},
): Promise<Match | undefined> {
  const found = await findRoot(store, at, options);
  if (found === undefined) return undefined;
  const opened = await found.open();
  const { version, geometryTypes } = opened.root;
  const kinds = geometryTypes.map((type) => geometryOf(type) ?? type);
  return {
    format: "zarr-vectors",
    version,
    summary: `Zarr Vectors ${version}, ${kinds.join(" and ") || "of no kind"}`,
    open: () => vectorDataset(opened, options),
  };
}

export { openStore, vectorDataset };
