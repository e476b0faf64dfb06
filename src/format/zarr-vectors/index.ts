/** Zarr Vectors: multiscale points, lines, streamlines, graphs, skeletons and meshes, of every version. */
import { Unsupported } from "../../errors.js";
import type { Format } from "../../model/format.js";
import { Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import type { ZarrVectors } from "./dataset.js";
import type { OpenStoreOptions } from "./open-nodes.js";

export type { ZarrVectors } from "./dataset.js";
export type { OpenedStore, OpenStoreOptions } from "./open-nodes.js";

/** Opens a store; NotFound where there is none. */
export async function openZarrVectors(
  store: Store,
  at: Prefix = Prefix.root,
  options: OpenStoreOptions = {},
): Promise<ZarrVectors> {
  const { openStore, vectorDataset } = await import("./open.js");
  return vectorDataset(await openStore(store, at, options), options);
}

/** Zarr Vectors as a format. What reads it is loaded when a store is opened: most pages only look at arrays. */
export const zarrVectors: Format = {
  id: "zarr-vectors",
  name: "Zarr Vectors",
  async detect(store, at, options) {
    const { detectZarrVectors } = await import("./open.js");
    return detectZarrVectors(store, at, options);
  },
  open: openZarrVectors,
  // biome-ignore lint/correctness/useYield: there is nothing that it could say
  async *validate(store, at) {
    throw new Unsupported(`${store.url}/${at} is Zarr Vectors, which validate cannot check`, { where: at });
  },
};
