/** What `octavo serve --neuroglancer` serves besides: the views of each dataset, and the address that shows them all. */
import { join } from "node:path";
import { OctavoError, Unsupported } from "../errors.js";
import { neuroglancerState, type Shown, stateUrl } from "../format/precomputed/client/state.js";
import { precomputed } from "../format/precomputed/format.js";
import type { VectorDataset } from "../model/vectors.js";
import { convert, open } from "../node.js";
import { type Route, storeRoute, viewsOf } from "../server/index.js";
import { fileStore } from "../store/file.js";
import { Prefix } from "../store/key.js";
import type { Found } from "./serve-places.js";
import type { Session } from "./verb.js";

export interface Views {
  readonly routes: readonly Route[];
  /** The address that shows them, once it is known where the server listens. */
  link(url: string, client: string | undefined): Promise<string>;
}

/** Views of what Neuroglancer does not read by itself. `folder` is for what is kept: views, and indexes of files that have none. */
export async function viewRoutes(
  served: readonly Found[],
  folder: string,
  cacheBytes: number | undefined,
  { output, signal, report }: Session,
): Promise<Views> {
  const routes: Route[] = [];
  const shown: (Omit<Shown, "url"> & { readonly path: string; readonly found: Found })[] = [];
  for (const [i, found] of served.entries()) {
    try {
      await add(found, i);
    } catch (error) {
      leaveOut(found, error);
    }
  }

  async function add(found: Found, i: number): Promise<void> {
    const { path, inside } = found;
    const name = found.name.replace(/\.(zarr|zv|precomputed)$/, "");
    const dataset = await found.match.open();
    if (dataset.kind !== "vectors" || dataset.format === "precomputed") {
      shown.push({ dataset, name, path, found });
      return;
    }
    const indexed = await withIndex(dataset, join(folder, `index${i}.zv`), inside);
    const cache = fileStore(join(folder, `views${i}`), { durability: "none" });
    const { views, notes } = await viewsOf(indexed, { signal, cache, cacheBytes });
    for (const note of notes) output.detail(note);
    for (const view of views) {
      const at = `neuroglancer/${path || found.name}/${view.name}/`;
      routes.push(storeRoute(at, view.store, { list: false }));
      const opened = await precomputed.open(view.store, Prefix.root, { signal });
      const own = views.length === 1 ? name : `${name} ${view.name}`;
      shown.push({ dataset: opened, known: view.known, name: own, path: at.slice(0, -1), found });
    }
  }

  /** What was named must be seen; what only lies beside it need not. */
  function leaveOut({ path, inside }: Found, error: unknown): void {
    if (!inside || !(error instanceof OctavoError)) throw error;
    output.remark(`${path} is left out: ${error.message}`);
  }

  async function withIndex(dataset: VectorDataset, at: string, inside: boolean): Promise<VectorDataset> {
    if ((await dataset.source(0, { signal })).scattered !== true) return dataset;
    if (inside) throw new Unsupported("it has no index of space; one is made of what is named itself");
    output.remark(`${dataset.url} has no index of space: one is made in ${at}`);
    await convert(dataset, at, { to: "zarr-vectors", signal, durability: "none", onProgress: report.update });
    report.end();
    return (await open(at, { signal })) as VectorDataset;
  }

  return {
    routes,
    async link(url, client) {
      const addressOf = (path: string) => `${url}/${path.split("/").map(encodeURIComponent).join("/")}`;
      const state = await neuroglancerState(
        shown.map((own) => ({ ...own, url: addressOf(own.path).replace(/\/$/, "") })),
        { signal, onRefused: ({ found }, error) => leaveOut(found, error) },
      );
      return stateUrl(state, client);
    },
  };
}
