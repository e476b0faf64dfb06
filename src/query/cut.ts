/** What of a batch is in the answer: whole objects, the vertices inside, or what is left when it is cut at the region's faces. */
import { halfToNumber } from "../bytes/half.js";
import type { Column } from "../model/attributes.js";
import type { Columns, Positions } from "../model/vectors.js";
import { type Assembled, isPath } from "./assemble.js";
import { clipPath, clipSegments, Pieces } from "./clip-lines.js";
import { clipMesh } from "./clip-mesh.js";
import { pickRows, roomLike } from "./columns.js";
import { runOf } from "./links.js";
import type { Masks } from "./masks.js";
import { Region } from "./region.js";
import { interpolate, Samples } from "./samples.js";
import { touchesPath, touchesPolygon, touchesSegment } from "./touch.js";

/** Only the objects, and the parts without one, of which something that satisfies touches the region. */
export function wholeObjects(batch: Assembled, region: Region | undefined, masks: Masks): Assembled {
  const kept = new Uint8Array(batch.ids.length);
  const lone = new Uint8Array(batch.objects.length);
  const keep = (part: number): void => {
    if (batch.objects[part]! >= 0) kept[batch.objects[part]!] = 1;
    else lone[part] = 1;
  };
  for (let part = 0; part < batch.objects.length; part++) if (partTouches(batch, part, region, masks)) keep(part);
  const { links } = batch;
  if (links !== undefined) {
    const { ends, width } = links;
    for (let l = 0; l * width < ends.length; l++) {
      if (!linkCounts(ends, width, l, masks) || !linkTouches(batch, region, ends, width, l)) continue;
      const part = runOf(batch.parts, ends[l * width]!);
      let one = true; // an object's links have all their ends in it
      for (let k = 1; k < width; k++) one &&= sameItem(batch, part, runOf(batch.parts, ends[l * width + k]!));
      if (one) keep(part);
    }
  }
  const stays = (part: number): boolean =>
    (batch.objects[part]! >= 0 ? kept[batch.objects[part]!]! : lone[part]!) === 1;
  if (batch.objects.every((_, part) => stays(part))) return batch;
  const vertices = new Uint8Array(batch.positions.length / batch.dims);
  for (let part = 0; part < batch.objects.length; part++)
    if (stays(part)) vertices.fill(1, batch.parts[part]!, batch.parts[part + 1]!);
  return subset(batch, vertices, undefined, (place) => kept[place] === 1);
}

const sameItem = ({ objects }: Assembled, a: number, b: number): boolean =>
  a === b || (objects[a]! >= 0 && objects[a] === objects[b]);

function partTouches(batch: Assembled, part: number, region: Region | undefined, { vertices, links }: Masks): boolean {
  const { positions, dims } = batch;
  const [from, to] = [batch.parts[part]!, batch.parts[part + 1]!];
  if (links !== undefined) return false; // only links count, and they are looked at by themselves
  for (let at = from; at < to; ) {
    let end = at;
    while (end < to && (vertices === undefined || vertices[end] === 1)) end++;
    if (end > at) {
      const touches =
        region === undefined ||
        (isPath(batch)
          ? touchesPath(region, positions, dims, at, end)
          : Region.anyInside(region, positions, dims, at, end));
      if (touches) return true;
    }
    at = end + 1;
  }
  return false;
}

function linkCounts(ends: Uint32Array, width: number, link: number, { vertices, links }: Masks): boolean {
  if (links !== undefined) return links[link] === 1;
  if (vertices === undefined) return true;
  for (let k = 0; k < width; k++) if (vertices[ends[link * width + k]!] === 0) return false;
  return true;
}

function linkTouches(
  batch: Assembled,
  region: Region | undefined,
  ends: Uint32Array,
  width: number,
  link: number,
): boolean {
  if (region === undefined) return true;
  const { positions, dims } = batch;
  const at = link * width;
  return width === 2
    ? touchesSegment(region, positions, dims, ends[at]!, ends[at + 1]!)
    : touchesPolygon(region, positions, dims, ends, at, at + width);
}

