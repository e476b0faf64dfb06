/**
 * Skeletons and annotations, both ways: what cloud-volume, tensorstore and Neuroglancer's Python write is read equal, also what
 * the released Python writer misplaces; what Octavo writes they read equal, for every kind, in shards and in files.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { NumericArray } from "../../src/codec/types.js";
import { ANNOTATION_TYPES, type AnnotationType } from "../../src/format/precomputed/annotation/info.js";
import type { Annotations } from "../../src/format/precomputed/annotation/list.js";
import { openAnnotations } from "../../src/format/precomputed/annotation/read.js";
import { createAnnotations } from "../../src/format/precomputed/annotation/write.js";
import { precomputed } from "../../src/format/precomputed/index.js";
import { formatSharding } from "../../src/format/precomputed/sharded/parse.js";
import type { Sharding } from "../../src/format/precomputed/sharded/types.js";
import type { SkeletonAttribute } from "../../src/format/precomputed/skeleton/info.js";
import { openSkeletons } from "../../src/format/precomputed/skeleton/read.js";
import { Skeleton } from "../../src/format/precomputed/skeleton/skeleton.js";
import { createSkeletons } from "../../src/format/precomputed/skeleton/write.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("precomputed");
const folder = mkdtempSync(join(tmpdir(), "octavo-vectors-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const IDS = [0n, 7n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];

interface Record_ {
  readonly id: string;
  readonly points: number[];
  readonly properties: { readonly [id: string]: number | number[] };
  readonly related: { readonly [id: string]: string[] };
}
interface Written {
  readonly skeletons: { readonly [store: string]: { readonly [id: string]: { readonly [column: string]: number[] } } };
  readonly annotations: { readonly [store: string]: readonly Record_[] };
}

describe.skipIf(reason !== undefined)(`what the peers write${reason === undefined ? "" : `: ${reason}`}`, () => {
  let told: Written;
  beforeAll(() => {
    told = JSON.parse(runPeer("precomputed", "pc_vectors.py", "write", join(folder, "theirs"))) as Written;
  }, 120_000);

  it.each(["cv", "ts"])("skeletons of %s", async (name) => {
    const skeletons = await openSkeletons(fileStore(join(folder, "theirs", `skeletons_${name}`, "skeletons")));
    let count = 0;
    for (const [id, one] of Object.entries(told.skeletons[name]!)) {
      const read = (await skeletons.get(BigInt(id)))!;
      expect([...read.vertices]).toEqual(one.vertices);
      expect([...read.edges]).toEqual(one.edges);
      expect([...read.attributes.get("radius")!]).toEqual(one.radius);
      expect([...read.attributes.get("kind")!]).toEqual(one.kind);
      count++;
    }
    expect(count).toBe(5);
  });

  it.each(ANNOTATION_TYPES.flatMap((type) => [type, `${type}_flawed`]))("annotations: %s", async (name) => {
    const store = fileStore(join(folder, "theirs", name));
    const collection = await openAnnotations(store);
    const check = async (): Promise<void> => {
      const now = await openAnnotations(store);
      for (const { id, points, properties, related } of told.annotations[name]!) {
        const one = (await now.get(BigInt(id)))!;
        expect([...one.points]).toEqual(points);
        for (const [own, value] of Object.entries(properties))
          expect([...one.properties.get(own)!]).toEqual([value].flat());
        for (const [own, ids] of Object.entries(related))
          expect([...one.related!.get(own)!.ids].map(String)).toEqual(ids);
      }
    };
    await check();
    expect(collection.flawed).toBe(name.endsWith("_flawed"));
    if (!collection.flawed) return;
    const report = await precomputed.repair!(store, Prefix.root);
    expect(report.fixed.map(({ rule }) => rule)).toContain("precomputed/alignment");
    await check();
    expect((await openAnnotations(store)).flawed).toBe(false);
  });
});

const attributes: readonly SkeletonAttribute[] = [
  { id: "radius", type: "float32", components: 1 },
  { id: "kind", type: "uint8", components: 1 },
  { id: "way", type: "int16", components: 3 },
];
const SHARDINGS: readonly (Sharding | null)[] = [
  null,
  { hash: "murmur3", preshiftBits: 0, minishardBits: 2, shardBits: 1, indexEncoding: "gzip", dataEncoding: "gzip" },
  { hash: "identity", preshiftBits: 1, minishardBits: 0, shardBits: 3, indexEncoding: "raw", dataEncoding: "raw" },
];

const skeletonOf = (number: number): Skeleton => {
  const count = 1 + 3 * number;
  const column = <T extends NumericArray>(make: (length: number) => T, components: number): T => {
    const out = make(count * components);
    for (let i = 0; i < out.length; i++) out[i] = (i * 7 + number) % 100;
    return out;
  };
  return {
    vertices: Float32Array.from({ length: 3 * count }, (_, i) => i / 4 - number),
    edges: Uint32Array.from({ length: 2 * (count - 1) }, (_, i) => (i >> 1) + (i & 1)),
    attributes: new Map<string, NumericArray>([
      ["radius", column((length) => new Float32Array(length), 1)],
      ["kind", column((length) => new Uint8Array(length), 1)],
      ["way", column((length) => new Int16Array(length), 3)],
    ]),
  };
};

/** A volume around the skeletons, as cloud-volume wants one. */
const VOLUME = {
  data_type: "uint64",
  num_channels: 1,
  scales: [
    {
      chunk_sizes: [[64, 64, 64]],
      encoding: "raw",
      key: "4_4_40",
      resolution: [4, 4, 40],
      size: [64, 64, 64],
      voxel_offset: [0, 0, 0],
    },
  ],
  skeletons: "skeletons",
  type: "segmentation",
};

