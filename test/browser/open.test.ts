/** The browser entry in a real browser: golden arrays over HTTP, every byte compared. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { fixtures } from "../fixtures.js";
import { findChromium } from "./chromium.js";
import { runPage } from "./harness.js";

/** One of each codec that a browser must bring itself, of each version, and of each way to lay out chunks. */
export const ARRAYS = [
  "v3/gzip",
  "v3/gzip_crc32c",
  "v3/zstd",
  "v3/blosc_lz4hc",
  "v3/sharded_zstd",
  "v3/sharded_index_start",
  "v3/transpose",
  "v2/blosc_zstd_1",
  "v2/blosc_lz4_2",
  "v2/zlib_F_order",
  "v2/lz4",
  "v0/cname_snappy_shuffle1",
];

const octavo = fileURLToPath(new URL("../../src/index.ts", import.meta.url));
const chromium = findChromium();

test.skipIf(chromium === undefined && process.env.CI !== "true")(
  "a page reads golden arrays over HTTP (needs Chromium on the PATH or in CHROMIUM)",
  async () => {
    if (chromium === undefined) throw new Error("CI needs Chromium on the PATH or in CHROMIUM");
    const data = fixtures("zarr");
    const { outcomes, statuses, complaints } = await runPage(chromium, octavo, data, ARRAYS);
    const expected = ARRAYS.map((path) => {
      const file = join(data, "expected", `${path.replace("/", "__")}.json`);
      const { shape, sha256_c_order: sha256 } = JSON.parse(readFileSync(file, "utf8"));
      return { path, shape, sha256 };
    });
    expect(complaints).toEqual([]);
    expect(outcomes).toEqual(expected);
    expect(statuses).toContain(206); // shards are read in parts
  },
  120_000,
);
