/**
 * What of a batch lies in the region: the vertices inside, or what is left when lines and faces are cut. Cuts are samples
 * (samples.ts); where an attribute has no value in between, that of the nearer row is taken, and so is the fragment.
 */
import type { Column } from "../model/attributes.js";
import type { Links } from "../model/vectors.js";
import { type Assembled, isPath } from "./assemble.js";
import { clipPath, clipSegments, Pieces } from "./clip-lines.js";
import { clipMesh } from "./clip-mesh.js";
import { roomLike, widened } from "./columns.js";
import { fragmentOfVertices, isOwn, linkCounts, type Masks, ownerOfVertices } from "./masks.js";
import type { Region } from "./region.js";
import { interpolate, Samples } from "./samples.js";
import { fragmentRows, linkRows, ownersOf, subset } from "./subset.js";
import { insideMask, partOfVertices } from "./whole.js";

/** The vertices that satisfy and are inside, and the links between them; paths break where one is left out. */
export function verticesInside(batch: Assembled, region: Region | undefined, masks: Masks): Assembled {
  return subset(batch, insideMask(batch, region, masks), { links: masks.links });
}

/** What lies in the region, cut at its faces. */
export function clipped(batch: Assembled, region: Region | undefined, masks: Masks): Assembled {
  if (region === undefined) return verticesInside(batch, region, masks);
  if (isPath(batch)) return clipPaths(batch, region, masks);
  if (batch.links === undefined || batch.links.width < 2) return verticesInside(batch, region, masks);
  return clipLinks(batch, batch.links, region, masks);
}

function clipPaths(batch: Assembled, region: Region, { vertices }: Masks): Assembled {
  const { positions, dims } = batch;
  const pieces = Pieces.of(region, positions, dims);
  const partOf: number[] = [];
  for (let part = 0; part < batch.objects.length; part++) {
    const to = batch.parts[part + 1]!;
    for (let at = batch.parts[part]!; at < to; ) {
      let end = vertices === undefined ? to : at;
      while (end < to && vertices![end] === 1) end++;
      if (end > at) clipPath(pieces, at, end);
      while (partOf.length < pieces.count) partOf.push(part);
      at = end + 1;
    }
  }
  return rebuilt(batch, pieces.samples, pieces.offsets.slice(0, pieces.count + 1), partOf);
}

/** Segments or faces: what of each is inside, with the vertices inside of their objects, part by part. */
function clipLinks(batch: Assembled, { ends, width, columns }: Links, region: Region, masks: Masks): Assembled {
  const { positions, dims } = batch;
  const inside = insideMask(batch, region, masks);
  const rows = countedLinks(batch, ends, width, masks, inside);
  const chosen = new Uint32Array(rows.length * width);
  for (let i = 0; i < rows.length; i++)
    for (let k = 0; k < width; k++) chosen[i * width + k] = ends[rows[i]! * width + k]!;
  const cut = width === 2 ? cutSegments(batch, region, chosen) : cutFaces(batch, region, chosen, width);
  const partOf = partOfVertices(batch);
  // The cuts of each part, after its vertices that are inside: those of the links that begin in it.
  const cutsOf: number[][] = Array.from(batch.objects, () => []);
  const place = new Int32Array(cut.samples.count).fill(-1);
  for (let at = 0; at < cut.ends.length; at++) {
    const sample = cut.ends[at]!;
    if (isVertex(cut.samples, sample) || place[sample] !== -1) continue;
    place[sample] = -2;
    cutsOf[partOf[chosen[cut.sources[Math.floor(at / cut.width)]! * width]!]!]!.push(sample);
  }
  const samples = Samples.like(positions, dims);
  const ofVertex = new Int32Array(positions.length / dims).fill(-1);
  const offsets = new Uint32Array(batch.objects.length + 1);
  for (let part = 0; part < batch.objects.length; part++) {
    for (let v = batch.parts[part]!; v < batch.parts[part + 1]!; v++) {
      if (inside[v] === 0) continue;
      ofVertex[v] = Samples.add(samples, v, v, v, 0, 0);
      Samples.place(samples, ofVertex[v]!, positions, v);
    }
    for (const s of cutsOf[part]!) {
      const { a, b, c, u, v } = cut.samples;
      place[s] = Samples.add(samples, a[s]!, b[s]!, c[s]!, u[s]!, v[s]!);
      Samples.place(samples, place[s]!, cut.samples.positions, s);
    }
    offsets[part + 1] = samples.count;
  }
  const renumbered = cut.ends.map((s) => (isVertex(cut.samples, s) ? ofVertex[cut.samples.a[s]!]! : place[s]!));
  const ofCuts = Uint32Array.from(cut.sources, (source) => rows[source]!);
  const links = linkRows({ width: cut.width, ends: renumbered, columns }, batch.storedLinks, ofCuts);
  return { ...rebuilt(batch, samples, offsets, Array.from(batch.objects.keys())), ...links };
}

