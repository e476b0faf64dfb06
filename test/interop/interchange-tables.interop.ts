/** Tables and point clouds both ways: what pyarrow, laspy and numpy write, Octavo reads; what Octavo writes of it, they read as the same. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { halfToNumber } from "../../src/bytes/half.js";
import { kindNamed } from "../../src/format/interchange/kinds.js";
import type { Column } from "../../src/model/attributes.js";
import type { VectorDataset } from "../../src/model/vectors.js";
import { open } from "../../src/node.js";
import { dataOf, written } from "../interchange.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("interchange");
const folder = mkdtempSync(join(tmpdir(), "octavo-tables-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Plain = string | number | null | Plain[];
const said = (path: string): { [name: string]: Plain[] } =>
  JSON.parse(runPeer("interchange", "ic_tables.py", "read", path).replaceAll("NaN", "null"));

/** A column as the peer tells of one: whole numbers as text, nothing for what is absent. */
function plain({ info, values }: Column): Plain[] {
  const { dtype, absent, channels } = info;
  const one = (at: number): Plain => {
    const value = values[at]!;
    if (value === absent || Number.isNaN(value)) return null;
    if (dtype.kind === "int" || dtype.kind === "uint") return String(value);
    if (dtype.kind === "float" && dtype.size === 2) return halfToNumber(value as number);
    return typeof value === "bigint" ? String(value) : value;
  };
  const flat = Array.from({ length: values.length }, (_, at) => one(at));
  if (channels === 1) return flat;
  return Array.from({ length: flat.length / channels }, (_, row) => flat.slice(row * channels, (row + 1) * channels));
}

async function read(path: string) {
  const dataset = (await open(path)) as VectorDataset;
  const { positions, ids, vertexColumns } = await dataset.select().read();
  const rows = Array.from({ length: positions.length / 3 }, (_, i) => [...positions.subarray(3 * i, 3 * i + 3)]);
  return {
    dataset,
    rows,
    ids: [...ids].map(String),
    flags: new Set([...vertexColumns].filter(([, { info }]) => info.dtype.kind === "bool").map(([name]) => name)),
    columns: new Map([...vertexColumns].map(([name, own]) => [name, plain(own)])),
  };
}

/** The coordinates that the peer tells of, whatever it calls them. */
const places = (peer: { [name: string]: Plain[] }): Plain[] =>
  peer.positions ?? peer.pt_position ?? peer.x!.map((x, i) => [x, peer.y![i]!, peer.z![i]!]);

const PLACES = ["x", "y", "z", "positions", "pt_position"];

const rewrite = async (dataset: VectorDataset, name: string): Promise<string> => {
  const { file } = await kindNamed(name)!.load();
  const path = join(folder, name);
  writeFileSync(path, (await written(file, await dataOf(dataset))).bytes);
  return path;
};

function same(
  own: Awaited<ReturnType<typeof read>>,
  peer: { [name: string]: Plain[] },
  skip: readonly string[] = [],
): void {
  expect(own.rows).toEqual(places(peer));
  for (const [name, values] of Object.entries(peer)) {
    if (PLACES.includes(name) || skip.includes(name)) continue;
    // laspy has flags as whole numbers
    const flags = own.flags.has(name) ? values.map(Number) : values;
    const found = name === "id" && own.ids.length > 0 ? own.ids : own.columns.get(name);
    expect(found?.length, name).toBe(values.length);
    expect(found, name).toEqual(flags);
  }
}