/** The vertices that satisfy and are inside, and the links between them; paths break where one is left out. */
export function verticesInside(batch: Assembled, region: Region | undefined, masks: Masks): Assembled {
  return subset(batch, insideMask(batch, region, masks), masks.links);
}

function insideMask(batch: Assembled, region: Region | undefined, { vertices }: Masks): Uint8Array {
  const count = batch.positions.length / batch.dims;
  const mask = new Uint8Array(count);
  if (region === undefined) mask.fill(1);
  else Region.inside(region, batch.positions, batch.dims, 0, count, mask);
  if (vertices !== undefined) for (let v = 0; v < count; v++) mask[v]! &= vertices[v]!;
  return mask;
}

/** What lies in the region, cut at its faces. */
export function clipped(batch: Assembled, region: Region | undefined, masks: Masks): Assembled {
  if (region === undefined) return verticesInside(batch, region, masks);
  if (isPath(batch)) return clipPaths(batch, region, masks);
  if (batch.links === undefined || batch.links.ends.length === 0) return verticesInside(batch, region, masks);
  return clipLinks(batch, region, masks);
}

function clipPaths(batch: Assembled, region: Region, { vertices }: Masks): Assembled {
  const { positions, dims } = batch;
  const pieces = Pieces.of(region, positions, dims);
  const partOf: number[] = [];
  for (let part = 0; part < batch.objects.length; part++) {
    for (let at = batch.parts[part]!; at < batch.parts[part + 1]!; ) {
      let end = at;
      while (end < batch.parts[part + 1]! && (vertices === undefined || vertices[end] === 1)) end++;
      if (end > at) clipPath(pieces, at, end);
      while (partOf.length < pieces.count) partOf.push(part);
      at = end + 1;
    }
  }
  const { samples } = pieces;
  return rebuilt(batch, samples, pieces.offsets.slice(0, pieces.count + 1), partOf, undefined);
}

/** Segments or faces: what of each is inside, with the vertices inside of their objects, item by item. */
function clipLinks(batch: Assembled, region: Region, masks: Masks): Assembled {
  const { positions, dims } = batch;
  const { ends, width } = batch.links!;
  const inside = insideMask(batch, region, masks);
  const counted: number[] = [];
  for (let l = 0; l * width < ends.length; l++) if (linkCounts(ends, width, l, masks)) counted.push(l);
  const chosen = new Uint32Array(counted.length * width);
  for (const [i, l] of counted.entries()) chosen.set(ends.subarray(l * width, (l + 1) * width), i * width);
  let cut: Samples;
  let links: Uint32Array;
  let sources: ArrayLike<number>;
  const newWidth = width === 2 ? 2 : 3;
  if (width === 2) {
    const pieces = Pieces.of(region, positions, dims);
    clipSegments(pieces, chosen);
    const list: number[] = [];
    const from: number[] = [];
    for (let p = 0; p < pieces.count; p++) {
      if (pieces.offsets[p + 1]! - pieces.offsets[p]! !== 2) continue; // a single point is no segment; a vertex there is kept anyway
      list.push(pieces.offsets[p]!, pieces.offsets[p]! + 1);
      from.push(pieces.sources[p]!);
    }
    [cut, links, sources] = [pieces.samples, Uint32Array.from(list), from];
  } else {
    const part = clipMesh(region, positions, dims, chosen, width);
    [cut, links, sources] = [part.samples, part.triangles, part.sources];
  }
  // Vertices by part: those of the input that are inside, then the cuts of its links.
  const byPart: number[][] = batch.objects.length === 0 ? [] : Array.from(batch.objects, () => []);
  const samples = Samples.like(positions, dims);
  const [ofVertex, ofCut] = [new Int32Array(positions.length / dims).fill(-1), new Int32Array(cut.count).fill(-1)];
  for (let l = 0; l < sources.length; l++) {
    const part = runOf(batch.parts, chosen[sources[l]! * width]!);
    for (let k = 0; k < newWidth; k++) {
      const s = links[l * newWidth + k]!;
      if (!isVertex(cut, s) && ofCut[s] === -1) {
        ofCut[s] = -2;
        byPart[part]!.push(s);
      }
    }
  }
  const offsets = new Uint32Array(batch.objects.length + 1);
  for (let part = 0; part < batch.objects.length; part++) {
    for (let v = batch.parts[part]!; v < batch.parts[part + 1]!; v++)
      if (inside[v] === 1) ofVertex[v] = addAt(samples, v, v, v, 0, 0, positions, v);
    for (const s of byPart[part]!)
      ofCut[s] = addAt(samples, cut.a[s]!, cut.b[s]!, cut.c[s]!, cut.u[s]!, cut.v[s]!, cut.positions, s);
    offsets[part + 1] = samples.count;
  }
  const renumbered = links.map((s) => (isVertex(cut, s) ? ofVertex[cut.a[s]!]! : ofCut[s]!));
  const rows = Array.from(sources, (source) => counted[source]!);
  return rebuilt(batch, samples, offsets, Array.from(batch.objects.keys()), {
    width: newWidth,
    ends: renumbered,
    rows,
  });
}

