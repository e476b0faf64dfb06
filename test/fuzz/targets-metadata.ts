/** Documents: JSON, the metadata of every Zarr version, pickles, .npy, the XML of S3. */
import { parseJson, stringifyJson } from "../../src/bytes/json.js";
import { decodeUtf8 } from "../../src/bytes/text.js";
import { readNpy } from "../../src/format/interchange/npy.js";
import { parseV2Array, parseV2Consolidated, parseV2Group, parseV3 } from "../../src/format/zarr/parse.js";
import { parseV0, parseV1 } from "../../src/format/zarr/parse-v0.js";
import { defaultLimits, type Limits } from "../../src/limits.js";
import { Xml } from "../../src/store/s3-xml.js";
import type { Target } from "./driver.js";
import { mutateJson } from "./mutate-json.js";
import { files } from "./seeds.js";

const cap = 1 << 20;
const limits: Limits = { ...defaultLimits, metadataBytes: cap, chunkBytes: cap, resultBytes: cap };

type Run = (bytes: Uint8Array) => unknown;

const target = (name: string, seeds: () => Uint8Array[], run: Run): Target => ({
  name,
  cap,
  load: async () => ({ seeds: seeds(), run }),
});

const document = (name: string, path: RegExp, run: Run): Target => ({
  name,
  cap,
  load: async () => ({ seeds: files("zarr", path), run, mutate: mutateJson }),
});

const listing = `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>b</Name><IsTruncated>true</IsTruncated>
<NextContinuationToken>1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken>
<Contents><Key>a&amp;b/&#x41;</Key><ETag>&quot;e&quot;</ETag><Size>17</Size></Contents><CommonPrefixes><Prefix>c/</Prefix></CommonPrefixes></ListBucketResult>`;

export const metadataTargets: readonly Target[] = [
  document("json", /zarr\.json$|\.zarray$|^v0\/.*__zmeta__$|^expected\/[^/]*\.json$/, (bytes) =>
    stringifyJson(parseJson(bytes, limits, "it", { tokens: true }), { tokens: true }),
  ),
  document("zarr-v0", /^v0\/.*__zmeta__$/, (bytes) => parseV0(bytes, undefined, limits, "it")),
  document("zarr-v1", /^v1\/.*\/meta$/, (bytes) => parseV1(bytes, undefined, limits, "it")),
  document("zarr-v2-array", /^v2\/.*\.zarray$/, (bytes) => parseV2Array(bytes, undefined, limits, "it")),
  document("zarr-v2-group", /^v2\/.*\.zgroup$/, (bytes) => parseV2Group(bytes, undefined, limits, "it")),
  document("zarr-v2-consolidated", /^v2\/.*\.zmetadata$/, (bytes) => parseV2Consolidated(bytes, limits, "it")),
  document("zarr-v3", /^v3\/.*zarr\.json$/, (bytes) => parseV3(bytes, limits, "it")),
  target(
    "pickle",
    () => files("zarr", /^v0_pickle\/.*__zmeta__$/),
    (bytes) => parseV0(bytes, undefined, limits, "it"),
  ),
  target(
    "npy",
    () => files("zarr", /^expected\/npy\/.*\.npy$/),
    (bytes) => readNpy(bytes, limits, "it"),
  ),
  target(
    "s3-xml",
    () => [new TextEncoder().encode(listing)],
    (bytes) => Xml.parse(decodeUtf8(bytes, "it"), "it"),
  ),
];
