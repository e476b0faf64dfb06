/** Two objects: the same vertices, joined in the same way, with the same attributes. */
import type { Batch, Columns, Domain } from "../model/vectors.js";
import { apart, coordinate, paired, sameOrder, sorted, surroundings, type Vertices } from "./pairing.js";
import type { Findings } from "./report.js";
import type { Rescalings } from "./units.js";
import { comparer, rowText } from "./values.js";

/** An object, or what belongs to none, in a batch. */
export interface Thing {
  readonly batch: Batch;
  /** The row of its id; −1 where it has none. */
  readonly row: number;
  readonly vertices: Vertices;
  /** Vertices of each part. */
  readonly lengths: readonly number[];
  /** Rows of its links in the batch, and their ends as numbers into `vertices`. */
  readonly linkRows: Uint32Array;
  readonly links: Uint32Array;
}

/** The objects of a batch by row; what has no object is at −1. */
export function thingsIn(batch: Batch, scale: readonly number[]): Map<number, Thing> {
  const { parts, objects, ids, positions } = batch;
  const found = new Map<number, { rows: number[]; lengths: number[]; links: number[]; ends: number[] }>();
  const empty = () => ({ rows: [], lengths: [], links: [], ends: [] });
  for (let row = 0; row < ids.length; row++) found.set(row, empty());
  const owner = new Int32Array(positions.length / scale.length);
  const place = new Uint32Array(owner.length);
  for (let part = 0; part < objects.length; part++) {
    const row = objects[part]!;
    const own = found.get(row) ?? empty();
    found.set(row, own);
    own.lengths.push(parts[part + 1]! - parts[part]!);
    for (let vertex = parts[part]!; vertex < parts[part + 1]!; vertex++) {
      [owner[vertex], place[vertex]] = [row, own.rows.length];
      own.rows.push(vertex);
    }
  }
  const { width = 1, ends = new Uint32Array() } = batch.links ?? {};
  for (let link = 0; link < ends.length / width; link++) {
    const own = ends.subarray(link * width, (link + 1) * width);
    const row = owner[own[0]!]!;
    if (!own.every((end) => owner[end] === row)) continue; // between objects
    const { links, ends: list } = found.get(row)!;
    links.push(link);
    for (const end of own) list.push(place[end]!);
  }
  return new Map(
    [...found].map(([row, { rows, lengths, links, ends: list }]) => [
      row,
      {
        batch,
        row,
        vertices: { positions, rows: Uint32Array.from(rows), scale },
        lengths,
        linkRows: Uint32Array.from(links),
        links: Uint32Array.from(list),
      },
    ]),
  );
}

export interface Comparing {
  readonly findings: Findings;
  readonly tolerance: number;
  /** Attributes that both have, and that are compared. */
  readonly names: { readonly [domain in ComparedDomain]: readonly string[] };
  /** How the second's have been brought to the units of the first. */
  readonly units: Rescalings;
}

type ComparedDomain = Exclude<Domain, "fragment">;

export function compareThings(a: Thing, b: Thing, where: string, how: Comparing): void {
  const { findings } = how;
  findings.compared.vertices += a.vertices.rows.length;
  if (a.row >= 0 && b.row >= 0)
    compareRows(a.batch.objectColumns, b.batch.objectColumns, "object", [[a.row, b.row]], () => where, how);
  const [n, m] = [a.vertices.rows.length, b.vertices.rows.length];
  if (n !== m) findings.tell("vertices", where, () => `${n} vertices in the first, ${m} in the second`);
  const pairs = n === m ? pairing(a, b, where, how) : undefined;
  if (pairs === undefined) return;
  const at = (vertex: number): string => (n === 1 ? where : `${where}, vertex ${vertex}`);
  if (how.names.vertex.length > 0) {
    const rows = Array.from(pairs, (w, v) => [a.vertices.rows[v]!, b.vertices.rows[w]!] as const);
    compareRows(a.batch.vertexColumns, b.batch.vertexColumns, "vertex", rows, at, how);
  }
  compareLinks(a, b, pairs, where, how);
}

const isPath = ({ geometry }: Batch): boolean =>
  geometry === "lines" || geometry === "polylines" || geometry === "streamlines";

/** The vertex of b for each of a; undefined where they are not the same, which is told. */
function pairing(a: Thing, b: Thing, where: string, { findings, tolerance, names }: Comparing): Int32Array | undefined {
  const count = a.vertices.rows.length;
  const inOrder = sameOrder(a.vertices, b.vertices, tolerance);
  if (isPath(a.batch) && `${a.lengths}` !== `${b.lengths}`) {
    const told = (lengths: readonly number[]): string => `${lengths.length} parts of ${lengths.slice(0, 5)} vertices`;
    findings.tell("vertices", where, () => `${told(a.lengths)} in the first, ${told(b.lengths)} in the second`);
    return undefined;
  }
  const straight = Int32Array.from({ length: count }, (_, vertex) => vertex);
  if (!inOrder && isPath(a.batch)) {
    const first = straight.findIndex((vertex) => !(apart(a.vertices, vertex, b.vertices, vertex) <= tolerance));
    findings.tell("positions", `${where}, vertex ${first}`, () => told(a.vertices, first, b.vertices, first));
    return undefined;
  }
  const joinedAlike = a.links.length === b.links.length && a.links.every((end, i) => end === b.links[i]);
  const pairs =
    inOrder && (tolerance > 0 || joinedAlike)
      ? straight
      : paired(a.vertices, b.vertices, tolerance, [ordered(a, names), ordered(b, names)]);
  const lost = pairs.indexOf(-1);
  if (lost >= 0) {
    const missing = pairs.reduce((sum, pair) => sum + (pair < 0 ? 1 : 0), 0);
    const place = placeOf(a.vertices, lost);
    findings.tell("positions", `${where}, vertex ${lost}`, () => `the second has nothing at ${place}`, missing);
    return undefined;
  }
  for (let vertex = 0; vertex < count; vertex++)
    findings.furthest = Math.max(findings.furthest, apart(a.vertices, vertex, b.vertices, pairs[vertex]!));
  return pairs;
}

