/**
 * What a query means, followed word by word on plain arrays (src/model/vectors.ts has the words). Nothing here knows of chunks,
 * windows or indexes. Only the geometry of single segments and faces is that of src/query, which has proofs of its own.
 */
import type { Positions, Query } from "../../src/model/vectors.js";
import { clipPath, clipSegments, Pieces } from "../../src/query/clip-lines.js";
import { clipMesh } from "../../src/query/clip-mesh.js";
import { Region } from "../../src/query/region.js";
import type { Samples } from "../../src/query/samples.js";
import { touchesPolygon } from "../../src/query/touch.js";
import { Where } from "../../src/query/where.js";
import { domainsOf, holds } from "./conditions.js";
import { type Answer, counts, type Found, type Item, isPath, type Place, type Thing } from "./found.js";
import { nearestOf } from "./nearest.js";
import type { PlainDataset, PlainLevel } from "./plain.js";
import { placesOf } from "./source.js";

/** The answer, or the name of the error. */
export function brute(dataset: PlainDataset, query: Query): Answer | "LimitExceeded" {
  const { levels } = dataset;
  if (query.maxVertices !== undefined) {
    for (const level of levels) {
      const answer = answerAt(level, query);
      if (vertexCount(answer) <= query.maxVertices) return answer;
    }
    return "LimitExceeded";
  }
  if (query.resolution !== undefined) {
    const fine = levels.filter(({ binShape }) =>
      binShape.every((size, axis) => axis === 3 || size <= query.resolution!),
    );
    return answerAt(fine.at(-1) ?? levels[0]!, query);
  }
  return answerAt(levels[query.level ?? 0]!, query);
}

export const vertexCount = ({ items }: Answer): number =>
  items.reduce((sum, { parts }) => sum + parts.reduce((own, part) => own + part.length, 0), 0);

function regionOf({ box, sphere }: Query, dims: number): Region | undefined {
  if (box !== undefined) return Region.of({ box: { min: box.slice(0, dims), max: box.slice(dims) } });
  if (sphere !== undefined) return Region.of({ sphere: { center: sphere.slice(0, dims), radius: sphere[dims]! } });
  return undefined;
}

function answerAt(level: PlainLevel, query: Query): Answer {
  const region = regionOf(query, level.dims);
  const where = query.where === undefined ? undefined : Where.parse(query.where);
  const clip = level.geometry === "points" && query.nearest !== undefined ? "vertices" : (query.clip ?? false);
  const things = asked(level, query, where);
  const ofVertices =
    where !== undefined && ["vertex", "fragment", "link"].some((one) => domainsOf(where).has(one as "link"));
  const cut = clip === true && region !== undefined && (isPath(level) || linkWidth(level) > 1);
  let items: Item[] = [];
  let links: Answer["links"] = [];
  const clips = clip !== false && (region !== undefined || ofVertices);
  for (const thing of things) {
    const found = clips ? cutThing(level, thing, region, clip) : wholeThing(level, thing, region, ofVertices, query);
    items.push(...found.items);
    links = [...links, ...found.links];
  }
  if (query.nearest !== undefined) items = nearestOf(level, items, links, clips, query.nearest);
  items = items.sort((a, b) => (a.row < 0 ? 1 : 0) - (b.row < 0 ? 1 : 0) || a.row - b.row || a.order - b.order);
  if (query.limit !== undefined) items = items.slice(0, query.limit);
  const kept = new Map<Found, true>(items.flatMap(({ parts }) => parts.flat().map((found) => [found, true] as const)));
  links = links.filter(({ ends }) => ends.every((end) => kept.has(end)));
  return {
    level,
    items,
    links: [...links, ...between(level, things, items, clips ? where : undefined, cut, region)],
    cut,
  };
}

const linkWidth = (level: PlainLevel): number =>
  isPath(level) ? 0 : level.linkWidth > 0 ? level.linkWidth : level.sequential ? 2 : 0;