const TYPES = ["uint8", "float32", "rgb", "int16", "rgba", "int8", "uint16", "int32"] as const;

function annotationsOf(type: AnnotationType): Annotations {
  const per = type === "point" ? 1 : type === "polyline" ? 4 : 2;
  const count = IDS.length;
  const make = (length: number): number[] => Array.from({ length }, (_, i) => (i * 37 + length) % 120);
  return {
    ids: BigUint64Array.from(IDS),
    offsets: Uint32Array.from({ length: count + 1 }, (_, i) => i * per),
    points: Float32Array.from({ length: 3 * per * count }, (_, i) => 1 + ((i * 7919) % 997) / 4),
    properties: new Map<string, NumericArray>([
      ["p_uint8", Uint8Array.from(make(count))],
      ["p_float32", Float32Array.from(make(count), (value) => value / 8)],
      ["p_rgb", Uint8Array.from(make(3 * count))],
      ["p_int16", Int16Array.from(make(count), (value) => -value)],
      ["p_rgba", Uint8Array.from(make(4 * count))],
      ["p_int8", Int8Array.from(make(count), (value) => value - 60)],
      ["p_uint16", Uint16Array.from(make(count), (value) => value * 500)],
      ["p_int32", Int32Array.from(make(count), (value) => value * -1_000_003)],
    ]),
    related: new Map([
      ["seg", { offsets: Uint32Array.of(0, 1, 2, 2, 4, 5), ids: BigUint64Array.of(5n, 2n ** 64n - 1n, 5n, 6n, 5n) }],
    ]),
  };
}

interface AnnotationsRead {
  readonly neuroglancer: {
    readonly byId: { readonly [id: string]: Omit<Record_, "related" | "id"> & { readonly related: string[][] } };
    readonly related: { readonly [name: string]: string[] };
    readonly cells: readonly (readonly (readonly [number[], string[]])[])[];
  };
  readonly "cloud-volume"?: { readonly [id: string]: { points: number[]; properties: { [id: string]: number[] } } };
}

const FORMS = SHARDINGS.map((form, i) => [form === null ? "in files" : `sharded, ${form.hash}`, form, i] as const);
const KINDS = ANNOTATION_TYPES.flatMap((type) => [[type, true] as const, [type, false] as const]);

async function writeSkeletons(form: Sharding | null, root: string): Promise<object> {
  const writer = await createSkeletons(fileStore(root), Prefix.of("skeletons"), { attributes, sharding: form });
  for (const [i, id] of IDS.entries()) await writer.put(id, skeletonOf(i));
  await writer.commit();
  writeFileSync(join(root, "info"), JSON.stringify(VOLUME));
  const names = attributes.map(({ id }) => id);
  return {
    kind: "skeletons",
    folder: root,
    ids: IDS.map(String),
    attributes: names,
    sharding: form && formatSharding(form),
  };
}