/** Adds a sample with the position of row `from`. */
function addAt(
  samples: Samples,
  a: number,
  b: number,
  c: number,
  u: number,
  v: number,
  positions: Positions,
  from: number,
): number {
  const at = Samples.add(samples, a, b, c, u, v);
  const { dims } = samples;
  for (let axis = 0; axis < dims; axis++) samples.positions[at * dims + axis] = positions[from * dims + axis]!;
  return at;
}

const isVertex = ({ a, b, c }: Samples, s: number): boolean => a[s] === b[s] && a[s] === c[s];

/** A batch of samples: part p has those from offsets[p], and was part parts[p]. Empty parts go. */
function rebuilt(
  batch: Assembled,
  samples: Samples,
  offsets: Uint32Array,
  parts: readonly number[],
  links: { readonly width: number; readonly ends: Uint32Array; readonly rows: readonly number[] } | undefined,
): Assembled {
  const keep: number[] = [];
  for (let p = 0; p < parts.length; p++) if (offsets[p + 1]! > offsets[p]!) keep.push(p);
  const vertexColumns = new Map<string, Column>();
  for (const [name, column] of batch.vertexColumns) {
    const { info, values } = widened(column);
    const out = roomLike(values, samples.count * info.channels);
    vertexColumns.set(name, {
      info,
      values: interpolate(values as Float32Array, info.channels, samples, out as Float32Array),
    });
  }
  const owners = ownersOf(
    batch,
    keep.map((p) => batch.objects[parts[p]!]!),
  );
  return {
    ...batch,
    ...owners,
    positions: samples.positions.slice(0, samples.count * samples.dims) as Positions,
    parts: Uint32Array.from([...keep.map((p) => offsets[p]!), samples.count]),
    links: links && { width: links.width, ends: links.ends, columns: pickRows(batch.links!.columns, links.rows) },
    fragments: { offsets: Uint32Array.of(0, samples.count), columns: new Map() },
    vertexColumns,
  };
}

/** Values between two float16 are float32. */
function widened(column: Column): Column {
  const { info, values } = column;
  if (info.dtype.kind !== "float" || info.dtype.size !== 2) return column;
  return {
    info: { ...info, dtype: { kind: "float", size: 4, endian: "little" } },
    values: Float32Array.from(values as Uint16Array, halfToNumber),
  };
}

