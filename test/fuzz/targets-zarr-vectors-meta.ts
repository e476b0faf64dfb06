/** The documents of Zarr Vectors: roots and levels of every version. */

import { isJsonObject, type JsonObject } from "../../src/bytes/json.js";
import { readDocument } from "../../src/format/zarr/document.js";
import { parseLevel } from "../../src/format/zarr-vectors/nodes/parse-level.js";
import { parseRoot } from "../../src/format/zarr-vectors/nodes/parse-root.js";
import { defaultLimits, type Limits } from "../../src/limits.js";
import type { Target } from "./driver.js";
import { mutateJson } from "./mutate-json.js";
import { files } from "./seeds.js";

const cap = 1 << 20;
const limits: Limits = { ...defaultLimits, metadataBytes: cap, chunkBytes: cap, resultBytes: cap };

/** From 0.4 the attributes are a part of the document, before that they are all of it. */
const attributesOf = (bytes: Uint8Array): JsonObject => {
  const document = readDocument(bytes, limits, "it");
  return isJsonObject(document.attributes) ? document.attributes : document;
};

const root = parseRoot(
  {
    zarr_vectors: {
      zv_version: "0.9.2",
      chunk_shape: [50, 50, 50],
      bounds: [
        [0, 0, 0],
        [1, 1, 1],
      ],
      geometry_types: [],
    },
    multiscales: [{ axes: [{ name: "x" }, { name: "y" }, { name: "z" }], datasets: [] }],
  },
  "it",
);

export const zarrVectorsMetaTargets: readonly Target[] = [
  {
    name: "zarr-vectors-root",
    cap,
    load: async () => ({
      seeds: files("zarr-vectors", /^v[^/]*\/[^/]*_3d[^/]*\/store\.zarrvectors\/(zarr\.json|\.zattrs)$/),
      run: (bytes) => parseRoot(attributesOf(bytes), "it"),
      mutate: mutateJson,
    }),
  },
  {
    name: "zarr-vectors-level",
    cap,
    load: async () => ({
      seeds: files(
        "zarr-vectors",
        /^v[^/]*\/(mesh_3d|points_by_attribute|pyramid_points)\/store\.zarrvectors\/[^/]*\d\/(zarr\.json|\.zattrs)$/,
      ),
      run: (bytes) => parseLevel(attributesOf(bytes), 0, "0", root, "it"),
      mutate: mutateJson,
    }),
  },
];
