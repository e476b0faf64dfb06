/**
 * Graphs and skeletons with fewer vertices. Branch points, ends, lone vertices and those where the direction of edges turns stay; of
 * the chains between them, vertices go as those of paths do. Nothing that was joined comes apart, and nothing is joined that
 * was not: two chains between the same ends stay two, and a loop stays a loop.
 */
import { fromSegment, marked, thinChain } from "./chain.js";
import type { Coarse, Fine } from "./types.js";

export function thinGraph({ positions, dims, links }: Fine, allowed: number): Coarse {
  const count = positions.length / dims;
  const ends = links?.ends ?? new Uint32Array();
  const { first, edges } = edgesAt(ends, count);
  const kept = new Uint8Array(count);
  for (let vertex = 0; vertex < count; vertex++) if (!isPassedThrough(vertex, ends, first, edges)) kept[vertex] = 1;
  const nodes = marked(kept);
  const used = new Uint8Array(ends.length / 2);
  const seen = new Set<number>(); // pairs of nodes between which there is an edge already
  const chains: { readonly chain: number[]; readonly edge: number }[] = [];
  let error = 0;

  /** From a node along an edge to the next node. */
  function follow(start: number, edge: number): void {
    const chain = [start];
    let [at, along] = [start, edge];
    for (;;) {
      used[along] = 1;
      at = ends[2 * along]! === at ? ends[2 * along + 1]! : ends[2 * along]!;
      chain.push(at);
      if (kept[at] === 1 || at === start) break;
      const [one, two] = [edges[first[at]!]!, edges[first[at]! + 1]!];
      along = one === along ? two : one;
    }
    chains.push({ chain, edge });
  }
  for (const node of nodes)
    for (let i = first[node]!; i < first[node + 1]!; i++) if (used[edges[i]!] === 0) follow(node, edges[i]!);
  // What is left are rings without a node.
  for (let edge = 0; edge < used.length; edge++) {
    if (used[edge] === 1) continue;
    const start = ends[2 * edge]!;
    kept[start] = 1;
    follow(start, edge);
  }
  for (const { chain } of chains) {
    const [a, b] = [chain[0]!, chain[chain.length - 1]!];
    const pair = Math.min(a, b) * count + Math.max(a, b);
    for (const vertex of stays(positions, dims, chain, seen.has(pair))) kept[vertex] = 1;
    seen.add(pair);
    for (const piece of between(chain, kept)) error = Math.max(error, thinChain(positions, dims, piece, allowed, kept));
  }

  const rows = marked(kept);
  const place = new Uint32Array(count);
  for (let i = 0; i < rows.length; i++) place[rows[i]!] = i;
  const joined: number[] = [];
  const from: number[] = [];
  for (const { chain, edge } of chains) {
    const forward = ends[2 * edge] === chain[0];
    let last = chain[0]!;
    for (let i = 1; i < chain.length; i++) {
      const vertex = chain[i]!;
      if (kept[vertex] === 0) continue;
      joined.push(...(forward ? [place[last]!, place[vertex]!] : [place[vertex]!, place[last]!]));
      from.push(edge);
      last = vertex;
    }
  }
  return { rows, links: { ends: Uint32Array.from(joined), from: Uint32Array.from(from) }, error };
}

/** The edges at each vertex: those of v are edges[first[v]] up to edges[first[v + 1]]; a loop is there twice. */
function edgesAt(ends: Uint32Array, count: number): { readonly first: Uint32Array; readonly edges: Uint32Array } {
  const first = new Uint32Array(count + 1);
  for (let i = 0; i < ends.length; i++) first[ends[i]! + 1]!++;
  for (let vertex = 0; vertex < count; vertex++) first[vertex + 1]! += first[vertex]!;
  const edges = new Uint32Array(ends.length);
  const next = first.slice();
  for (let i = 0; i < ends.length; i++) edges[next[ends[i]!]!++] = i >> 1;
  return { first, edges };
}

/** Two different edges, the one coming, the other going. */
function isPassedThrough(vertex: number, ends: Uint32Array, first: Uint32Array, edges: Uint32Array): boolean {
  if (first[vertex + 1]! - first[vertex]! !== 2) return false;
  const [one, two] = [edges[first[vertex]!]!, edges[first[vertex]! + 1]!];
  return one !== two && (ends[2 * one] === vertex) !== (ends[2 * two] === vertex);
}

/** Vertices inside a chain that must stay, or it would be lost: two of a loop, one where there is another edge between its ends. */
function stays(positions: Fine["positions"], dims: number, chain: readonly number[], doubled: boolean): number[] {
  const [a, b] = [chain[0]!, chain[chain.length - 1]!];
  if (chain.length < 3 || (a !== b && !doubled)) return [];
  let [furthest, distance] = [1, -1];
  for (let i = 1; i < chain.length - 1; i++) {
    const away = fromSegment(positions, dims, chain[i]!, a, b);
    if (away > distance) [furthest, distance] = [i, away];
  }
  if (a !== b || chain.length < 4) return [chain[furthest]!];
  const other = furthest > (chain.length - 1) / 2 ? Math.max(1, furthest >> 1) : (furthest + chain.length - 1) >> 1;
  return [chain[furthest]!, chain[other === furthest ? other + 1 : other]!];
}

/** A chain cut at the vertices that stay. */
function* between(chain: readonly number[], kept: Uint8Array): Generator<number[]> {
  let from = 0;
  for (let i = 1; i < chain.length; i++) {
    if (kept[chain[i]!] === 0 && i < chain.length - 1) continue;
    yield chain.slice(from, i + 1);
    from = i;
  }
}
