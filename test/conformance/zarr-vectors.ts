/**
 * The Zarr Vectors set: DIR/zarr-vectors/<version>/<name>/ has a store and expected.json, what the reference of that version
 * read from it; corrupt/<base>/<name>/ has what was done to a store, and how the reference took it.
 *
 * A store passes when every value that the reference read is what Octavo reads, and validation finds no error. Where the
 * reference read nothing, or something else than what is stored, the truth counts; those cases are listed here.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { OctavoError } from "../../src/errors.js";
import { openZarrVectors, type ZarrVectors, zarrVectors } from "../../src/format/zarr-vectors/index.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { type Case, Failed } from "./case.js";
import { compareTyped } from "./zarr-vectors-typed.js";
import { compareLevel, compareRoot, flat, type Said, same } from "./zarr-vectors-values.js";

/** What is no damage: read equal to the store that it was made from. */
const HARMLESS: { readonly [name: string]: string } = {
  version_future: "the structure says how to read it; a note says that the number is unknown",
  zv_version_future: "the structure says how to read it; a note says that the number is unknown",
  version_0_8_0: "the structure says how to read it; a finding says that the number and the structure disagree",
  nonempty_chunks_absent: "the chunks are found by listing",
  nonempty_chunks_omits: "the directory of vertex_fragments names the chunk",
  missing_array_group_json: "groups between may have no document",
  ccl_num_links_wrong: "the links themselves are whole; a finding says that the count is wrong",
  links_num_records_wrong: "the links themselves are whole; a finding says that the count is wrong",
  level_vertex_count_wrong: "the vertices themselves are whole; a finding says that the count is wrong",
  geometry_type_unknown: "the vertices are there; a finding names the unknown kind",
  vertices_nan: "NaN is a value; a finding says where it is",
  level_gap: "the levels that are there are read; a finding says that some are missing",
};

/** What is wrong with stores that the references call valid. */
const TRUE_FINDINGS: readonly (readonly [store: string, rule: string])[] = [
  // shard_store of 0.3 deleted the object index
  ["v0.3/points_sharded_legacy", "zarr-vectors/object-index"],
  // made by hand: manifests share fragments and no flag says so
  ["v0.9.2/manifest_modes", "zarr-vectors/fragments-disjoint"],
  ["v0.9.2/pyramid_renumbered_handbuilt", "zarr-vectors/fragments-disjoint"],
  // made by hand: the vertices of level 1 were chosen, the bounds are those of level 0
  ["v0.9.2/pyramid_renumbered_handbuilt", "zarr-vectors/bounds"],
];

export function zarrVectorsCases(folder: string): Case[] {
  const cases: Case[] = [];
  for (const version of readdirSync(folder).sort()) {
    if (version === "corrupt") continue;
    for (const name of storesIn(join(folder, version)))
      cases.push({ name: `zarr-vectors/${version}/${name}`, run: () => checkStore(join(folder, version, name)) });
  }
  const corrupt = join(folder, "corrupt");
  for (const base of existsSync(corrupt) ? readdirSync(corrupt).sort() : [])
    for (const name of storesIn(join(corrupt, base)))
      cases.push({
        name: `zarr-vectors/corrupt/${base}/${name}`,
        run: () => checkDamaged(folder, join(corrupt, base, name), name),
      });
  return cases;
}

const storesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder)
        .filter((name) => existsSync(join(folder, name, "store.zarrvectors")))
        .sort()
    : [];

const expectedOf = (folder: string): Said => JSON.parse(readFileSync(join(folder, "expected.json"), "utf8"));
const storeOf = (folder: string) => fileStore(join(folder, "store.zarrvectors"));

async function checkStore(folder: string): Promise<string> {
  const dataset = await openZarrVectors(storeOf(folder));
  const { dump, typed } = expectedOf(folder);
  compareRoot(dataset, dump);
  same(dataset.opened.levels.map(String), Object.keys(dump.levels).sort(), "the levels");
  // The readers of those versions found nothing in their own shards: what is there is the store before it was sharded.
  const sharded = folder.endsWith("points_sharded_legacy");
  const cells = join(folder, "expected_draco_cells.json");
  const draco = existsSync(cells);
  if (sharded) await compareCounts(dataset);
  else for (const level of dataset.opened.levels) await compareLevel(dataset, level, dump.levels[level]);
  // Nor do they decode Draco: up to 0.7 they answer with no vertices, then with an error.
  if (draco) await compareDraco(dataset, JSON.parse(readFileSync(cells, "utf8")));
  if (!sharded && !draco) await compareTyped(dataset, typed);
  const [error] = (await errorsOf(folder)).filter(
    (found) => !TRUE_FINDINGS.some(([store, rule]) => folder.endsWith(store) && found.startsWith(`${rule} `)),
  );
  if (error !== undefined) throw new Failed(`validate says ${error}`);
  return `${dump.root_metadata.zarr_vectors.geometry_types.join(", ")}, ${dataset.levels.length} levels${sharded ? "; what the reference read is nothing" : ""}`;
}

