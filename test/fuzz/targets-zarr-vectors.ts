/** Payloads of Zarr Vectors: vlen chunks, fragment indexes, manifests of every layout, links, groups, attributes. */
import { AttributeCell } from "../../src/format/zarr-vectors/payload/attribute-cell.js";
import { Blobs } from "../../src/format/zarr-vectors/payload/blobs.js";
import { CrossChunkLinks } from "../../src/format/zarr-vectors/payload/cross-chunk-links.js";
import { FragmentIndex } from "../../src/format/zarr-vectors/payload/fragment-index.js";
import { Groups } from "../../src/format/zarr-vectors/payload/groups.js";
import { Int64 } from "../../src/format/zarr-vectors/payload/int64.js";
import { LinkCell } from "../../src/format/zarr-vectors/payload/link-cells.js";
import { Manifests } from "../../src/format/zarr-vectors/payload/manifest.js";
import { Permutation } from "../../src/format/zarr-vectors/payload/permutation.js";
import { defaultLimits, type Limits } from "../../src/limits.js";
import { payloads } from "../zarr-vectors-payloads.js";
import type { Target } from "./driver.js";

// The 16 MiB that anything may decode to before its ratio counts.
const cap = 1 << 24;
const limits: Limits = { ...defaultLimits, metadataBytes: cap, chunkBytes: cap, resultBytes: cap };
const dims = 3;

const target = (
  name: string,
  path: RegExp,
  store: RegExp,
  run: (bytes: Uint8Array) => unknown,
  pack: (bytes: Uint8Array) => Uint8Array = (bytes) => bytes,
): Target => ({
  name,
  cap,
  async load() {
    const found = (await payloads(path, store)).map(({ bytes }) => bytes).filter(({ length }) => length > 0);
    const different = new Map(found.map((bytes) => [String(bytes), bytes]));
    return { seeds: [...different.values()].slice(0, 40).map(pack), run };
  },
});

/** Structures of two blobs: where the second one starts, the first, the second. */
const pack = (first: Uint8Array, second: Uint8Array) => Uint8Array.of(first.length, ...first, ...second);
const unpack = (bytes: Uint8Array): [Uint8Array, Uint8Array] => {
  const size = bytes[0] ?? 0;
  return [bytes.subarray(1, 1 + size), bytes.subarray(1 + size)];
};

export const zarrVectorsTargets: readonly Target[] = [
  target("zv-fragments", /_fragments$/, /^v0\.9\.2\/(manifest_modes|graph|points)/, (bytes) =>
    FragmentIndex.encode(FragmentIndex.parse(bytes, bytes.length % 2 === 0 ? 40 : undefined, limits, "it")),
  ),
  target("zv-group-offsets", /\/vertex_group_offsets$/, /^v0\.[45].*streamlines/, (bytes) => {
    const { index, links } = FragmentIndex.fromGroupOffsets(bytes, "paired", 12, 12 * 1000, "it");
    return [index, FragmentIndex.fromLinkOffsets(links!, 16, 0, "it")];
  }),
  target(
    "zv-manifests",
    /\/object_index\/manifests$/,
    /^v0\.9\.2\/(manifest_modes|lines|mesh)/,
    (bytes) => {
      const manifests = Manifests.parse(Blobs.parseChunk(bytes, 2, "it"), dims, limits, "it");
      return Manifests.encodeChunk(manifests, 0, 2);
    },
    (bytes) => Blobs.encodeChunk(Blobs.of([bytes, bytes])),
  ),
  target(
    "zv-manifests-legacy",
    /\/object_index\/manifests$/,
    /^v0\.9\.2\/(manifest_modes|lines|mesh)/,
    (bytes) => Manifests.fromLegacy(...reversed(unpack(bytes)), dims, limits, "it"),
    (bytes) => pack(Int64.encode([0, bytes.length]), Uint8Array.of(...bytes, ...bytes)),
  ),
  target(
    "zv-manifests-tuples",
    /\/object_index$/,
    /^v0\.[2345].*\/(streamlines|graph)/,
    (bytes) => Manifests.fromTuples(...reversed(unpack(bytes)), dims, limits, "it"),
    (bytes) => pack(Int64.encode([0, 0]), bytes.subarray(0, bytes.length & ~31)),
  ),
  target(
    "zv-manifests-dense",
    /\/object_index$/,
    /^v0\.[2345].*\/(streamlines|graph)/,
    (bytes) => Manifests.fromDense(...unpack(bytes), dims, limits, "it"),
    (bytes) => pack(Int64.encode([0, bytes.length >> 5, 0, 0]), bytes.subarray(0, bytes.length & ~31)),
  ),
  target("zv-links", /\/links\/0\/.*[1-9]/, /^v0\.9\.2\/(graph_2d|links_duplicate)/, (bytes) => {
    const { ends, perms } = LinkCell.parse(bytes, { width: 2, ragged: true, perm: true }, "it");
    Permutation.restore(ends, 2, perms!, "it");
  }),
  target("zv-links-flat", /\/links\/0\/[0._]*$/, /^v0\.9\.2\/(graph_2d|crs)/, (bytes) =>
    LinkCell.parse(bytes, { width: 2, ragged: false, perm: false }, "it"),
  ),
  target("zv-cross-chunk-links", /\/cross_chunk_links(\/0)?$/, /^v0\.[2-7].*\/(streamlines|graph)/, (bytes) =>
    CrossChunkLinks.encode(CrossChunkLinks.parse(bytes, 2, dims, "it")),
  ),
  target(
    "zv-groups",
    /\/groups$/,
    /^v0\.9/,
    (bytes) => Groups.parse(Blobs.parseChunk(bytes, 2, "it"), new Map([[1, { start: 1n, stop: 3n }]]), "it"),
    (bytes) => Blobs.encodeChunk(Blobs.of([bytes, new Uint8Array()])),
  ),
  target(
    "zv-attributes",
    /\/vertex_attributes\/[^/]+$/,
    /^v0\.9\.2\/points_categorical/,
    (bytes) => {
      const rows = (bytes[0] ?? 0) % 16;
      const at = bytes.subarray(1);
      const number = { name: "a", channels: 1, dtype: { kind: "int", size: 1, endian: "big" } } as const;
      AttributeCell.parse(at.subarray(0, rows), { ...number, categories: ["a", "b", "c"], absent: -1 }, rows, "it");
      const text = { name: "a", channels: 1, dtype: { kind: "utf32", size: 4, endian: "little" } } as const;
      return AttributeCell.parse(at.subarray(16), text, Math.floor((at.length - 16) / 4), "it");
    },
    (bytes) =>
      Uint8Array.of(bytes.length, ...Array.from({ length: 16 }, (_, i) => bytes[i % bytes.length]! % 3), 0x41, 0, 0, 0),
  ),
];

const reversed = <A, B>([a, b]: [A, B]): [B, A] => [b, a];
