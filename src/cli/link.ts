/** `octavo link`: a Neuroglancer state URL for published data. */
import { DEMO } from "../format/precomputed/client/serving.js";
import { neuroglancerState, type Shown, stateUrl } from "../format/precomputed/client/state.js";
import { id, list, text } from "./args.js";
import { findSource, sourceOptions } from "./source.js";
import { verb } from "./verb.js";

/** Which client is to show data; said by all verbs that know one. */
export const client = text("URL", `the client of Neuroglancer (default ${DEMO})`);

export const link = verb({
  about:
    "A layer for each dataset: volumes, skeletons, meshes, annotations, Zarr arrays; segment properties go to the layers of " +
    "segments, and annotations are linked to the only one that there is. Objects are shown where there are at most 100. What is on " +
    "no web server cannot be shown: octavo validate --for neuroglancer says what else would keep it from being seen.",
  options: {
    ...sourceOptions,
    json: { ...sourceOptions.json, help: "print the state itself, as JSON" },
    client,
    object: list("ID,…", "show these objects", id),
  },
  examples: [
    ["octavo link https://host/skeletons", "a state URL, to be opened in a browser"],
    ["octavo link https://host/labels https://host/synapses", "two layers, linked to each other"],
    ["octavo link gs://bucket/mesh --object 42,43 --json", "the state, for a program"],
  ],
  async run(urls, options, session) {
    const { output, signal } = session;
    const shown: Shown[] = [];
    for (const url of urls) {
      const { match } = await findSource(url, options, session);
      shown.push({ url, dataset: await match.open() });
    }
    const state = await neuroglancerState(shown, { objects: options.object, signal });
    if (output.json) output.document(state);
    else output.line(stateUrl(state, options.client));
    for (const { name, type, segments } of state.layers)
      if (type === "segmentation" && segments === undefined)
        output.remark(`note: ${name} shows no objects until some are chosen, there or with --object`);
    return 0;
  },
});
