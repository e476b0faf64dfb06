/**
 * What the reference's readers of whole geometries gave (`typed` of expected.json), against `select` of the same. The reference
 * numbers vertices in the order of chunks, `select` in the order of objects: so what is compared are points, paths, edges and
 * faces as the coordinates of their vertices, each as often as it occurs.
 */
import { NotFound } from "../../src/errors.js";
import type { ZarrVectors } from "../../src/format/zarr-vectors/index.js";
import type { Batch, Query } from "../../src/model/vectors.js";
import { Failed } from "./case.js";
import { flat, isError, type Said, same, spell, valuesOf } from "./zarr-vectors-values.js";

const text = (values: Iterable<unknown>): string => JSON.stringify(Array.from(values, spell));
const sorted = (list: readonly string[]): string[] => [...list].sort();

/** The coordinates of vertex v. */
const vertex = ({ positions, dims }: Batch, v: number): string => text(positions.subarray(v * dims, (v + 1) * dims));
const vertices = (batch: Batch): string[] =>
  Array.from({ length: batch.positions.length / batch.dims }, (_, v) => vertex(batch, v));

/** By object, its vertices one after the other. */
function paths(batch: Batch): Map<bigint, string[]> {
  const out = new Map<bigint, string[]>(Array.from(batch.ids, (id) => [id, []]));
  for (const [part, row] of batch.objects.entries())
    for (let v = batch.parts[part]!; v < batch.parts[part + 1]!; v++) out.get(batch.ids[row]!)!.push(vertex(batch, v));
  return out;
}

function links(batch: Batch): string[] {
  const { width = 0, ends = new Uint32Array() } = batch.links ?? {};
  return Array.from({ length: ends.length / (width || 1) }, (_, l) =>
    Array.from({ length: width }, (_, k) => vertex(batch, ends[l * width + k]!)).join(" "),
  );
}

/** An id that is not there is an error; the reference answers with nothing. */
async function compareUnknown(dataset: ZarrVectors, query: Query, at: string): Promise<void> {
  const error = await dataset
    .select(query)
    .read()
    .then(
      () => undefined,
      (error: unknown) => error,
    );
  if (!(error instanceof NotFound)) throw new Failed(`${at} should not be found, got ${String(error)}`);
}

/** Compares one answer with what `select` gives for the same question. */
async function compareAnswer(dataset: ZarrVectors, query: Query, said: Said, at: string): Promise<void> {
  const batch = await dataset.select(query).read();
  if (said.polylines !== undefined) {
    const wanted = said.polylines.map((fragments: Said[]) => fragments.flatMap(rows).join(" "));
    const found = [...paths(batch).values()].map((path) => path.join(" "));
    same(sorted(found.filter((path) => path !== "")), sorted(wanted.filter((path: string) => path !== "")), at);
  } else if (said.endpoints !== undefined) {
    const wanted = said.endpoints.data.map((line: Said) => line.map((end: Said) => JSON.stringify(end)).join(" "));
    same(sorted([...paths(batch).values()].map((path) => path.join(" "))), sorted(wanted), at);
  } else {
    const points = rows(said.positions ?? said.vertices);
    // A vertex of a coarse level that several objects share is in each of them; the reference has it once.
    const once = (list: readonly string[]) => sorted((query.level ?? 0) > 0 ? [...new Set(list)] : list);
    same(once(vertices(batch)), once(points), at);
    const wanted = (said.edges ?? said.faces ?? said.links)?.data.map((link: number[]) =>
      link.map((v) => points[v]).join(" "),
    );
    if (wanted !== undefined && batch.geometry !== "points") compareLinks(batch, wanted, at);
    const ids = said.object_ids && [...new Set(flat(said.object_ids).map((id) => JSON.stringify(id)))];
    if (ids)
      same(sorted(Array.from(batch.ids, (id) => JSON.stringify(spell(id)))), sorted(ids), `the objects of ${at}`);
  }
  for (const [name, values] of Object.entries<Said>(said.vertex_attributes ?? {})) {
    const { info, values: codes } = batch.vertexColumns.get(name) ?? { info: undefined, values: [] };
    const found = info?.categories
      ? Array.from(codes as Uint8Array, (code) => info.categories![code] ?? null)
      : info && valuesOf({ info, values: codes });
    same(sorted((found ?? []).map((value) => text([value]))), sorted(flat(values).map((value) => text([value]))), at);
  }
}

/** Edges of a skeleton that the fragment implies are given by `select`, too: the stored ones must be among them. */
function compareLinks(batch: Batch, wanted: readonly string[], at: string): void {
  const found = links(batch);
  if (batch.geometry !== "skeletons") {
    same(sorted(found), sorted(wanted), `the links of ${at}`);
    return;
  }
  const there = new Set(found.flatMap((link) => [link, link.split(" ").reverse().join(" ")]));
  const lost = wanted.find((link) => !there.has(link));
  if (lost !== undefined || found.length !== wanted.length)
    throw new Failed(`the edges of ${at} are ${found.length}, the reference has ${wanted.length}, also ${lost}`);
}