/** The links that are cut: an object's own; those from object to object only where nothing is to be cut. */
function countedLinks(batch: Assembled, ends: Uint32Array, width: number, masks: Masks, inside: Uint8Array): number[] {
  const owners = ownerOfVertices(batch);
  const rows: number[] = [];
  for (let l = 0; l * width < ends.length; l++) {
    if (!linkCounts(ends, width, l, masks)) continue;
    let whole = true;
    for (let k = 0; whole && k < width; k++) whole = inside[ends[l * width + k]!] === 1;
    if (whole || isOwn(owners, ends, width, l)) rows.push(l);
  }
  return rows;
}

interface Cut {
  readonly samples: Samples;
  readonly width: number;
  /** `width` samples for each link. */
  readonly ends: Uint32Array;
  /** The link of the input that each is a piece of. */
  readonly sources: ArrayLike<number>;
}

function cutSegments({ positions, dims }: Assembled, region: Region, rows: Uint32Array): Cut {
  const pieces = Pieces.of(region, positions, dims);
  clipSegments(pieces, rows);
  const ends: number[] = [];
  const sources: number[] = [];
  for (let p = 0; p < pieces.count; p++) {
    const from = pieces.offsets[p]!;
    if (pieces.offsets[p + 1]! - from !== 2) continue; // a single point is no segment; a vertex there is kept anyway
    ends.push(from, from + 1);
    sources.push(pieces.sources[p]!);
  }
  return { samples: pieces.samples, width: 2, ends: Uint32Array.from(ends), sources };
}

function cutFaces({ positions, dims }: Assembled, region: Region, rows: Uint32Array, width: number): Cut {
  const { samples, triangles, sources } = clipMesh(region, positions, dims, rows, width);
  return { samples, width: 3, ends: triangles, sources };
}

const isVertex = ({ a, b, c }: Samples, s: number): boolean => a[s] === b[s] && a[s] === c[s];

/** A batch of samples: part p has those from offsets[p], and was part parts[p]. Empty parts go. */
function rebuilt(batch: Assembled, samples: Samples, offsets: Uint32Array, parts: readonly number[]): Assembled {
  const kept: number[] = [];
  for (let p = 0; p < parts.length; p++) if (offsets[p + 1]! > offsets[p]!) kept.push(p);
  const vertexColumns = new Map<string, Column>();
  for (const [name, column] of batch.vertexColumns) {
    const { info, values } = widened(column);
    const out = roomLike(values, samples.count * info.channels);
    vertexColumns.set(name, {
      info,
      values: interpolate(values as Float32Array, info.channels, samples, out as Float32Array),
    });
  }
  const starts = Uint32Array.from([...kept.map((p) => offsets[p]!), samples.count]);
  return {
    ...batch,
    ...ownersOf(
      batch,
      kept.map((p) => batch.objects[parts[p]!]!),
    ),
    positions: samples.positions.slice(0, samples.count * samples.dims),
    parts: starts,
    fragments: sampledFragments(batch, samples, starts),
    vertexColumns,
  };
}

/** Runs of samples from one fragment, within one part. */
function sampledFragments(
  batch: Assembled,
  { count, a, b, c, u, v }: Samples,
  parts: Uint32Array,
): Assembled["fragments"] {
  const ofVertex = fragmentOfVertices(batch);
  const rows: number[] = [];
  const offsets: number[] = [];
  for (let s = 0, part = 0; s < count; s++) {
    const first = 1 - u[s]! - v[s]!;
    const row = first >= u[s]! && first >= v[s]! ? a[s]! : u[s]! >= v[s]! ? b[s]! : c[s]!;
    const begins = s === parts[part];
    if (begins) part++;
    if (!begins && ofVertex[row] === rows.at(-1)) continue;
    rows.push(ofVertex[row]!);
    offsets.push(s);
  }
  return fragmentRows(batch.fragments, rows, Uint32Array.from([...offsets, count]));
}
