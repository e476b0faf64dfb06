/** Precomputed skeletons, meshes, annotations and segment properties: their values, and their info. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { loadDraco } from "../../src/codec/draco.js";
import { AnnotationInfo } from "../../src/format/precomputed/annotation/info.js";
import { Layout } from "../../src/format/precomputed/annotation/layout.js";
import { parseList, parseOne, type RecordForm } from "../../src/format/precomputed/annotation/list.js";
import { boxOf, decodeFragments, placeFragments } from "../../src/format/precomputed/mesh/fragment.js";
import { MeshInfo } from "../../src/format/precomputed/mesh/info.js";
import { LegacyFragment, LegacyManifest } from "../../src/format/precomputed/mesh/legacy.js";
import { Manifest } from "../../src/format/precomputed/mesh/manifest.js";
import { SegmentProperties } from "../../src/format/precomputed/properties/properties.js";
import { SkeletonInfo } from "../../src/format/precomputed/skeleton/info.js";
import { Skeleton } from "../../src/format/precomputed/skeleton/skeleton.js";
import { readDocument } from "../../src/format/zarr/document.js";
import { defaultLimits, type Limits } from "../../src/limits.js";
import { fixtures } from "../fixtures.js";
import type { Decoder, Target } from "./driver.js";
import { mutateJson } from "./mutate-json.js";
import { files } from "./seeds.js";

const cap = 1 << 20;
const limits: Limits = { ...defaultLimits, metadataBytes: cap, chunkBytes: cap, resultBytes: cap };
const target = (name: string, load: () => Decoder | Promise<Decoder>): Target => ({
  name,
  cap,
  load: async () => load(),
});
const fileOf = (path: string) => new Uint8Array(readFileSync(join(fixtures("precomputed"), path)));
const documentOf = (path: string) => JSON.parse(new TextDecoder().decode(fileOf(`${path}/info`)));

const formOf = (path: string): RecordForm => {
  const info = AnnotationInfo.parse(documentOf(path), path);
  return { info, layout: Layout.of(info.properties) };
};

const table = {
  "@type": "neuroglancer_segment_properties",
  inline: {
    ids: ["1", "9007199254740993", "18446744073709551615"],
    properties: [
      { id: "name", type: "label", values: ["a", "b", "c"] },
      { id: "about", type: "description", description: "x", values: ["", "", ""] },
      { id: "kinds", type: "tags", tags: ["t", "u"], tag_descriptions: ["", "d"], values: [[], [0], [0, 1]] },
      { id: "size", type: "number", data_type: "int16", values: [0, -1, 32767] },
      { id: "part", type: "number", data_type: "float32", values: [0.5, 1e30, -0] },
    ],
  },
};

export const precomputedVectorTargets: readonly Target[] = [
  target("pc-skeleton", () => {
    const { attributes } = SkeletonInfo.parse(documentOf("skeletons/unsharded/skeletons"), "it");
    const seeds = files("precomputed", /^skeletons\/unsharded\/skeletons\/\d+$/);
    return { seeds, run: (bytes) => Skeleton.parse(bytes, attributes, "it") };
  }),
  target("pc-mesh-manifest", () => ({
    seeds: files("precomputed", /^meshes\/.*\.index$/),
    run(bytes) {
      const manifest = Manifest.parse(bytes, "it");
      const boxes = manifest.lods.map((lod, i) => [
        Manifest.disorder(lod),
        Manifest.range(manifest, i),
        boxOf(manifest, i),
      ]);
      return [boxes, Manifest.encode(manifest)];
    },
  })),
  target("pc-mesh-lod", async () => {
    const folder = "meshes/multires_unsharded_q10/mesh";
    const info = MeshInfo.parse(documentOf(folder), folder);
    if (info.kind !== "multi") throw new Error(`${folder} has one resolution`);
    const draco = await loadDraco();
    const manifest = Manifest.parse(fileOf(`${folder}/77.index`), "it");
    const run = (bytes: Uint8Array) =>
      placeFragments(decodeFragments(manifest, 0, bytes, 10, draco, limits, "it"), manifest, 0, info);
    return { seeds: [fileOf(`${folder}/77`)], run };
  }),
  target("pc-mesh-legacy", () => ({
    seeds: [
      LegacyFragment.encode({
        positions: Float32Array.from({ length: 30 }, (_, i) => i / 4),
        faces: Uint32Array.from({ length: 24 }, (_, i) => (7 * i) % 10),
      }),
    ],
    run: (bytes) => LegacyFragment.parse(bytes, "it"),
  })),
  target("pc-mesh-legacy-manifest", () => ({
    seeds: [LegacyManifest.encode(["5:0:0-64_0-64_0-64", "5:0:64-96_0-64_0-64"])],
    run: (bytes) => LegacyManifest.encode(LegacyManifest.parse(bytes, limits, "it")),
    mutate: mutateJson,
  })),
  target("pc-mesh-info", () => ({
    seeds: files("precomputed", /^meshes\/[^/]*\/mesh\/info$/),
    run: (bytes) => MeshInfo.format(MeshInfo.parse(readDocument(bytes, limits, "it"), "it")),
    mutate: mutateJson,
  })),
  ...["point", "polyline"].map((type) =>
    target(`pc-annotation-list-${type}`, () => {
      const form = formOf(`annotations/${type}_unsharded`);
      const seeds = files("precomputed", new RegExp(`^annotations/${type}_unsharded/(rel_seg|spatial0)/`));
      return { seeds, run: (bytes) => parseList(bytes, form, "it") };
    }),
  ),
  target("pc-annotation", () => {
    const form = formOf("annotations/polyline_unsharded");
    const seeds = files("precomputed", /^annotations\/polyline_unsharded\/by_id\//);
    return { seeds, run: (bytes) => parseOne(bytes, 1n, form, "it") };
  }),
  target("pc-annotation-info", () => ({
    seeds: files("precomputed", /^annotations\/[^/]*\/info$/),
    run(bytes) {
      const info = AnnotationInfo.parse(readDocument(bytes, limits, "it"), "it");
      return [info, Layout.of(info.properties), AnnotationInfo.format(info)];
    },
    mutate: mutateJson,
  })),
  target("pc-skeleton-info", () => ({
    seeds: files("precomputed", /^skeletons\/[^/]*\/skeletons\/info$/),
    run: (bytes) => SkeletonInfo.format(SkeletonInfo.parse(readDocument(bytes, limits, "it"), "it")),
    mutate: mutateJson,
  })),
  target("pc-segment-properties", () => ({
    seeds: [new TextEncoder().encode(JSON.stringify(table))],
    run: (bytes) => SegmentProperties.parse(readDocument(bytes, limits, "it"), "it"),
    mutate: mutateJson,
  })),
];
