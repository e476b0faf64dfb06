/**
 * A Zarr array or a whole tree of groups and arrays, to another version, other chunks or another store. Every node becomes
 * visible after what is in it; consolidated metadata is made anew where the source has it.
 */
import { Unsupported } from "../errors.js";
import { writeDocuments } from "../format/zarr/create.js";
import { encodeNode } from "../format/zarr/encode.js";
import { groupNode, type ZarrGroup, type ZarrNode } from "../format/zarr/node.js";
import { clear, JOURNAL, refuseOverlap } from "../format/zarr/room.js";
import type { ArrayMeta, ConsolidatedNode, GroupMeta, NodeMeta } from "../format/zarr/types.js";
import { Key, Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import { type ConvertOptions, type ConvertReport, convertArray } from "./arrays.js";
import { strict } from "./target.js";

export async function convertTree(
  source: ZarrNode,
  store: Store,
  at: Prefix,
  options: ConvertOptions = {},
): Promise<{ readonly node: ZarrNode; readonly report: ConvertReport }> {
  if (source.kind === "array") {
    const { array, report } = await convertArray(source, store, at, options);
    return { node: array, report };
  }
  refuseOverlap(source, store, at);
  refuseGroup(source, options);
  await clear(store, at, options);
  const journal = Key.join(at, JOURNAL);
  const { signal } = options;
  if (store.can.conditional) await store.set(journal, new Uint8Array(), { signal });
  const report: ConvertReport = { chunksCopied: 0, chunksRecoded: 0, losses: [] };
  const told = source.meta.consolidated !== undefined;
  const { meta } = await convertGroup(source, store, at, told, options, report);
  if (store.can.conditional) await store.delete(journal, { signal });
  return { node: groupNode(store, at, meta), report };
}

/** The version, which has groups. */
export function refuseGroup({ url: where }: ZarrGroup, { version = 3 }: ConvertOptions): { version: 2 | 3 } {
  if (version !== 0) return { version };
  const hint = "Convert each array by itself.";
  throw new Unsupported(`${where} is a group, and Zarr v0 has only arrays`, { where, hint });
}

interface Converted<Meta extends NodeMeta> {
  readonly meta: Meta;
  /** What is below. */
  readonly nodes: ReadonlyMap<string, ConsolidatedNode>;
}

async function convertGroup(
  source: ZarrGroup,
  store: Store,
  at: Prefix,
  /** Write what is below into the group's own metadata. */
  told: boolean,
  options: ConvertOptions,
  report: ConvertReport,
): Promise<Converted<GroupMeta>> {
  const { version } = refuseGroup(source, options);
  const where = source.url;
  const children = await source.children(options);
  if (children === undefined) {
    const hint = "Consolidated metadata in the source would name them.";
    throw new Unsupported(`${where} cannot be listed, so its nodes cannot be found`, { where, hint });
  }
  const nodes = new Map<string, ConsolidatedNode>();
  for (const { name } of children) {
    const child = await source.open(name, options);
    const below = Prefix.join(at, name);
    const made =
      child.kind === "group"
        ? await convertGroup(child, store, below, false, options, report)
        : await convertLeaf(child, store, below, options, report);
    nodes.set(name, { node: child.kind, meta: () => made.meta });
    for (const [path, node] of made.nodes) nodes.set(`${name}/${path}`, node);
  }
  const losses: string[] = [];
  const attributes = strict(source.attributes, losses);
  report.losses.push(...losses.map((loss) => `${where}: ${loss}`));
  const meta: GroupMeta = { node: "group", version, attributes, consolidated: told ? nodes : undefined, notes: [] };
  await writeDocuments(store, at, encodeNode(meta), options);
  return { meta, nodes };
}

async function convertLeaf(
  source: ZarrNode & { kind: "array" },
  store: Store,
  at: Prefix,
  options: ConvertOptions,
  report: ConvertReport,
): Promise<Converted<ArrayMeta>> {
  const { array, report: own } = await convertArray(source, store, at, options);
  report.chunksCopied += own.chunksCopied;
  report.chunksRecoded += own.chunksRecoded;
  report.losses.push(...own.losses);
  return { meta: array.meta, nodes: new Map() };
}
