/**
 * The web form of a store, for readers only: the same nodes, in few large values, and the documents of all of them in the root's,
 * so that one request opens it and nothing is ever listed. zarr-vectors 0.9.2 reads it like any other store.
 *
 * What is small lies a second time in a pack (store/packed.ts): manifests, fragments, owners and links of a store of usual size,
 * whole coarse levels, and the indexes of all shards. The root names the pack as `octavo_pack`.
 *
 * What comes from another version, or does not say who owns its fragments, is first copied to format 0.9.2 beside the target, and
 * the copy is published. The root's document is written last: before that there is nothing that anybody would take for a store.
 */
import { type JsonObject, parseJson } from "../../../bytes/json.js";
import { stringifyJson } from "../../../bytes/json-write.js";
import { encodeUtf8 } from "../../../bytes/text.js";
import { Unsupported } from "../../../errors.js";
import { withLimits } from "../../../limits.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import type { ReadOptions } from "../../../model/dataset.js";
import { Key, LOGS, Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { wrap } from "../../../store/wrap.js";
import { arrayNode } from "../../zarr/node.js";
import { parseV3 } from "../../zarr/parse.js";
import { clear, JOURNAL, refuseOverlap } from "../../zarr/room.js";
import type { NodeMeta } from "../../zarr/types.js";
import { copyStore } from "../copy/copy-store.js";
import { documentText, spelled } from "../nodes/document-text.js";
import { type OpenedStore, openStore } from "../nodes/open-nodes.js";
import type { ZarrVectors } from "../read/dataset.js";
import { ownerColumn } from "../read/owner-column.js";
import { nameOf } from "../write/write.js";
import { type ArrayPlan, planBlobs, planCells, planTable } from "./publish-array.js";
import { outputTo } from "./publish-output.js";

/** How to publish a store. */
export interface PublishOptions extends ReadOptions {
  /** Delete what is there first; else Conflict. */
  readonly overwrite?: boolean | undefined;
  /** Bytes that may be held while a store of another version is copied, roughly; 256 MiB unless told. */
  readonly maxMemory?: number | undefined;
  /** Where such a copy lies meanwhile; in the target unless told, which must then be one that can be read, as a zip file cannot. */
  readonly scratch?: { readonly store: Store; readonly at: Prefix } | undefined;
}

/** What was written. */
export interface PublishReport {
  readonly keys: number;
  readonly bytes: number;
  /** The version that was copied to 0.9.2 on the way; undefined where nothing had to be. */
  readonly copiedFrom: string | undefined;
  /** Sentences about what the copy does not keep. */
  readonly losses: readonly string[];
}

/** What would be written. */
export interface PublishPlan {
  /** As in the report. */
  readonly copiedFrom: string | undefined;
  /** The arrays, their chunks and values; undefined where a copy is to be made first. */
  readonly arrays: readonly Pick<ArrayPlan, "path" | "chunks" | "keys">[] | undefined;
}

/** Into an empty place, or one whose dataset may go. */
export async function publishZarrVectors(
  source: ZarrVectors,
  store: Store,
  at: Prefix,
  options: PublishOptions = {},
): Promise<PublishReport> {
  refuseOverlap({ url: source.url, store: source.opened.store }, store, at);
  await clear(store, at, options);
  const { signal } = options;
  const journal = Key.join(at, JOURNAL);
  if (store.can.conditional) await store.set(journal, new Uint8Array(), { signal });
  const ready = await isReady(source, options);
  const copy = ready ? undefined : await copied(source, store, at, options);
  const output = outputTo(store, at, signal);
  let document: Uint8Array;
  try {
    document = await publishTree(copy?.opened ?? source.opened, output, options);
    await copy?.remove();
    const condition = store.can.conditional ? ({ absent: true } as const) : undefined;
    await store.set(Key.join(at, "zarr.json"), document, { signal, if: condition });
  } catch (error) {
    await copy?.remove();
    await output.undo();
    throw error;
  }
  if (store.can.conditional) await store.delete(journal, { signal });
  return {
    keys: output.keys + 1,
    bytes: output.bytes + document.length,
    copiedFrom: ready ? undefined : source.version,
    losses: copy?.losses ?? [],
  };
}

/** What that would come to. */
export async function planPublish(source: ZarrVectors, options: ReadOptions = {}): Promise<PublishPlan> {
  if (!(await isReady(source, options))) return { copiedFrom: source.version, arrays: undefined };
  const plans = (await nodesOf(source.opened, options)).map(({ plan }) => plan);
  return { copiedFrom: undefined, arrays: plans.filter((plan) => plan !== undefined) };
}

/** Whether its nodes can be taken as they are: the version is right, and every level can say who owns its fragments. */
async function isReady(source: ZarrVectors, options: ReadOptions): Promise<boolean> {
  if (source.version !== "0.9.2") return false;
  for (const level of source.opened.levels) {
    const nodes = await source.opened.nodes(level, options);
    if (nodes.dialect.container !== "cells" || nodes.dialect.manifests === "dense") return false;
    const { objects, ...own } = await source.source(level, options);
    if (objects === undefined) continue;
    if ((await ownerColumn(nodes, await own.chunks(options), options)) === undefined) return false;
  }
  return true;
}

/** The source as a store of format 0.9.2, in a place that goes when it has been read. */
async function copied(source: ZarrVectors, target: Store, at: Prefix, options: PublishOptions) {
  const { store, at: room } = options.scratch ?? { store: target, at: Prefix.join(at, LOGS) };
  const place = Prefix.join(room, `publish-${crypto.randomUUID()}`);
  const written = new Set<Key>();
  const tracked = wrap(store, {
    set(key, value, call) {
      written.add(key);
      return store.set(key, value, call);
    },
  });
  const remove = (): Promise<void> => forEachConcurrent(written, 16, (key) => store.delete(key));
  try {
    const { losses } = await copyStore(source, tracked, place, { name: nameOf(target, at, undefined) }, options);
    return { opened: await openStore(store, place, { ...options, log: false }), losses, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

interface Node {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly document: JsonObject;
  readonly plan: ArrayPlan | undefined;
}

/** Every node below the root, with what is to be done about it. */
async function nodesOf(opened: OpenedStore, options: ReadOptions): Promise<Node[]> {
  const { store, at, url } = opened;
  const limits = withLimits(options.limits);
  const out: Node[] = [];
  const visit = async (path: string): Promise<void> => {
    const bytes = await store.get(Key.join(at, `${path}/zarr.json`), { signal: options.signal });
    if (bytes === undefined) return below(path);
    const where = `${url}/${path}/zarr.json`;
    const document = parseJson(bytes, limits, where, { tokens: true }) as JsonObject;
    const meta = parseV3(bytes, limits, where);
    out.push({ path, bytes, document, plan: await planOf(opened, path, meta, options) });
    if (meta.node === "group") await below(path);
  };
  const below = async (path: string): Promise<void> => {
    const names = await opened.names(path, options);
    if (names === undefined)
      throw new Unsupported(`${url} cannot be listed, so what is in it cannot be found`, {
        where: url,
        hint: "Publish from a store that can list, such as a folder or s3.",
      });
    for (const name of names) if (!name.startsWith(".")) await visit(path === "" ? name : `${path}/${name}`);
  };
  await below("");
  return out;
}

async function planOf(
  opened: OpenedStore,
  path: string,
  meta: NodeMeta,
  options: ReadOptions,
): Promise<ArrayPlan | undefined> {
  if (meta.node === "group") return undefined;
  const [first = "", ...rest] = path.split("/");
  const name = rest.join("/");
  const level = opened.levels.find((own) => `${own}` === first);
  if (meta.dtype.kind === "vlen-bytes") {
    const nodes = level === undefined ? await opened.parametric(options) : await opened.nodes(level, options);
    if (level !== undefined && name !== "object_index/manifests" && name !== "groups")
      return planCells(path, (await nodes!.cells(name, options))!, meta, options);
    if (nodes !== undefined) return planBlobs(path, (await nodes.vlen(name, options))!, meta, options);
  }
  return planTable(path, arrayNode(opened.store, Prefix.join(opened.at, path), meta), options);
}

/** Everything but the root's document, which is what it gives. */
async function publishTree(
  opened: OpenedStore,
  output: ReturnType<typeof outputTo>,
  options: PublishOptions,
): Promise<Uint8Array> {
  const { store, at, url } = opened;
  const nodes = await nodesOf(opened, options);
  const total = nodes.reduce((sum, { plan }) => sum + (plan?.chunks ?? 0), 0);
  let done = 0;
  const step = (chunks: number): void => {
    done += chunks;
    options.onProgress?.({ done, total, unit: "chunks" });
  };
  const metadata: { [path: string]: JsonObject } = {};
  for (const { path, bytes, document, plan } of nodes) {
    metadata[path] = plan === undefined ? document : await plan.write(output, document, step);
    // A group's document stays what it is to the byte: owners are sealed with that of their index.
    const text = plan === undefined ? bytes : encodeUtf8(documentText(metadata[path]), "a zarr.json");
    await output.put(`${path}/zarr.json`, text);
  }
  const pack = await output.pack(groupOf);
  const bytes = (await store.get(Key.join(at, "zarr.json"), { signal: options.signal }))!;
  const root = parseJson(bytes, withLimits(options.limits), `${url}/zarr.json`, { tokens: true }) as JsonObject;
  const { attributes, consolidated_metadata: _, ...rest } = root;
  const { octavo_log: _log, ...words } = attributes as JsonObject; // it stays behind
  const own = { ...words, octavo_pack: { ...pack } };
  const inline = { kind: "inline", must_understand: false };
  const told = Object.entries(metadata).map(([path, document]) => [
    path,
    // So zarr-python marks that what is below a group is told further up.
    spelled(
      document.node_type === "group" ? { ...document, consolidated_metadata: { ...inline, metadata: {} } } : document,
    ),
  ]);
  const whole = {
    ...(spelled({ attributes: own, ...rest }) as JsonObject),
    consolidated_metadata: { ...inline, metadata: Object.fromEntries(told) },
  };
  return encodeUtf8(stringifyJson(whole, { ascii: true, tokens: true }), "a zarr.json");
}

/** What a query asks for first comes first, level by level; a family of arrays is asked for together. */
const FAMILIES = ["object_index", "vertex_fragments", "fragment_attributes", "links", "link_fragments"];

function groupOf(path: string): string {
  const [level = "", family = ""] = path.split("/");
  const place = FAMILIES.indexOf(family);
  const number = /^\d+$/.test(level) ? level.padStart(10, "0") : `~${level}`;
  return `${number} ${place < 0 ? FAMILIES.length : place} ${family}`;
}