describe.skipIf(reason !== undefined)(`tables and point clouds${reason === undefined ? "" : `: ${reason}`}`, () => {
  beforeAll(() => void runPeer("interchange", "ic_tables.py", "write", folder), 300_000);
  const files = (end: string): string[] =>
    readdirSync(folder)
      .filter((name) => name.endsWith(end) && !name.startsWith("own"))
      .map((name) => join(folder, name));

  it("Parquet of every codec and both kinds of pages", { timeout: 300_000 }, async () => {
    const peer = said(join(folder, "none-1.0.parquet"));
    expect(files(".parquet").length).toBe(12);
    for (const path of files(".parquet")) same(await read(path), peer);
    const back = await rewrite((await read(join(folder, "zstd-2.0.parquet"))).dataset, "own.parquet");
    const again = said(back);
    expect(Object.keys(again).slice(0, 4)).toEqual(["id", "x", "y", "z"]);
    expect(places(again)).toEqual(places(peer));
    for (const name of ["id", "root", "i8", "u32", "gap", "f32", "flag", "name", "kind"])
      expect(again[name], name).toEqual(peer[name]);
  });

  it("Arrow: files, streams, lz4 and zstd", { timeout: 300_000 }, async () => {
    const peer = said(join(folder, "uncompressed.feather"));
    for (const name of ["uncompressed.feather", "lz4.feather", "zstd.feather", "stream.arrow"])
      same(await read(join(folder, name)), peer);
    const again = said(await rewrite((await read(join(folder, "lz4.feather"))).dataset, "own.feather"));
    expect(places(again)).toEqual(places(peer));
    for (const name of ["id", "root", "i8", "u32", "gap", "f32", "flag", "name", "kind"])
      expect(again[name], name).toEqual(peer[name]);
  });

  it("CSV", { timeout: 300_000 }, async () => {
    const peer = said(join(folder, "flat.csv"));
    const own = await read(join(folder, "flat.csv"));
    same(own, peer);
    const again = said(await rewrite(own.dataset, "own.csv"));
    expect(again).toEqual(Object.fromEntries(Object.keys(again).map((name) => [name, peer[name]])));
  });

  it("numpy", { timeout: 300_000 }, async () => {
    for (const name of ["plain.npy", "fortran.npy", "struct.npy", "plain.npz", "packed.npz"])
      same(await read(join(folder, name)), said(join(folder, name)), ["other"]);
    const struct = await read(join(folder, "struct.npy"));
    const peer = said(join(folder, "struct.npy"));
    const again = said(await rewrite(struct.dataset, "own.npz"));
    expect(again.positions).toEqual(places(peer));
    for (const name of ["id", "rgb", "name"]) expect(again[name], name).toEqual(peer[name]);
    expect(said(await rewrite(struct.dataset, "own.npy")).positions).toEqual(places(peer));
  });

  it("LAS of every version and point format, and the same file again", { timeout: 300_000 }, async () => {
    expect(files(".las").length).toBe(21);
    for (const path of files(".las")) {
      const peer = said(path);
      const own = await read(path);
      same(own, peer);
      const back = await rewrite(own.dataset, "own.las");
      expect(said(back)).toEqual(peer);
      // laspy leaves the old counts of points at 0 in 1.4, where the standard has them; all else is byte for byte.
      const [was, is] = [path, back].map((name) => readFileSync(name));
      for (const bytes of [was!, is!]) bytes.fill(0, 107, 131);
      expect(is!.equals(was!), path).toBe(true);
    }
  });

  it("COPC: levels and boxes are what laspy finds in the octree", { timeout: 300_000 }, async () => {
    const path = join(mkdtempSync(join(folder, "octree-")), "a.copc.laz");
    const peer = JSON.parse(runPeer("interchange", "ic_copc.py", "20000", path)) as { [name: string]: number[] };
    const dataset = (await open(path)) as VectorDataset;
    expect(dataset.levels.map(({ vertices }) => vertices)).toEqual(peer.levels);
    const { positions } = await dataset.select().read();
    expect([...positions.filter((_, i) => i % 3 === 0)].sort((a, b) => a - b)).toEqual(peer.all);
    const selection = dataset.select({ box: [10, 10, 10, 30, 40, 20] });
    const times = (await selection.read()).vertexColumns.get("gps_time")!.values as Float64Array;
    expect([...times].sort((a, b) => a - b)).toEqual(peer.box);
    expect((await selection.plan()).requests).toBeLessThan(25); // of 73 nodes
  });

  it("LAZ of every point format that laz-perf knows", { timeout: 300_000 }, async () => {
    expect(files(".laz").length).toBe(15);
    for (const path of files(".laz")) same(await read(path), said(path));
  });
});