const rows = (said: Said): string[] => (said.data as Said[]).map((row) => JSON.stringify(row));

export async function compareTyped(dataset: ZarrVectors, typed: Said): Promise<void> {
  for (const [name, said] of Object.entries<Said>(typed)) {
    if (name === "layout" || isError(said)) continue; // how it was sharded; what the reference could not do
    if (name === "parametric") await compareParametric(dataset, said);
    else if (name === "levels" || name === "obj3")
      for (const [level, one] of Object.entries<Said>("positions" in said ? { 0: said } : said))
        await compareAnswer(dataset, { level: Number(level), ...queryOf(name, one, typed) }, one, `${name} ${level}`);
    else if (name === "object_vertices") await compareObjects(dataset, said);
    else if (name === "composite")
      for (const [type, one] of Object.entries<Said>(said)) await compareComposite(dataset, type, one);
    // Object 1 of a level that was numbered anew: by its level0_object_id it is object 4, which the reference does not look at.
    else if (name === "obj1_level1")
      await compareAnswer(dataset, { level: 1, object: [4] }, { ...said, object_ids: { data: [4] } }, name);
    else if (name === "bbox" && said.query === undefined) await compareWithin(dataset, said);
    else if (name === "bbox")
      await compareAnswer(dataset, { box: said.query.flat(), clip: "vertices" }, said.result, name);
    else {
      const level = /_level(\d)$/.exec(name)?.[1];
      if (name === "id0") {
        await compareUnknown(dataset, { object: [0n] }, name);
        continue;
      }
      const query = { ...queryOf(name, said, typed), ...(level === undefined ? {} : { level: Number(level) }) };
      await compareAnswer(dataset, query, said, name);
    }
  }
}

/** The question behind an answer. Which ids were asked for is told by the answer's objects in the answer for all. */
function queryOf(name: string, said: Said, typed: Said): Query {
  const group = /^group(\d+)$/.exec(name)?.[1];
  if (group !== undefined) return { group: [Number(group)] };
  const id = /^(?:obj|id)(\d+)/.exec(name)?.[1];
  if (id !== undefined) return { object: [BigInt(id)] };
  if (name === "idbig")
    return {
      object: [BigInt(flat(said.object_ids)[0] instanceof Object ? (flat(said.object_ids)[0] as Said).int : 0)],
    };
  if (name === "filter_B") return { where: "gene = 'B'" };
  if (name !== "ids") return {};
  const all = (typed.all.polylines ?? typed.all.endpoints.data).map((one: Said) => JSON.stringify(one));
  const some = said.polylines ?? said.endpoints.data;
  return { object: some.map((one: Said) => all.indexOf(JSON.stringify(one))) };
}

/** The box of the question is not recorded: what the answer holds must be among what there is. */
async function compareWithin(dataset: ZarrVectors, said: Said): Promise<void> {
  const batch = await dataset.select({}).read();
  const there = new Set(vertices(batch));
  const wanted =
    said.endpoints === undefined
      ? rows(said.vertices)
      : said.endpoints.data.flat().map((end: Said) => JSON.stringify(end));
  const lost = wanted.find((point: string) => !there.has(point));
  if (lost !== undefined) throw new Failed(`the box has ${lost}, which select does not give`);
}

/** By row of the index, its fragments one after the other. */
async function compareObjects(dataset: ZarrVectors, said: Said): Promise<void> {
  const found = paths(await dataset.select({}).read());
  for (const [row, fragments] of Object.entries<Said>(said)) {
    if (row === "raw_manifest_blobs_hex") continue;
    same(found.get(BigInt(row)) ?? [], fragments.flatMap(rows), `object ${row}`);
  }
}

async function compareParametric(dataset: ZarrVectors, said: Said): Promise<void> {
  const { objects = [] } = (await dataset.parametric()) ?? {};
  same([objects.length], [said.length], "the parametric objects");
  for (const [i, { type, name, coefficients, coefficientNames }] of objects.entries()) {
    const one = said[i];
    same([type, name], [one.type, one.name], `parametric object ${i}`);
    same(coefficients, one.coefficients, `the coefficients of parametric object ${i}`);
    if (one.coefficient_names) same(coefficientNames, one.coefficient_names, `their names`);
  }
}

const GEOMETRIES = { mesh: "mesh", streamline: "streamlines", point_cloud: "points" } as const;

async function compareComposite(dataset: ZarrVectors, type: string, said: Said): Promise<void> {
  const geometry = GEOMETRIES[type as keyof typeof GEOMETRIES];
  await compareAnswer(dataset, { geometry } as Query, said, type);
}
