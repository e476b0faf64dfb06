/** Which objects of a batch are in the answer: those of which anything that satisfies touches the region. */
import { type Assembled, isPath } from "./assemble.js";
import { isOwn, linkCounts, type Masks, ownerOfVertices } from "./masks.js";
import { Region } from "./region.js";
import { subset } from "./subset.js";
import { touchesPath, touchesPolygon } from "./touch.js";

/** Only the objects, and the parts without one, of which something touches; points without an object one by one. */
export function wholeObjects(batch: Assembled, region: Region | undefined, masks: Masks): Assembled {
  const kept = new Uint8Array(batch.ids.length);
  const lone = new Uint8Array(batch.objects.length);
  for (let part = 0; part < batch.objects.length; part++) {
    const object = batch.objects[part]!;
    if ((object >= 0 && kept[object] === 1) || !partTouches(batch, part, region, masks)) continue;
    if (object >= 0) kept[object] = 1;
    else lone[part] = 1;
  }
  touchingLinks(batch, region, masks, kept, lone);
  const stays = (part: number): boolean => (batch.objects[part]! >= 0 ? kept[batch.objects[part]!] : lone[part]) === 1;
  const cloud = batch.geometry === "points" && batch.objects.includes(-1);
  if (!cloud && !kept.includes(0) && batch.objects.every((_, part) => stays(part))) return batch;
  const vertices = cloud ? insideMask(batch, region, masks) : new Uint8Array(batch.positions.length / batch.dims);
  for (let part = 0; part < batch.objects.length; part++)
    if (!cloud || batch.objects[part]! >= 0)
      vertices.fill(stays(part) ? 1 : 0, batch.parts[part]!, batch.parts[part + 1]!);
  return subset(batch, vertices);
}

/** The objects that have vertices. */
export function withVertices(batch: Assembled): Assembled {
  const has = new Uint8Array(batch.ids.length);
  for (let part = 0; part < batch.objects.length; part++) if (batch.objects[part]! >= 0) has[batch.objects[part]!] = 1;
  return !has.includes(0) ? batch : subset(batch, new Uint8Array(batch.positions.length / batch.dims).fill(1));
}

function partTouches(batch: Assembled, part: number, region: Region | undefined, { vertices, links }: Masks): boolean {
  const { positions, dims } = batch;
  const [from, to] = [batch.parts[part]!, batch.parts[part + 1]!];
  if (links !== undefined) return false; // only links count, and they are looked at by themselves
  const touches = isPath(batch) ? touchesPath : Region.anyInside;
  if (vertices === undefined) return region === undefined ? from < to : touches(region, positions, dims, from, to);
  for (let at = from; at < to; ) {
    let end = at;
    while (end < to && vertices[end] === 1) end++;
    if (end > at && (region === undefined || touches(region, positions, dims, at, end))) return true;
    at = end + 1;
  }
  return false;
}

/** Marks what has a link that counts and touches. */
function touchingLinks(
  batch: Assembled,
  region: Region | undefined,
  masks: Masks,
  kept: Uint8Array,
  lone: Uint8Array,
): void {
  if (batch.links === undefined) return;
  const { ends, width } = batch.links;
  const { positions, dims } = batch;
  const owners = ownerOfVertices(batch);
  const partOf = lone.length > kept.length || batch.objects.includes(-1) ? partOfVertices(batch) : undefined;
  for (let l = 0; l * width < ends.length; l++) {
    const owner = owners[ends[l * width]!]!;
    if (owner >= 0 && kept[owner] === 1) continue;
    if (!isOwn(owners, ends, width, l) || !linkCounts(ends, width, l, masks)) continue;
    if (region !== undefined && !touchesPolygon(region, positions, dims, ends, l * width, (l + 1) * width)) continue;
    if (owner >= 0) kept[owner] = 1;
    else for (let k = 0; k < width; k++) lone[partOf![ends[l * width + k]!]!] = 1;
  }
}

export function partOfVertices({ positions, dims, parts, objects }: Assembled): Uint32Array {
  const out = new Uint32Array(positions.length / dims);
  for (let part = 0; part < objects.length; part++) out.fill(part, parts[part]!, parts[part + 1]!);
  return out;
}

/** The vertices that satisfy and are inside. */
export function insideMask(batch: Assembled, region: Region | undefined, { vertices }: Masks): Uint8Array {
  const count = batch.positions.length / batch.dims;
  const mask = new Uint8Array(count);
  if (region === undefined) mask.fill(1);
  else Region.inside(region, batch.positions, batch.dims, 0, count, mask);
  if (vertices !== undefined) for (let v = 0; v < count; v++) mask[v]! &= vertices[v]!;
  return mask;
}
