/**
 * Consolidated metadata: the documents of all nodes below a group, in the group's own. v2 keeps it in `.zmetadata`, v3 in
 * `consolidated_metadata` of zarr.json. Paths are relative to the group: "a", "a/b".
 */
import type { Consolidated, ConsolidatedNode, NodeMeta } from "./types.js";

export interface ConsolidatedDocument {
  readonly path: string;
  readonly node: "array" | "group";
  parse(): NodeMeta;
}

/** A group inside gets its own part of the whole, so that going down never asks the store again. */
export function consolidate(documents: Iterable<ConsolidatedDocument>): Consolidated {
  const nodes = new Map<string, ConsolidatedNode>();
  for (const { path, node, parse } of documents) {
    const meta = (): NodeMeta => {
      const own = parse();
      return own.node === "array" ? own : { ...own, consolidated: below(nodes, path) };
    };
    if (path !== "") nodes.set(path, { node, meta });
  }
  return nodes;
}

function below(nodes: Consolidated, path: string): Consolidated {
  const prefix = `${path}/`;
  const inside = [...nodes].filter(([name]) => name.startsWith(prefix));
  return new Map(inside.map(([name, node]) => [name.slice(prefix.length), node]));
}
