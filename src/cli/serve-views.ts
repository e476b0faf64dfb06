/** What `octavo serve --neuroglancer` serves besides: the views of each dataset, and the address that shows them all. */
import { join } from "node:path";
import { neuroglancerState, type Shown, stateUrl } from "../format/precomputed/client/state.js";
import { precomputed } from "../format/precomputed/format.js";
import type { Dataset } from "../model/dataset.js";
import type { VectorDataset } from "../model/vectors.js";
import { convert, open } from "../node.js";
import { type Route, storeRoute, viewsOf } from "../server/index.js";
import { fileStore } from "../store/file.js";
import { Prefix } from "../store/key.js";
import type { Session } from "./verb.js";

/** A dataset that is served, and its place there. */
export interface ServedDataset {
  readonly name: string;
  readonly dataset: Dataset;
  /** Where its own files are served, after the server's address. */
  readonly path: string;
}

export interface Views {
  readonly routes: readonly Route[];
  /** The address that shows them, once it is known where the server listens. */
  link(url: string, client: string | undefined): Promise<string>;
}

/** Views of what Neuroglancer does not read by itself. `folder` is for what is kept: views, and indexes of files that have none. */
export async function viewRoutes(
  served: readonly ServedDataset[],
  folder: string,
  cacheBytes: number | undefined,
  { output, signal, report }: Session,
): Promise<Views> {
  const routes: Route[] = [];
  const shown: Omit<Shown, "url">[] = [];
  const paths: string[] = [];
  for (const [i, { name, dataset, path }] of served.entries()) {
    if (dataset.kind !== "vectors" || dataset.format === "precomputed") {
      shown.push({ dataset });
      paths.push(path);
      continue;
    }
    const indexed = await withIndex(dataset, join(folder, `index${i}.zv`));
    const cache = fileStore(join(folder, `views${i}`), { durability: "none" });
    const { views, notes } = await viewsOf(indexed, { signal, cache, cacheBytes });
    for (const note of notes) output.detail(note);
    for (const view of views) {
      const at = `neuroglancer/${name}/${view.name}/`;
      routes.push(storeRoute(at, view.store, { list: false }));
      const opened = await precomputed.open(view.store, Prefix.root, { signal });
      shown.push({ dataset: opened, known: view.known });
      paths.push(at.slice(0, -1));
    }
  }

  async function withIndex(dataset: VectorDataset, at: string): Promise<VectorDataset> {
    if ((await dataset.source(0, { signal })).scattered !== true) return dataset;
    output.remark(`${dataset.url} has no index of space: one is made in ${at}`);
    await convert(dataset, at, { to: "zarr-vectors", signal, durability: "none", onProgress: report.update });
    report.end();
    return (await open(at, { signal })) as VectorDataset;
  }

  return {
    routes,
    async link(url, client) {
      const encoded = paths.map((path) => `${url}/${path.split("/").map(encodeURIComponent).join("/")}`);
      const state = await neuroglancerState(
        shown.map((own, i) => ({ ...own, url: encoded[i]!.replace(/\/$/, "") })),
        { signal },
      );
      return stateUrl(state, client);
    },
  };
}
