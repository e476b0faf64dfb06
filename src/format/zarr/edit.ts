/**
 * Changes to what is there: resize, append, attributes, consolidated metadata, deletion.
 *
 * Every change of a document starts from the document as it is now and is written on the condition that it still is; on
 * Conflict it is made again. The node that is handed back has the new metadata, the one that was handed in keeps the old.
 *
 * Shrinking writes the metadata first, then removes what fell outside: whole chunks are deleted, and the cut-off part of
 * chunks at the new edge becomes fill, so that growing again does not bring old data back (zarr-python leaves that part).
 * In v0 both stay, as its software leaves them and expects to find them.
 */
import { InvalidInput, NotFound, Unsupported } from "../../errors.js";
import type { NdArray, Region } from "../../model/array.js";
import { forEachConcurrent } from "../../model/concurrent.js";
import type { ReadOptions } from "../../model/dataset.js";
import { Key, type Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { encodeAttributes, encodeNode } from "./encode.js";
import { parseChunkKey } from "./keys.js";
import { arrayNode, groupNode, type ZarrArray, type ZarrGroup, type ZarrNode } from "./node.js";
import { openZarr } from "./open.js";
import type { ArrayMeta, Attributes, ConsolidatedNode, NodeMeta } from "./types.js";
import { asItIs, inTurn, untilNoConflict, type WriteOptions, writeRegion } from "./write.js";

const DOCUMENTS = { 0: "__zmeta__", 1: "meta", 2: { array: ".zarray", group: ".zgroup" }, 3: "zarr.json" } as const;

/** The document that describes a node. */
function documentOf(meta: NodeMeta): string {
  const name = DOCUMENTS[meta.version];
  return typeof name === "string" ? name : name[meta.node];
}

/** Reads, changes and writes one document until nobody came in between. */
async function rewrite<Node extends ZarrNode>(
  node: Node,
  name: string,
  change: (now: Node) => { readonly meta: Node["meta"]; readonly bytes: Uint8Array },
  options: ReadOptions,
): Promise<Node> {
  const { store, at, kind } = node;
  const key = Key.join(at, name);
  const attempt = async (): Promise<Node> => {
    const condition = await asItIs(store, key, options.signal);
    const now = await openZarr(store, at, options);
    if (now.kind !== kind) throw new NotFound(`${node.url} is no ${kind} any more`, { where: node.url });
    const { meta, bytes } = change(now as Node);
    await store.set(key, bytes, { signal: options.signal, if: condition });
    return again(node, meta);
  };
  return inTurn(store, key, () => untilNoConflict(store, attempt));
}

const again = <Node extends ZarrNode>({ store, at }: Node, meta: Node["meta"]): Node =>
  (meta.node === "array" ? arrayNode(store, at, meta) : groupNode(store, at, meta)) as Node;

function refuseV1(node: ZarrNode): void {
  if (node.meta.version === 1) {
    throw new Unsupported("Zarr v1 is read only; convert the array to v3", { where: node.url });
  }
}

/** New attributes, or what becomes of the ones there are. */
export async function setAttributes<Node extends ZarrNode>(
  node: Node,
  attributes: Attributes | ((now: Attributes) => Attributes),
  options: ReadOptions = {},
): Promise<Node> {
  refuseV1(node);
  const { version } = node.meta;
  const name = version === 3 ? "zarr.json" : version === 2 ? ".zattrs" : "__zattr__";
  return rewrite(
    node,
    name,
    (now) => {
      const next = typeof attributes === "function" ? attributes(now.meta.attributes) : attributes;
      const meta = { ...now.meta, attributes: next };
      const bytes = version === 3 ? encodeNode(meta).get(name)! : encodeAttributes(next, version === 2 ? 2 : 0);
      return { meta, bytes };
    },
    options,
  );
}

/** Gives an array another shape; what falls outside is gone (except in v0). */
export async function resize(
  array: ZarrArray,
  shape: readonly number[],
  options: WriteOptions = {},
): Promise<ZarrArray> {
  const { before, after } = await reshape(array, () => shape, options);
  if (before.version !== 0) await clearGrown(after, before.shape, options);
  return after;
}

/** Puts values behind the end of an axis. Appends that happen at once, here or elsewhere, follow each other. */
export async function append(
  array: ZarrArray,
  values: NdArray,
  axis = 0,
  options: WriteOptions = {},
): Promise<ZarrArray> {
  const rank = array.shape.length;
  if (!Number.isInteger(axis) || axis < 0 || axis >= rank) {
    throw new InvalidInput(`axis ${axis} is not one of the ${rank} axes of ${array.url}`, { where: array.url });
  }
  let start = 0;
  const { after: grown } = await reshape(
    array,
    (shape) => {
      const fits = values.shape.length === rank && values.shape.every((n, i) => i === axis || n === shape[i]);
      if (!fits) {
        throw new InvalidInput(
          `values of shape [${values.shape}] cannot follow [${shape}] on axis ${axis}: the other axes must be equal`,
          { where: array.url },
        );
      }
      start = shape[axis]!;
      return shape.map((length, i) => (i === axis ? length + values.shape[axis]! : length));
    },
    options,
  );
  const stop = start + values.shape[axis]!;
  const region: Region = grown.shape.map((_, i) => (i === axis ? { start, stop } : null));
  await writeRegion(grown, region, values, options);
  return grown;
}

async function reshape(
  array: ZarrArray,
  next: (shape: readonly number[]) => readonly number[],
  options: WriteOptions,
): Promise<{ readonly before: ArrayMeta; readonly after: ZarrArray }> {
  refuseV1(array);
  const name = documentOf(array.meta);
  let before: ArrayMeta = array.meta;
  const after = await rewrite(
    array,
    name,
    (now) => {
      before = now.meta;
      const shape = next(before.shape);
      if (shape.length !== before.shape.length || !shape.every((n) => Number.isSafeInteger(n) && n >= 0)) {
        throw new InvalidInput(`[${shape}] is no shape for ${array.url}, which has ${before.shape.length} axes`, {
          where: array.url,
        });
      }
      const meta = { ...before, shape };
      // Before v3 attributes lie elsewhere, and what they hold is no reason to refuse.
      const written = meta.version === 3 ? meta : { ...meta, attributes: {} };
      return { meta, bytes: encodeNode(written).get(name)! };
    },
    options,
  );
  if (before.version !== 0) await cutOff(arrayNode(array.store, array.at, before), after.shape, options);
  return { before, after };
}

/**
 * Makes fill of what an array has grown into: a shrinking that was interrupted may have left old values there. Only the
 * part that this call has added is touched, as others may already have appended behind it.
 */
async function clearGrown(array: ZarrArray, old: readonly number[], options: WriteOptions): Promise<void> {
  const { shape, meta, at, store } = array;
  if (shape.every((length, axis) => length <= old[axis]!)) return;
  for await (const { key } of store.list(at, { signal: options.signal })) {
    const chunk = parseChunkKey(meta.keys, shape.length, key.slice(at.length));
    if (chunk === undefined) continue;
    const box = chunk.map((place, axis) => {
      const start = place * meta.chunkShape[axis]!;
      return { start, stop: Math.min(start + meta.chunkShape[axis]!, shape[axis]!) };
    });
    if (box.some(({ start, stop }) => start >= stop)) continue; // outside
    for (const [axis, { start, stop }] of box.entries()) {
      if (stop <= old[axis]!) continue;
      const region = box.map((range, i) => (i === axis ? { start: Math.max(start, old[axis]!), stop } : range));
      await writeRegion(array, region, fillOf(meta), options);
    }
  }
}

/** One element of fill, which goes to every place of a region. */
const fillOf = ({ dtype, fill }: ArrayMeta): NdArray => ({
  shape: [],
  dtype,
  data: ("size" in dtype ? fill : [fill]) as NdArray["data"],
});

/** Removes what an array of the old shape has outside the new one. */
async function cutOff(old: ZarrArray, shape: readonly number[], options: WriteOptions): Promise<void> {
  const { store, at, meta } = old;
  const shrunk = shape.map((length, axis) => length < meta.shape[axis]!);
  if (!shrunk.includes(true)) return;
  const grid = shape.map((length, axis) => Math.ceil(length / meta.chunkShape[axis]!));
  const isOutside = (chunk: readonly number[]): boolean => chunk.some((place, axis) => place >= grid[axis]!);
  const outside: Key[] = [];
  for await (const { key } of store.list(at, { signal: options.signal })) {
    const chunk = parseChunkKey(meta.keys, shape.length, key.slice(at.length));
    if (chunk !== undefined && isOutside(chunk)) outside.push(key);
  }
  await deleteKeys(store, outside, options);

  for (const [axis, isShrunk] of shrunk.entries()) {
    const end = Math.min(meta.shape[axis]!, grid[axis]! * meta.chunkShape[axis]!);
    if (!isShrunk || end <= shape[axis]!) continue;
    const region: Region = shape.map((length, i) =>
      i === axis ? { start: length, stop: end } : { stop: Math.min(meta.shape[i]!, grid[i]! * meta.chunkShape[i]!) },
    );
    await writeRegion(old, region, fillOf(meta), options);
  }
}

/** Removes everything at a place and below: first what makes it visible, then the rest. */
export async function deleteNode(store: Store, at: Prefix, options: ReadOptions = {}): Promise<void> {
  const names = new Set(["zarr.json", ".zarray", ".zgroup", ".zmetadata", "meta", "__zmeta__"]);
  const rest: Key[] = [];
  for await (const { key } of store.list(at, { signal: options.signal })) {
    if (names.has(key.slice(at.length))) await store.delete(key, { signal: options.signal });
    else rest.push(key);
  }
  await deleteKeys(store, rest, options);
}

const deleteKeys = (store: Store, keys: readonly Key[], options: ReadOptions): Promise<void> =>
  forEachConcurrent(keys, 16, (key) => store.delete(key, { signal: options.signal }));

/** Writes the metadata of every node below into the group's own: one request then opens any of them. */
export async function consolidate(group: ZarrGroup, options: ReadOptions = {}): Promise<ZarrGroup> {
  const nodes = new Map<string, ConsolidatedNode>();
  const visit = async (at: ZarrGroup, path: string): Promise<void> => {
    const children = await groupNode(at.store, at.at, { ...at.meta, consolidated: undefined }).children(options);
    if (children === undefined) {
      throw new Unsupported(`${at.url} cannot be listed, so its nodes cannot be found`, { where: at.url });
    }
    for (const { name } of children) {
      const child = await openZarr(at.store, `${at.at}${name}/` as Prefix, { ...options, consolidated: false });
      nodes.set(path + name, { node: child.kind, meta: () => child.meta });
      if (child.kind === "group") await visit(child, `${path}${name}/`);
    }
  };
  await visit(group, "");
  const name = group.meta.version === 2 ? ".zmetadata" : "zarr.json";
  return rewrite(
    group,
    name,
    (now) => {
      const meta = { ...now.meta, consolidated: nodes };
      return { meta, bytes: encodeNode(meta).get(name)! };
    },
    options,
  );
}
