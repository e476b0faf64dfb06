/** Every payload of the golden stores: decoded equal to what the reference said, and written again byte for byte. */
import { expect, test } from "vitest";
import { attributesOf, expected, type Payload, payloads } from "../../../../test/zarr-vectors-payloads.js";
import { defaultLimits } from "../../../limits.js";
import { Blobs } from "./blobs.js";
import { CrossChunkLinks } from "./cross-chunk-links.js";
import { FragmentIndex, LIST } from "./fragment-index.js";
import { Groups } from "./groups.js";
import { LinkCell } from "./link-cells.js";
import { LinkOffsets } from "./link-offsets.js";
import { Manifests } from "./manifest.js";
import { Permutation } from "./permutation.js";

const levelOf = ({ store, path }: Payload) =>
  expected(store).dump.levels[path.split("/")[0]!.replace("resolution_", "")];
const atOf = ({ store, path, key }: Payload): string => `${store} ${path} ${key}`;
const levelPath = (path: string): string => path.split("/")[0]!;

/** By store and array: `data` and `offsets` of one structure. */
function pairs(list: readonly Payload[]): { at: Payload; data: Uint8Array; offsets: Uint8Array }[] {
  const found = new Map(list.map((payload) => [`${payload.store} ${payload.path} ${payload.key}`, payload]));
  return list
    .filter(({ key }) => key === "offsets")
    .map((at) => ({ at, offsets: at.bytes, data: found.get(`${at.store} ${at.path} data`)!.bytes }));
}

test("fragment indexes say what the reference read, and come out the same", async () => {
  const vertices = new Map<string, number>();
  for (const { store, path, key, attributes, bytes } of await payloads(/^\d+\/vertices$/, /^v0\.[679]/)) {
    const axes = expected(store).dump.axes.length;
    const size = { float32: 4, float64: 8, float16: 2 }[String(attributes.dtype ?? "float32")]!;
    if (attributes.encoding !== "draco") vertices.set(`${store} ${levelPath(path)} ${key}`, bytes.length / axes / size);
  }
  const cells = await payloads(/^\d+\/(vertex|link)_fragments$/, /^v0\.[679]/);
  let [ranges, lists] = [0, 0];
  for (const cell of cells) {
    if (cell.bytes.length === 0 || cell.key.startsWith("__shard")) continue;
    const rows = cell.path.endsWith("vertex_fragments")
      ? vertices.get(`${cell.store} ${levelPath(cell.path)} ${cell.key}`)
      : undefined;
    const index = FragmentIndex.parse(cell.bytes, rows, defaultLimits, atOf(cell));
    expect(FragmentIndex.encode(index), atOf(cell)).toEqual(cell.bytes);
    const said = levelOf(cell)?.chunks?.[cell.key]?.[cell.path.split("/")[1]!];
    if (said === undefined) continue;
    const found = Array.from({ length: index.count }, (_, f) => {
      const [from, end] = [index.offsets[f]!, index.offsets[f + 1]!];
      const start = index.starts === undefined ? from : index.starts[f]!;
      if (start !== LIST) return { range: [start, end - from] };
      lists++;
      return { explicit: [...index.rows!.subarray(from, end)] };
    });
    ranges += found.length;
    expect(found, atOf(cell)).toEqual(said);
  }
  expect([cells.length > 1000, ranges > 5000, lists]).toEqual([true, true, 3]);
});

test("manifests of every version say what the reference read, and come out the same", async () => {
  const said = (manifests: Manifests) =>
    Array.from({ length: manifests.rows }, (_, row) => {
      const list: [number[], number][] = [];
      for (let b = manifests.offsets[row]!; b < manifests.offsets[row + 1]!; b++) {
        const chunk = [...manifests.chunks.subarray(b * manifests.dims, (b + 1) * manifests.dims)];
        for (let i = 0; i < manifests.count[b]!; i++) list.push([chunk, manifests.first[b]! + i]);
      }
      return list;
    });
  let count = 0;
  const elements = new Map<string, Payload[]>();
  for (const element of await payloads(/^\d+\/object_index\/manifests$/)) {
    const key = `${element.store} ${element.path}`;
    elements.set(key, [...(elements.get(key) ?? []), element]);
  }
  for (const list of elements.values()) {
    const at = list[0]!;
    const dims = attributesOf(at.store, at.path.replace("/manifests", "")).sid_ndim as number;
    const blobs = Blobs.of(list.map(({ bytes }) => bytes));
    const manifests = Manifests.parse(blobs, dims, defaultLimits, atOf(at));
    for (const [row, { bytes }] of list.entries()) expect(Manifests.encodeRow(manifests, row)).toEqual(bytes);
    expect(Manifests.encodeChunk(manifests, 0, list.length, list.length + 2)).toEqual(
      Blobs.encodeChunk(blobs, 0, list.length, list.length + 2),
    );
    expect(said(manifests), atOf(at)).toEqual(levelOf(at).object_manifests);
    expect(said(Manifests.promote(manifests)), atOf(at)).toEqual(levelOf(at).object_manifests);
    count++;
  }
  for (const { at, data, offsets } of pairs(await payloads(/^(resolution_)?\d+\/object_index$/))) {
    const dims = at.attributes.sid_ndim as number;
    const old = /^v0\.[2345]/.test(at.store);
    const manifests = (old ? Manifests.fromTuples : Manifests.fromLegacy)(data, offsets, dims, defaultLimits, atOf(at));
    expect(said(manifests), atOf(at)).toEqual(levelOf(at).object_manifests);
    const rows = Array.from({ length: manifests.rows }, (_, row) => Manifests.encodeRow(manifests, row));
    if (!old) expect(Blobs.encodeOffsets(Blobs.of(rows))).toEqual({ data, offsets });
    count++;
  }
  expect(count).toBeGreaterThan(100);
});