/** 1. and 2.: the objects that are asked for, and what of them satisfies. */
function asked(level: PlainLevel, query: Query, where: Where | undefined): Thing[] {
  const objects = level.objects ?? [];
  let rows = objects.map((_, row) => row);
  const ids = query.object === undefined ? undefined : [...query.object].map(BigInt);
  if (ids !== undefined) rows = rows.filter((row) => ids.includes(objects[row]!.id));
  const groups = query.group === undefined ? undefined : [...query.group].map(Number);
  if (groups !== undefined) rows = rows.filter((row) => groups.some((group) => level.groups[group]!.includes(row)));
  const domains = where === undefined ? new Set() : domainsOf(where);
  const onlyObjects = where !== undefined && !["vertex", "fragment", "link"].some((domain) => domains.has(domain));
  if (onlyObjects) rows = rows.filter((row) => holds(where, level, { object: row }));
  const withLone = ids === undefined && groups === undefined && !(onlyObjects && !holds(where, level, {}));
  const things = rows.map((row) => thingOf(level, row, [objects[row]!.fragments], onlyObjects ? undefined : where));
  if (!withLone) return things;
  const { ofFragment } = placesOf(level);
  const owned = new Set(objects.flatMap(({ fragments }) => fragments));
  const lone = level.fragments
    .flatMap(({ vertices }, f) => (owned.has(f) || vertices.length === 0 ? [] : [f]))
    .sort((a, b) => ofFragment[a]!.chunk - ofFragment[b]!.chunk || ofFragment[a]!.part - ofFragment[b]!.part);
  return [
    ...things,
    thingOf(
      level,
      -1,
      lone.map((f) => [f]),
      onlyObjects ? undefined : where,
    ),
  ];
}

/** The objects that have a vertex. */
const ownersOf = (level: PlainLevel, vertex: number): number[] =>
  (level.objects ?? []).flatMap(({ fragments }, row) =>
    fragments.some((f) => level.fragments[f]!.vertices.includes(vertex)) ? [row] : [],
  );

function thingOf(
  level: PlainLevel,
  row: number,
  parts: readonly (readonly number[])[],
  where: Where | undefined,
): Thing {
  const places: Place[] = [];
  const starts: number[] = [];
  const links: { ends: number[]; link: number }[] = [];
  for (const fragments of parts) {
    starts.push(places.length);
    for (const fragment of fragments)
      for (const vertex of level.fragments[fragment]!.vertices) places.push({ vertex, fragment });
  }
  if (linkWidth(level) > 0) {
    for (const [link, ends] of level.links.entries()) {
      const at = ends.map((vertex) => places.findIndex((place) => place.vertex === vertex));
      if (!at.includes(-1)) links.push({ ends: at, link });
    }
    if (level.sequential) {
      for (let i = 1; i < places.length; i++) {
        const [before, here] = [places[i - 1]!, places[i]!];
        const first = level.fragments[here.fragment]!.vertices[0] === here.vertex;
        if (first || before.fragment !== here.fragment) continue;
        if (!level.links.some((link) => link[0] === here.vertex)) links.push({ ends: [i, i - 1], link: -1 });
      }
    }
  }
  const object = row < 0 ? undefined : row;
  if (where === undefined)
    return { row, places, starts, links, satisfies: places.map(() => true), linkSatisfies: undefined };
  if (!domainsOf(where).has("link")) {
    const satisfies = places.map(({ vertex, fragment }) => holds(where, level, { vertex, fragment, object }));
    return { row, places, starts, links, satisfies, linkSatisfies: undefined };
  }
  const linkSatisfies = links.map(({ link }) => holds(where, level, { link: link < 0 ? undefined : link, object }));
  const satisfies = places.map((_, i) => links.some(({ ends }, l) => linkSatisfies[l]! && ends.includes(i)));
  return { row, places, starts, links, satisfies, linkSatisfies };
}

function positionsOf({ positions, dims }: PlainLevel, { places }: Pick<Thing, "places">): Positions {
  const Type = positions.constructor as new (values: number[]) => Positions;
  return new Type(
    places.flatMap(({ vertex }) => Array.from({ length: dims }, (_, axis) => positions[vertex * dims + axis]!)),
  );
}

const partsOf = ({ places, starts }: Thing): (readonly [number, number])[] =>
  starts.map((start, p) => [start, starts[p + 1] ?? places.length]);

const partAt = ({ starts }: Thing, place: number): number => starts.findLastIndex((start) => start <= place);

const foundAt = (level: PlainLevel, thing: Thing, place: number): Found => ({
  thing,
  at: [place, place, place],
  weights: [0, 0],
  position: Array.from(
    { length: level.dims },
    (_, axis) => level.positions[thing.places[place]!.vertex * level.dims + axis]!,
  ),
});

