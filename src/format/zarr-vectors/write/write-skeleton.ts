/**
 * What is stored of the links of skeletons: a reader takes for granted that the parent of a vertex is the one before it in its
 * fragment, so only the others are. Who has several parents must have all of them stored.
 */

/** The numbers of the links (child, parent) that do not follow from the order of the vertices, which have these places. */
export function notImplied(ends: Uint32Array, fragment: Uint32Array, ordinal: Uint32Array): number[] {
  const parents = new Uint8Array(fragment.length); // up to 2
  for (let i = 0; i < ends.length; i += 2) if (parents[ends[i]!]! < 2) parents[ends[i]!]!++;
  const kept: number[] = [];
  for (let l = 0; l < ends.length / 2; l++) {
    const [child, parent] = [ends[2 * l]!, ends[2 * l + 1]!];
    const next = fragment[child] === fragment[parent] && ordinal[child] === ordinal[parent]! + 1;
    if (!next || parents[child] !== 1) kept.push(l);
  }
  return kept;
}