async function writeAnnotations(type: AnnotationType, sharded: boolean, root: string): Promise<object> {
  const description = {
    type,
    dimensions: ["x", "y", "z"].map((name) => ({ name, scale: 4e-9, unit: "m" })),
    properties: TYPES.map((own) => ({ id: `p_${own}`, type: own })),
    relationships: ["seg", "none"],
  };
  const writer = await createAnnotations(fileStore(root), Prefix.root, description, { limit: 2, sharded });
  await writer.add(annotationsOf(type));
  await writer.commit();
  const related = ["5", "6"].map((object) => ["seg", object]);
  return { kind: "annotations", type, folder: root, ids: IDS.map(String), related };
}

describe.skipIf(reason !== undefined)("what Octavo writes", () => {
  const read = new Map<string, never>();
  beforeAll(async () => {
    const jobs: object[] = [];
    for (const [, form, number] of FORMS) jobs.push(await writeSkeletons(form, join(folder, `skeletons_${number}`)));
    for (const [type, sharded] of KINDS)
      jobs.push(await writeAnnotations(type, sharded, join(folder, `${type}_${sharded}`)));
    const file = join(folder, "jobs.json");
    writeFileSync(file, JSON.stringify(jobs));
    const answers = JSON.parse(runPeer("precomputed", "pc_vectors.py", "read", file)) as never[];
    for (const [i, job] of jobs.entries()) read.set((job as { folder: string }).folder, answers[i]!);
  }, 300_000);

  it.each(FORMS)("skeletons, %s", (_, form, number) => {
    const theirs: {
      readonly "cloud-volume": { readonly [id: string]: { readonly [column: string]: number[] } };
      readonly tensorstore?: { readonly [id: string]: string };
    } = read.get(join(folder, `skeletons_${number}`))!;
    for (const [i, id] of IDS.entries()) {
      const own = skeletonOf(i);
      const one = theirs["cloud-volume"][`${id}`]!;
      expect(one.vertices).toEqual([...own.vertices]);
      expect(one.edges).toEqual([...own.edges]);
      for (const [name, values] of own.attributes) expect(one[name], name).toEqual([...values]);
      if (form !== null)
        expect(theirs.tensorstore![`${id}`]).toBe(Buffer.from(Skeleton.encode(own, attributes)).toString("hex"));
    }
  });

  it.each(KINDS)("%s annotations, sharded %s", (type, sharded) => {
    const all = annotationsOf(type);
    const theirs: AnnotationsRead = read.get(join(folder, `${type}_${sharded}`))!;
    const { byId, related, cells } = theirs.neuroglancer;
    for (const [i, id] of IDS.entries()) {
      const points = [...all.points.subarray(3 * all.offsets[i]!, 3 * all.offsets[i + 1]!)];
      const value = (name: string): number[] => {
        const values = [...(all.properties.get(name) as Uint8Array)];
        const channels = values.length / IDS.length;
        return values.slice(i * channels, (i + 1) * channels);
      };
      const one = byId[`${id}`]!;
      expect(one.points).toEqual(points);
      for (const [name, found] of Object.entries(one.properties)) expect([found].flat()).toEqual(value(name));
      const { offsets, ids } = all.related!.get("seg")!;
      expect(one.related[0]).toEqual([...ids.slice(offsets[i], offsets[i + 1])].map(String));
      const other = theirs["cloud-volume"]?.[`${id}`];
      if (other === undefined) continue;
      expect(other.points).toEqual(points);
      for (const [name, found] of Object.entries(other.properties)) expect(found, name).toEqual(value(name));
    }
    const sorted = (ids: readonly bigint[]): string[] => ids.map(String).sort();
    expect(related).toEqual({ "seg 5": sorted([IDS[0]!, IDS[3]!, IDS[4]!]), "seg 6": sorted([IDS[3]!]) });
    const levels = cells.map((level) => new Set(level.flatMap(([, ids]) => ids)));
    expect(levels.flatMap((ids) => [...ids]).sort()).toEqual(sorted(IDS));
    expect(theirs["cloud-volume"] === undefined).toBe(type !== "point"); // it reads points only
  });
});