type Piece = Pick<Answer, "links"> & { readonly items: Item[] };

/** 3. and 4. without `clip`. */
function wholeThing(
  level: PlainLevel,
  thing: Thing,
  region: Region | undefined,
  ofVertices: boolean,
  query: Query,
): Piece {
  const positions = positionsOf(level, thing);
  const touches = (...rows: number[]): boolean =>
    region === undefined || touchesPolygon(region, positions, level.dims, rows, 0, rows.length);
  const found = thing.places.map((_, place) => foundAt(level, thing, place));
  const onlyLinks = thing.linkSatisfies !== undefined;
  const partIn = partsOf(thing).map(([from, to]) => {
    for (let i = from; i < to && !onlyLinks; i++) {
      if (thing.satisfies[i] && touches(i)) return true;
      if (isPath(level) && i > from && thing.satisfies[i] && thing.satisfies[i - 1] && touches(i - 1, i)) return true;
    }
    return thing.links.some(
      ({ ends }, l) => ends.some((end) => end >= from && end < to) && counts(thing, ends, l) && touches(...ends),
    );
  });
  const links = thing.links.map(({ ends, link }) => ({ ends: ends.map((end) => found[end]!), link }));
  if (thing.row >= 0) {
    const empty = query.object !== undefined && region === undefined && !ofVertices && query.nearest === undefined;
    const isIn = partIn[0]! || (found.length === 0 && empty);
    return isIn ? { items: [{ row: thing.row, parts: found.length === 0 ? [] : [found], order: 0 }], links } : NOTHING;
  }
  const items =
    level.geometry === "points"
      ? found.flatMap((one, i) => (thing.satisfies[i] && touches(i) ? [{ row: -1, parts: [[one]], order: i }] : []))
      : partsOf(thing).flatMap(([from, to], p) =>
          partIn[p] ? [{ row: -1, parts: [found.slice(from, to)], order: p }] : [],
        );
  return { items, links };
}

const NOTHING: Piece = { items: [], links: [] };

/** 4. with `clip`. */
function cutThing(level: PlainLevel, thing: Thing, region: Region | undefined, clip: true | "vertices"): Piece {
  const { dims } = level;
  const positions = positionsOf(level, thing);
  const inside = thing.places.map(
    (_, i) => thing.satisfies[i]! && (region === undefined || Region.contains(region, positions, dims, i)),
  );
  const found = thing.places.map((_, place) => foundAt(level, thing, place));
  const sampled = (samples: Samples, s: number): Found => {
    const [a, b, c] = [samples.a[s]!, samples.b[s]!, samples.c[s]!];
    if (a === b && a === c) return found[a]!;
    const position = Array.from(samples.positions.subarray(s * dims, (s + 1) * dims));
    return { thing, at: [a, b, c], weights: [samples.u[s]!, samples.v[s]!], position };
  };
  const parts: Found[][][] = thing.starts.map(() => []);
  let links: { ends: Found[]; link: number }[] = [];
  const whole = (kept: boolean[]): typeof links =>
    thing.links.flatMap(({ ends, link }, l) =>
      ends.every((end) => kept[end]) && counts(thing, ends, l) ? [{ ends: ends.map((end) => found[end]!), link }] : [],
    );
  const exact = clip === true && region !== undefined;
  if (isPath(level)) {
    for (const [p, [from, to]] of partsOf(thing).entries()) {
      for (const [start, end] of runs(exact ? thing.satisfies : inside, from, to)) {
        if (!exact) {
          parts[p]!.push(found.slice(start, end));
          continue;
        }
        const pieces = Pieces.of(region, positions, dims);
        clipPath(pieces, start, end);
        for (let i = 0; i < pieces.count; i++)
          parts[p]!.push(
            Array.from({ length: pieces.offsets[i + 1]! - pieces.offsets[i]! }, (_, k) =>
              sampled(pieces.samples, pieces.offsets[i]! + k),
            ),
          );
      }
    }
  } else {
    for (const [p, [from, to]] of partsOf(thing).entries())
      parts[p]!.push(found.slice(from, to).filter((_, i) => inside[from + i]));
    const cutLinks = exact && linkWidth(level) > 1;
    if (!cutLinks) links = whole(inside);
    else {
      const chosen = thing.links.filter(({ ends }, l) => counts(thing, ends, l));
      const add = (source: number, ends: Found[]): void => {
        const own = chosen[source]!;
        links.push({ ends, link: own.link });
        const part = parts[partAt(thing, own.ends[0]!)]![0]!;
        for (const end of ends) if (!found.includes(end) && !parts.flat(2).includes(end)) part.push(end);
      };
      const rows = chosen.flatMap(({ ends }) => ends);
      if (linkWidth(level) === 2) {
        const pieces = Pieces.of(region, positions, dims);
        clipSegments(pieces, rows);
        for (let i = 0; i < pieces.count; i++) {
          const from = pieces.offsets[i]!;
          if (pieces.offsets[i + 1]! - from === 2)
            add(pieces.sources[i]!, [sampled(pieces.samples, from), sampled(pieces.samples, from + 1)]);
        }
      } else {
        const mesh = clipMesh(region, positions, dims, rows, linkWidth(level));
        const made = Array.from({ length: mesh.samples.count }, (_, s) => sampled(mesh.samples, s));
        for (let t = 0; t < mesh.sources.length; t++)
          add(
            mesh.sources[t]!,
            Array.from(mesh.triangles.subarray(3 * t, 3 * t + 3), (s) => made[s]!),
          );
      }
    }
  }
  const kept = parts.map((own) => own.filter((part) => part.length > 0));
  if (thing.row >= 0)
    return { items: kept[0]!.length > 0 ? [{ row: thing.row, parts: kept[0]!, order: 0 }] : [], links };
  const items = kept.flatMap((own, p): Item[] => {
    if (level.geometry !== "points") return own.length > 0 ? [{ row: -1, parts: own, order: p }] : [];
    return own.flat().map((one) => ({ row: -1, parts: [[one]], order: one.at[0] }));
  });
  return { items, links };
}