const placeOf = (vertices: Vertices, vertex: number): string =>
  `(${vertices.scale.map((_, axis) => coordinate(vertices, vertex, axis)).join(", ")})`;
const told = (a: Vertices, v: number, b: Vertices, w: number): string =>
  `${placeOf(a, v)} in the first, ${placeOf(b, w)} in the second`;

/** The vertices in an order that does not depend on how they are numbered. */
function ordered({ batch, vertices, links }: Thing, names: Comparing["names"]): Uint32Array {
  const texts = names.vertex.map((name) => rowText(batch.vertexColumns.get(name)!));
  const own = (vertex: number): string => texts.map((text) => text(vertices.rows[vertex]!)).join(" ");
  let order = sorted(vertices, own);
  if (links.length === 0) return order;
  const { width } = batch.links!;
  for (let round = 0; round < 3; round++) {
    const classes = new Uint32Array(order.length);
    let twins = false;
    for (let i = 1; i < order.length; i++) {
      const [v, w] = [order[i - 1]!, order[i]!];
      const alike = vertices.scale.every((_, axis) => coordinate(vertices, v, axis) === coordinate(vertices, w, axis));
      twins ||= alike;
      classes[w] = alike ? classes[v]! : i;
    }
    if (!twins) break;
    const around = surroundings(links, width, classes);
    order = sorted(vertices, (vertex) => `${own(vertex)} ${around(vertex)}`);
  }
  return order;
}

/** The attributes of a domain, of these pairs of rows. */
export function compareRows(
  a: Columns,
  b: Columns,
  domain: ComparedDomain,
  pairs: readonly (readonly [number, number])[],
  where: (pair: number) => string,
  { findings, names, units }: Comparing,
): void {
  for (const name of names[domain]) {
    const [first, second] = [a.get(name), b.get(name)];
    if (first === undefined || second === undefined || first.info.channels !== second.info.channels) continue;
    const rounded = (): void =>
      void findings.notes.add(`values of ${name} are the same but for the rounding of float32`);
    const alike = comparer(first, second, units[domain].get(name)?.single ? rounded : undefined);
    let [differing, at] = [0, -1];
    for (let i = 0; i < pairs.length; i++) {
      if (alike(pairs[i]![0], pairs[i]![1])) continue;
      if (at < 0) at = i;
      differing++;
    }
    if (at < 0) continue;
    const [v, w] = pairs[at]!;
    const message = () => `${name} is ${rowText(first)(v)} in the first, ${rowText(second)(w)} in the second`;
    findings.tell("values", where(at), message, differing);
  }
}

/** Links as numbers of vertices of b, each begun at its smallest where it is a face, in ascending order. */
function compareLinks(a: Thing, b: Thing, pairs: Int32Array, where: string, how: Comparing): void {
  const [width, other] = [a.batch.links?.width, b.batch.links?.width];
  if (width === undefined && other === undefined) return;
  const { findings } = how;
  const [n, m] = [a.linkRows.length, b.linkRows.length];
  if (n === 0 && m === 0) return;
  const word = (width ?? other) === 2 ? "edges" : "faces";
  if (width !== other || n !== m) findings.tell("links", where, () => `${n} ${word} in the first, ${m} in the second`);
  if (width === undefined || width !== other || n !== m) return;
  const textsOf = ({ batch, linkRows }: Thing) => {
    const texts = how.names.link.map((name) => rowText(batch.links!.columns.get(name)!));
    return (link: number): string => texts.map((text) => text(linkRows[link]!)).join(" ");
  };
  const first = canonical(
    Uint32Array.from(a.links, (end) => pairs[end]!),
    width,
    textsOf(a),
  );
  const second = canonical(b.links, width, textsOf(b));
  const rows: [number, number][] = [];
  for (let i = 0; i < n; i++) {
    const [own, its] = [first.order[i]!, second.order[i]!];
    for (let k = 0; k < width; k++) {
      if (first.ends[own * width + k] === second.ends[its * width + k]) continue;
      const ends = Array.from(a.links.subarray(own * width, (own + 1) * width));
      const places = ends.map((end) => placeOf(a.vertices, end)).join(", ");
      findings.tell("links", where, () => `the second does not join ${places} in this way`);
      return;
    }
    rows.push([a.linkRows[own]!, b.linkRows[its]!]);
  }
  const at = (link: number): string => `${where}, link ${rows[link]![0]}`;
  compareRows(a.batch.links!.columns, b.batch.links!.columns, "link", rows, at, how);
}

function canonical(
  links: Uint32Array,
  width: number,
  textOf: (link: number) => string,
): { readonly ends: Uint32Array; readonly order: Uint32Array } {
  const ends = links.slice();
  for (let at = 0; width > 2 && at < ends.length; at += width) {
    const own = links.subarray(at, at + width);
    const turn = own.indexOf(own.reduce((least, end) => Math.min(least, end)));
    for (let k = 0; k < width; k++) ends[at + k] = own[(k + turn) % width]!;
  }
  const order = Uint32Array.from({ length: ends.length / width }, (_, link) => link).sort((v, w) => {
    for (let k = 0; k < width; k++) {
      const order = ends[v * width + k]! - ends[w * width + k]!;
      if (order !== 0) return order;
    }
    const [a, b] = [textOf(v), textOf(w)]; // the same ends: what they carry tells them apart
    return a < b ? -1 : a > b ? 1 : v - w;
  });
  return { ends, order };
}