test("groups of rows up to 0.5 say where the vertices of a fragment are", async () => {
  const vertices = new Map<string, Uint8Array>();
  for (const { store, path, key, bytes } of await payloads(/^(resolution_)?\d+\/vertices$/, /^v0\.[2345]/))
    vertices.set(`${store} ${levelPath(path)} ${key}`, bytes);
  const blobs = new Map<string, Payload>();
  for (const blob of await payloads(/^(resolution_)?\d+\/links(\/0)?$/, /^v0\.[2345]/))
    blobs.set(`${blob.store} ${levelPath(blob.path)} ${blob.key}`, blob);
  let [count, linked] = [0, 0];
  for (const cell of await payloads(/^(resolution_)?\d+\/vertex_group_offsets$/, /^v0\.[2345]/)) {
    const said = levelOf(cell)?.chunks?.[cell.key]?.vertices_by_fragment;
    if (said === undefined || cell.key.startsWith("__shard")) continue;
    const blob = vertices.get(`${cell.store} ${levelPath(cell.path)} ${cell.key}`)!;
    const { attributes } = { attributes: attributesOf(cell.store, `${levelPath(cell.path)}/vertices`) };
    if (attributes.encoding === "draco") continue;
    const form = cell.store.startsWith("v0.5.0-late") ? "single" : "paired";
    const rowBytes = (attributes.dtype === "float64" ? 8 : 4) * expected(cell.store).dump.axes.length;
    const { index, links } = FragmentIndex.fromGroupOffsets(cell.bytes, form, rowBytes, blob.length, atOf(cell));
    const sizes = Array.from({ length: index.count }, (_, f) => index.offsets[f + 1]! - index.offsets[f]!);
    expect(sizes, atOf(cell)).toEqual(said.map(({ shape }: { shape: number[] }) => shape[0]));
    count++;
    const blobOfLinks = blobs.get(`${cell.store} ${levelPath(cell.path)} ${cell.key}`);
    if (links === undefined || blobOfLinks === undefined) continue;
    const { link_width: width = 2 } = blobOfLinks.attributes as { link_width?: number };
    const groups = FragmentIndex.fromLinkOffsets(links, 8 * width, blobOfLinks.bytes.length, atOf(cell));
    const rows = Object.values(
      levelOf(cell).links as { [delta: string]: { [key: string]: { shape: number[] }[] } },
    )[0]![cell.key]!;
    expect(FragmentIndex.total(groups), atOf(cell)).toBe(rows.reduce((sum, { shape }) => sum + shape[0]!, 0));
    linked++;
  }
  expect([count > 200, linked > 5]).toEqual([true, true]);
});

test("links from 0.9 on are those that the reference restored, and come out the same", async () => {
  const families = new Map<string, [LinkCell, number[], number[][]][]>();
  let perms = 0;
  for (const cell of await payloads(/^\d+\/links\/[^/]+\/[^/]+$/, /^v0\.9/)) {
    if (cell.bytes.length === 0) continue;
    const [, , delta, segment] = cell.path.split("/");
    const width = cell.attributes.link_width as number;
    const chunk = cell.key.split(".").map(Number);
    const offsets = LinkOffsets.parse(segment!, width, chunk.length, atOf(cell)) as number[][];
    expect(offsets).toEqual(cell.attributes.offsets);
    expect(LinkOffsets.format(offsets)).toBe(segment);
    const ragged = delta !== "0" || !LinkOffsets.isIntra(offsets);
    const links = LinkCell.parse(cell.bytes, { width, ragged, perm: cell.attributes.has_perm as boolean }, atOf(cell));
    expect(LinkCell.encode(links, ragged), atOf(cell)).toEqual(cell.bytes);
    perms += links.perms?.filter((code) => code > 0).length ?? 0;
    if (delta !== "0") continue;
    const key = `${cell.store} ${levelPath(cell.path)}`;
    families.set(key, [...(families.get(key) ?? []), [links, chunk, [chunk.map(() => 0), ...offsets]]]);
  }
  for (const [key, cells] of families) {
    const [store, level] = key.split(" ");
    const found = cells.flatMap(([{ count, width, ends, perms }, chunk, offsets]) => {
      const slots = Uint32Array.from({ length: ends.length }, (_, i) => i % width);
      if (perms !== undefined) for (const rows of [ends, slots]) Permutation.restore(rows, width, perms, key);
      return Array.from({ length: count }, (_, i) =>
        Array.from({ length: width }, (_, k) => [
          chunk.map((c, axis) => c + offsets[slots[i * width + k]!]![axis]!),
          ends[i * width + k],
        ]),
      );
    });
    expect(found, key).toEqual(expected(store!).dump.levels[level!].links["0"].records);
  }
  expect([families.size > 8, perms > 50]).toEqual([true, true]);
});