function runs(mask: readonly boolean[], from: number, to: number): [number, number][] {
  const out: [number, number][] = [];
  for (let i = from; i < to; i++) {
    if (!mask[i]) continue;
    if (i > from && mask[i - 1]) out.at(-1)![1] = i + 1;
    else out.push([i, i + 1]);
  }
  return out;
}

/** Links that no object has all ends of, between the first that have one each; never cut. */
function between(
  level: PlainLevel,
  things: readonly Thing[],
  items: readonly Item[],
  where: Where | undefined,
  cut: boolean,
  region: Region | undefined,
): { ends: Found[]; link: number }[] {
  if (linkWidth(level) === 0) return [];
  const kept = items.flatMap(({ parts }) => parts.flat());
  const out: { ends: Found[]; link: number }[] = [];
  for (const [link, ends] of level.links.entries()) {
    const owners = ends.map((vertex) => ownersOf(level, vertex));
    if (owners.every((own) => own.length === 0) || owners[0]!.some((row) => owners.every((own) => own.includes(row))))
      continue;
    const found = ends.map((vertex, k) => {
      const row = owners[k]!.length === 0 ? -1 : Math.min(...owners[k]!);
      const thing = things.find((own) => own.row === row);
      const place = thing?.places.findIndex((own) => own.vertex === vertex) ?? -1;
      return kept.find((own) => own.thing === thing && own.at.every((at) => at === place));
    });
    if (found.includes(undefined)) continue;
    const whole = found as Found[];
    const object = whole[0]!.thing.row < 0 ? undefined : whole[0]!.thing.row;
    if (where !== undefined && domainsOf(where).has("link") && !holds(where, level, { link, object })) continue;
    if (!cut || linkWidth(level) === 2) out.push({ ends: whole, link });
    else for (const triangle of fan(level, whole, region!)) out.push({ ends: triangle, link });
  }
  return out;
}

function fan({ dims, linkWidth, positions }: PlainLevel, ends: readonly Found[], region: Region): Found[][] {
  const different = [...new Set(ends)];
  const Type = positions.constructor as new (values: number[]) => Positions;
  const rows = ends.map((end) => different.indexOf(end));
  const mesh = clipMesh(region, new Type(different.flatMap(({ position }) => position)), dims, rows, linkWidth);
  return mesh.sources.reduce<Found[][]>((all, _, t) => {
    all.push(Array.from(mesh.triangles.subarray(3 * t, 3 * t + 3), (s) => different[mesh.samples.a[s]!]!));
    return all;
  }, []);
}