/** As many vertices as the level says, all of them with their attributes. */
async function compareCounts(dataset: ZarrVectors): Promise<void> {
  for (const { level, vertices } of dataset.levels) {
    const { positions, dims, vertexColumns } = await dataset.select({ level }).read();
    same([positions.length / dims], [vertices], `the vertices of level ${level}`);
    for (const { values, info } of vertexColumns.values())
      same([values.length / info.channels], [vertices], `the values of ${info.name}`);
  }
}

/** What another decoder of Draco read from the cells. */
async function compareDraco(dataset: ZarrVectors, said: Said): Promise<void> {
  const source = await dataset.source(0);
  const { count, rank, coords } = await source.chunks();
  const keyOf = (chunk: number) => coords.subarray(chunk * rank, (chunk + 1) * rank).join(".");
  const all = Array.from({ length: count }, (_, chunk) => chunk);
  for await (const { chunk, positions } of source.tiles(all, { positions: true, vertex: [], fragment: [] }))
    same(Array.from(positions), flat(said[keyOf(chunk)].points), `the points of chunk ${keyOf(chunk)}`);
  for (const chunk of all) {
    const faces: number[] = [];
    for await (const set of source.links({ chunks: [chunk] }, []))
      for (let l = 0; l < set.count; l++) {
        const ends = set.chunks.subarray(l * set.width, (l + 1) * set.width);
        if (ends.every((end) => end === chunk))
          faces.push(...set.vertices.subarray(l * set.width, (l + 1) * set.width));
      }
    const wanted = said[keyOf(chunk)].faces;
    same(faces, wanted === null ? [] : flat(wanted), `the faces of chunk ${keyOf(chunk)}`);
  }
}

async function errorsOf(folder: string): Promise<string[]> {
  const out: string[] = [];
  for await (const { severity, rule, where, message } of zarrVectors.validate(storeOf(folder), Prefix.root))
    if (severity === "error") out.push(`${rule} at ${where}: ${message}`);
  return out;
}

/** Reads everything of every level; the error of Octavo that this ends with, or undefined. Other errors pass through. */
async function reading(folder: string): Promise<OctavoError | undefined> {
  try {
    const dataset = await openZarrVectors(storeOf(folder));
    for (const { level } of dataset.levels) {
      await dataset.select({ level }).read();
      for (const { group } of await dataset.groups(level)) await dataset.select({ level, group: [group] }).read();
      await dataset.groupColumns(level);
    }
    return undefined;
  } catch (error) {
    if (error instanceof OctavoError) return error;
    throw error;
  }
}

async function checkDamaged(folder: string, store: string, name: string): Promise<string> {
  const findings = await errorsOf(store);
  const error = await reading(store);
  const harmless = HARMLESS[name];
  if (harmless !== undefined) {
    if (error !== undefined) throw new Failed(`${error.message}, although ${harmless}`);
    const { base } = expectedOf(store);
    const original = join(folder, base);
    if (existsSync(original) && name !== "level_gap" && name !== "vertices_nan") await compareWithBase(store, original);
    return harmless;
  }
  const seen = error?.message ?? findings[0];
  if (seen === undefined) throw new Failed("no error, though it is damaged");
  if (findings.length === 0) throw new Failed(`reading says "${seen}", but validate reports no error`);
  return seen;
}

async function compareWithBase(store: string, original: string): Promise<void> {
  const dataset = await openZarrVectors(storeOf(store));
  const { dump } = expectedOf(original);
  for (const level of dataset.opened.levels) {
    const said = dump.levels[level];
    const { vertexCount } = await dataset.opened.level(level);
    const own = { ...said.metadata.zarr_vectors_level, vertex_count: vertexCount };
    await compareLevel(dataset, level, { ...said, metadata: { zarr_vectors_level: own } });
  }
}
