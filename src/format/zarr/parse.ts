/**
 * Metadata documents of every Zarr version into one description (types.ts). Pure: bytes in, value out.
 *
 * | version | array                  | attributes  | group     | everything below at once          |
 * |---------|------------------------|-------------|-----------|-----------------------------------|
 * | 3       | `zarr.json`            | inside      | zarr.json | inside, `consolidated_metadata`   |
 * | 2       | `.zarray`              | `.zattrs`   | `.zgroup` | `.zmetadata`                      |
 * | 1       | `meta`, zarr_format 1  | `attrs`     | —         | —                                 |
 * | 0       | `__zmeta__`            | `__zattr__` | —         | —                                 |
 *
 * Version 2 is in parse-v2.ts, the older two in parse-v0.ts, which are loaded where one is met.
 *
 * `where` names the document in error messages, by its key or URL.
 */
export { parseV2Array, parseV2Consolidated, parseV2Group } from "./parse-v2.js";
export { parseV3 } from "./parse-v3.js";