test("links up to 0.7 are those that the reference read, and come out the same", async () => {
  let count = 0;
  for (const cell of await payloads(/^(resolution_)?\d+\/links(\/[^/]+)?$/, /^v0\.[2-7]/)) {
    if (cell.key.startsWith("__shard")) continue;
    const delta = cell.path.split("/")[2] ?? "-";
    const said = levelOf(cell).links?.[delta]?.[cell.key];
    if (said === undefined) continue;
    const width = said[0]?.shape[1] ?? 2;
    const ragged = cell.store.startsWith("v0.5.0-late") || (delta !== "0" && delta !== "-");
    const links = LinkCell.parse(cell.bytes, { width, ragged, perm: false }, atOf(cell));
    expect(LinkCell.encode(links, ragged), atOf(cell)).toEqual(cell.bytes);
    expect([...links.ends], atOf(cell)).toEqual(said.flatMap(({ data }: { data: number[][] }) => data.flat()));
    count++;
  }
  expect(count).toBeGreaterThan(300);
});

test("links and faces across chunks up to 0.7 are those that the reference read, and come out the same", async () => {
  let [count, faces] = [0, 0];
  for (const blob of await payloads(/^(resolution_)?\d+\/cross_chunk_links(\/[^/]+)?$/)) {
    const width = (blob.attributes.link_width as number | undefined) ?? 2;
    const links = CrossChunkLinks.parse(blob.bytes, width, blob.attributes.sid_ndim as number, atOf(blob));
    expect(CrossChunkLinks.encode(links), atOf(blob)).toEqual(blob.bytes);
    const found = Array.from({ length: links.count }, (_, i) =>
      Array.from({ length: width }, (_, k) => {
        const e = links.offsets[i]! + k;
        return [[...links.chunks.subarray(e * links.dims, (e + 1) * links.dims)], links.vertices[e]];
      }),
    );
    const said = levelOf(blob).cross_chunk_links?.[blob.path.split("/")[2] ?? "-"];
    if (said === undefined) continue; // the reference of that version did not list them
    expect(found, atOf(blob)).toEqual(said);
    count++;
  }
  for (const { at, data, offsets } of pairs(await payloads(/\/cross_chunk_faces$/))) {
    const links = CrossChunkLinks.parseFaces(data, offsets, at.attributes.sid_ndim as number, atOf(at));
    expect(CrossChunkLinks.encodeFaces(links)).toEqual({ data, offsets });
    expect(links.count).toBe(25);
    faces++;
  }
  expect([count > 20, faces]).toEqual([true, 4]);
});

test("groups of every version are those that the reference read, and come out the same", async () => {
  const said = ({ count, offsets, ids, ranges }: Groups) =>
    Array.from({ length: count }, (_, g) => {
      const range = ranges.get(g);
      if (range === undefined) return [...ids.subarray(offsets[g], offsets[g + 1])].map(Number);
      return Array.from({ length: Number(range.stop - range.start) }, (_, i) => Number(range.start) + i);
    });
  let count = 0;
  const all = await payloads(/^(resolution_)?\d+\/(groups|groupings)$/);
  for (const { at, data, offsets } of pairs(all)) {
    const groups = Groups.fromOffsets(data, offsets, atOf(at));
    expect(said(groups), atOf(at)).toEqual(levelOf(at).groups);
    expect(Blobs.encodeOffsets(Groups.encode(groups))).toEqual({ data, offsets });
    count++;
  }
  const stores = new Set(all.filter(({ store }) => store.startsWith("v0.9")).map(({ store }) => store));
  for (const store of stores) {
    const elements = all.filter((element) => element.store === store && element.path === "0/groups");
    const blobs = Blobs.of(elements.map(({ bytes }) => bytes));
    const ranges = Object.entries((elements[0]!.attributes.group_ranges ?? {}) as { [g: string]: [number, number] });
    const groups = Groups.parse(
      blobs,
      new Map(ranges.map(([g, [start, stop]]) => [Number(g), { start: BigInt(start), stop: BigInt(stop) }])),
      store,
    );
    expect(said(groups), store).toEqual(levelOf(elements[0]!).groups);
    expect(Blobs.encodeChunk(Groups.encode(groups))).toEqual(Blobs.encodeChunk(blobs));
    count++;
  }
  expect(count).toBeGreaterThan(10);
});