/** The ids that are still named, in their order, and the parts' places among them. */
function ownersOf(
  batch: Assembled,
  objects: readonly number[],
  also: (place: number) => boolean = () => false,
): Pick<Assembled, "objects" | "ids" | "rows" | "objectColumns"> {
  const named = new Uint8Array(batch.ids.length);
  for (const place of objects) if (place >= 0) named[place] = 1;
  const places: number[] = [];
  const place = new Int32Array(batch.ids.length).fill(-1);
  for (let i = 0; i < named.length; i++) {
    if (named[i] === 0 && !also(i)) continue;
    place[i] = places.length;
    places.push(i);
  }
  return {
    objects: Int32Array.from(objects, (old) => (old < 0 ? -1 : place[old]!)),
    ids: pickIds(batch.ids, places),
    rows: Uint32Array.from(places, (old) => batch.rows[old]!),
    objectColumns: pickRows(batch.objectColumns, places),
  };
}

function pickIds(ids: Assembled["ids"], places: readonly number[]): Assembled["ids"] {
  const picked = new (ids.constructor as BigInt64ArrayConstructor)(places.length);
  for (const [i, place] of places.entries()) picked[i] = ids[place]!;
  return picked;
}

/** The vertices of a mask, with the links all of whose ends are among them (and, where given, are in `links`). */
export function subset(
  batch: Assembled,
  mask: Uint8Array,
  linkMask?: Uint8Array,
  also?: (place: number) => boolean,
): Assembled {
  const { dims } = batch;
  const rows: number[] = [];
  const parts: number[] = [];
  const objects: number[] = [];
  const place = new Int32Array(mask.length).fill(-1);
  for (let part = 0; part < batch.objects.length; part++) {
    let open = false;
    for (let v = batch.parts[part]!; v < batch.parts[part + 1]!; v++) {
      if (mask[v] === 0) {
        if (isPath(batch)) open = false;
        continue;
      }
      if (!open) {
        parts.push(rows.length);
        objects.push(batch.objects[part]!);
        open = true;
      }
      place[v] = rows.length;
      rows.push(v);
    }
  }
  parts.push(rows.length);
  const positions =
    batch.positions instanceof Float64Array
      ? new Float64Array(rows.length * dims)
      : new Float32Array(rows.length * dims);
  for (let i = 0; i < rows.length; i++)
    for (let axis = 0; axis < dims; axis++) positions[i * dims + axis] = batch.positions[rows[i]! * dims + axis]!;
  return {
    ...batch,
    ...ownersOf(batch, objects, also),
    positions,
    parts: Uint32Array.from(parts),
    links: batch.links && keptLinks(batch.links, place, linkMask),
    fragments: keptFragments(batch.fragments, mask),
    vertexColumns: pickRows(batch.vertexColumns, rows),
  };
}

function keptLinks(
  { width, ends, columns }: NonNullable<Assembled["links"]>,
  place: Int32Array,
  mask: Uint8Array | undefined,
): NonNullable<Assembled["links"]> {
  const kept: number[] = [];
  const out: number[] = [];
  for (let l = 0; l * width < ends.length; l++) {
    let all = mask === undefined || mask[l] === 1;
    for (let k = 0; all && k < width; k++) all = place[ends[l * width + k]!]! >= 0;
    if (!all) continue;
    kept.push(l);
    for (let k = 0; k < width; k++) out.push(place[ends[l * width + k]!]!);
  }
  return { width, ends: Uint32Array.from(out), columns: pickRows(columns, kept) };
}

function keptFragments(
  { offsets, columns }: Assembled["fragments"],
  mask: Uint8Array,
): { offsets: Uint32Array; columns: Columns } {
  const kept: number[] = [];
  const ends: number[] = [0];
  for (let f = 0, at = 0; f + 1 < offsets.length; f++) {
    const before = at;
    for (let v = offsets[f]!; v < offsets[f + 1]!; v++) at += mask[v]!;
    if (at === before) continue;
    kept.push(f);
    ends.push(at);
  }
  return { offsets: Uint32Array.from(ends), columns: pickRows(columns, kept) };
}
