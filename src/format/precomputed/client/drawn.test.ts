import { expect, it } from "vitest";
import { encodeUtf8 } from "../../../bytes/text.js";
import type { Finding } from "../../../model/format.js";
import { Key, Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { readInfo } from "../info.js";
import { createMeshes } from "../mesh/write.js";
import { createSkeletons } from "../skeleton/write.js";
import { forNeuroglancer } from "./check.js";
import { checkDrawn, rangedFile } from "./drawn.js";

async function found(info: object, files: { readonly [key: string]: string } = {}): Promise<Finding[]> {
  const store = memoryStore();
  const put = (key: string, text: string) => store.set(Key.of(key), encodeUtf8(text, key));
  for (const [key, text] of Object.entries({ info: JSON.stringify(info), ...files })) await put(key, text);
  const all: Finding[] = [];
  for await (const one of checkDrawn((await readInfo(store, Prefix.root))!)) all.push(one);
  return all;
}

const rules = (findings: readonly Finding[]): string[] => findings.map(({ severity, rule }) => `${severity} ${rule}`);

it("attributes that no shader can have", async () => {
  const attribute = { data_type: "float32", num_components: 1 };
  const info = {
    "@type": "neuroglancer_skeletons",
    vertex_attributes: [
      { id: "fine", ...attribute },
      { id: "not fine", ...attribute },
      { id: "five", ...attribute, num_components: 5 },
    ],
  };
  const findings = await found(info);
  expect(rules(findings)).toEqual(["error neuroglancer/attribute", "error neuroglancer/attribute"]);
  expect(findings.map(({ message }) => message)).toEqual([
    'the attribute "not fine" is not a name that a shader can have',
    "the attribute five has 5 numbers, and a shader takes up to 4",
  ]);
  expect(findings.every(({ fix }) => fix !== undefined)).toBe(true);
});

it("an object 0, of skeletons and of meshes, sharded or not", async () => {
  const sharding = {
    hash: "identity",
    preshiftBits: 0,
    minishardBits: 0,
    shardBits: 0,
    indexEncoding: "raw",
    dataEncoding: "raw",
  } as const;
  for (const form of [null, sharding]) {
    const store = memoryStore();
    const skeletons = await createSkeletons(store, Prefix.of("s"), { sharding: form });
    await skeletons.put(0n, { vertices: new Float32Array(3), edges: new Uint32Array(), attributes: new Map() });
    await skeletons.commit();
    const meshes = await createMeshes(store, Prefix.of("m"), { sharding: form });
    await meshes.put(0n, { positions: Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0), faces: Uint32Array.of(0, 1, 2) });
    await meshes.commit();
    for (const folder of ["s", "m"]) {
      const place = (await readInfo(store, Prefix.of(folder)))!;
      const all: Finding[] = [];
      for await (const one of checkDrawn(place)) all.push(one);
      expect(rules(all)).toEqual(["warning neuroglancer/id-zero"]);
      const ranged = form === null ? undefined : "0.shard";
      expect(await rangedFile(place)).toEqual({ ranged, needsRanges: form !== null || folder === "m" });
    }
  }
});

it("encodings of volumes, and what an info names", async () => {
  const info = {
    type: "segmentation",
    scales: [{ encoding: "crackle" }, { encoding: "Raw" }],
    mesh: "mesh",
    skeletons: "skel",
    segment_properties: "props",
  };
  const files = { "skel/info": '{"@type": "neuroglancer_segment_properties"}' };
  const findings = await found(info, files);
  expect(rules(findings)).toEqual([
    "error neuroglancer/codec",
    "info neuroglancer/linked", // a folder of meshes needs no info
    "error neuroglancer/linked",
    "error neuroglancer/linked",
  ]);
});

it("what the format warns of is an error to whoever wants to see it", () => {
  const finding = { severity: "warning", rule: "precomputed/undrawn", where: "x", message: "x" } as const;
  expect(forNeuroglancer(finding).severity).toBe("error");
  expect(forNeuroglancer({ ...finding, rule: "precomputed/portable" }).severity).toBe("warning");
});
