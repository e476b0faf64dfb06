/** Tables as a user has them: a table of synapses becomes annotations and comes back by value, and columns are named in every verb that reads. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openAnnotations } from "../../src/format/precomputed/index.js";
import { openLocation } from "../../src/node.js";
import { build, octavo } from "./run.js";

interface Synapse {
  readonly id: bigint;
  readonly pre: bigint;
  readonly post: bigint | undefined;
  readonly start: readonly number[];
  readonly end: readonly number[];
  readonly size: number;
  readonly near: readonly bigint[];
}

const ROWS: readonly Synapse[] = Array.from({ length: 300 }, (_, i) => ({
  id: 9007199254740993n + BigInt(i) * 61489146912365n,
  pre: 864691135000000001n + BigInt(i % 7),
  post: i % 11 === 3 ? undefined : 18446744073709550001n + BigInt(i % 5),
  start: [i, 2 * i, i % 40],
  end: [i + 1, 2 * i + 3, i % 41],
  size: i % 256,
  near: [9007199254740993n + BigInt(i), 18446744073709551000n - BigInt(i)],
}));
const SYNAPSES = [
  "syn_id,pre_root_id,post_root_id,pre_pt,post_pt,size,near,comment",
  ...ROWS.map(
    ({ id, pre, post, start, end, size, near }) =>
      `${id},${pre},${post ?? ""},"[${start.join(", ")}]","[${end.join(" ")}]",${size},"[${near.join(",")}]",c${id}`,
  ),
].join("\n");

let folder: string;
const at = (name: string): string => join(folder, name);
beforeAll(() => {
  build();
  folder = mkdtempSync(join(tmpdir(), "octavo-tables-"));
  writeFileSync(at("s.csv"), SYNAPSES);
  writeFileSync(at("a.csv"), "name,px,py,pz,w\na,1,2,3,0.5\nb,4,5,6,0.25\n");
  writeFileSync(at("b.csv"), "name,px,py,pz,w\nc,7,8,9,1\n");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const columns = [
  ...["--start", "pre_pt", "--end", "post_pt", "--id", "syn_id", "--units", "voxel", "--resolution", "4,4,40"],
  ...["--relationship", "pre=pre_root_id,post=post_root_id", "--relationship", "near=near", "--property", "size:uint8"],
];
/** As the first conversion has written them. */
const again = ["--relationship", "pre=pre,post=post,near=near", "--property", "size:uint8", "--units", "nm"];

describe("a table of synapses as sharded annotations", () => {
  test.each([
    ["CSV", "s.csv", columns],
    ["Parquet", "s.parquet", again],
  ])("%s", { timeout: 120_000 }, async (_, file, how) => {
    if (file === "s.parquet") {
      const made = await octavo(["convert", at("s.csv"), at(file), ...columns, "--overwrite"]);
      expect([made.code, made.stderr]).toEqual([0, ""]);
    }
    const out = at(`${file}-annotations`);
    const { code, stdout } = await octavo(["convert", at(file), out, "--to", "precomputed", "--sharded", ...how]);
    expect(code).toBe(0);
    if (file === "s.csv") expect(stdout).toMatch(/^loss .*s\.csv: the column comment: others are named to be read$/m);
    else expect(stdout).toMatch(/nothing was lost/);

    const place = await openLocation(out);
    const collection = await openAnnotations(place.store, place.at);
    const { type, relationships, properties, byId } = collection.info;
    expect(type).toBe("line");
    expect(byId.sharding).not.toBeNull();
    expect(relationships.map(({ id }) => id)).toEqual(["pre", "post", "near"]);
    expect(relationships.every(({ sharding }) => sharding !== null)).toBe(true);
    expect(properties).toMatchObject([{ id: "size", type: "uint8" }]);
    for (const { id, pre, post, start, end, size, near } of ROWS) {
      const found = (await collection.get(id))!;
      const nm = [...start, ...end].map((value, i) => value * [4, 4, 40][i % 3]!);
      expect([...found.points]).toEqual(nm);
      expect([...found.properties.get("size")!]).toEqual([size]);
      const related = (name: string) => [...found.related!.get(name)!.ids];
      expect([related("pre"), related("post"), related("near")]).toEqual([
        [pre],
        post === undefined ? [] : [post],
        near,
      ]);
    }
    const [{ pre }] = ROWS as [Synapse];
    const ofPre = (await collection.related("pre", pre))!.ids;
    expect([...ofPre].sort()).toEqual(
      ROWS.filter((row) => row.pre === pre)
        .map(({ id }) => id)
        .sort(),
    );
  });

  test("--strict refuses columns that nobody names, and nothing is written", { timeout: 60_000 }, async () => {
    const { code, stderr } = await octavo(["convert", at("s.csv"), at("strict.zv"), ...columns, "--strict"]);
    expect([code, stderr]).toEqual([
      3,
      expect.stringMatching(/may be: .*s\.csv: the column comment: others are named/),
    ]);
    expect((await octavo(["info", at("strict.zv")])).code).toBe(3);
  });
});

describe("columns are named", () => {
  const named = ["--position", "px,py,pz"];

  test("in get and info", { timeout: 60_000 }, async () => {
    const wrong = await octavo(["info", at("a.csv")]);
    expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/no columns that look like coordinates/)]);
    const { stdout } = await octavo(["info", at("a.csv"), ...named, "--property", "w", "--units", "um", "--json"]);
    const { axes, schema, notes } = JSON.parse(stdout) as Record<string, unknown>;
    expect({ axes, notes }).toMatchObject({
      axes: [{ unit: "um" }, {}, {}],
      notes: ["the column name: others are named to be read"],
    });
    expect(JSON.stringify(schema ?? stdout)).toContain('"w"');
    const some = await octavo(["get", at("a.csv"), ...named, "--where", "w < 0.4", "--json"]);
    expect(JSON.parse(some.stdout)).toMatchObject({ items: [{ position: [4, 5, 6], attributes: { name: "b" } }] });
    const voxels = ["--units", "voxel", "--resolution", "10,10,1"];
    const scaled = await octavo(["get", at("a.csv"), ...named, ...voxels, "--where", "name = 'b'", "--json"]);
    expect(JSON.parse(scaled.stdout)).toMatchObject({ units: ["nm", "nm", "nm"], items: [{ position: [40, 50, 6] }] });
  });

  test("in diff, on whichever side there is a table", { timeout: 60_000 }, async () => {
    expect((await octavo(["convert", at("a.csv"), at("a.zv"), ...named])).code).toBe(0);
    expect((await octavo(["diff", at("a.csv"), at("a.zv"), ...named])).code).toBe(0);
    expect((await octavo(["diff", at("a.zv"), at("a.csv"), ...named])).code).toBe(0);
    expect((await octavo(["diff", at("a.zv"), at("a.zv"), ...named])).code).toBe(2);
  });

  test("of several tables", { timeout: 60_000 }, async () => {
    const alone = await octavo(["convert", at("a.csv"), at("b.csv"), at("alone.zv"), ...named]);
    expect(alone).toMatchObject({ code: 0, stdout: "3 vertices written\nnothing was lost\n" });
    writeFileSync(at("c.csv"), "name,px,py,pz,w\nc,7,8,9,much\n");
    const apart = await octavo(["convert", at("a.csv"), at("c.csv"), at("ac.zv"), ...named]);
    expect(apart.stderr).toMatch(
      /c\.csv has another type of the vertex attribute w than the inputs before\n.*--property w:string/,
    );
    const both = [...named, "--property", "name", "--property", "w:float64"];
    const { code, stdout } = await octavo(["convert", at("a.csv"), at("b.csv"), at("ab.zv"), ...both]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "3 vertices written\nnothing was lost\n" });
    const dry = await octavo(["convert", at("a.csv"), at("b.csv"), at("no.zv"), ...both, "--dry-run"]);
    expect([dry.code, dry.stdout]).toEqual([0, expect.stringMatching(/2 files: 3 vertices/)]);
    const merged = await octavo(["merge", at("a.csv"), at("b.csv"), at("merged.csv"), ...both]);
    expect(merged.code).toBe(0);
    const other = await octavo(["diff", at("ab.zv"), at("merged.csv"), "--json"]);
    expect(JSON.parse(other.stdout).counts).toEqual({ attributes: 1 }); // of which file each point is
  });

  test("of data that have none: a wrong call", { timeout: 60_000 }, async () => {
    writeFileSync(at("c.swc"), "1 1 0 0 0 1 -1\n");
    for (const verb of [["info"], ["get"], ["convert"]]) {
      const { code, stderr } = await octavo([
        ...verb,
        at("c.swc"),
        ...(verb[0] === "convert" ? [at("no.zv")] : []),
        ...named,
      ]);
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(/c\.swc is no table, and has no columns that could be/),
      ]);
    }
    const sizes = await octavo(["get", at("a.csv"), ...named, "--resolution", "4,4,40"]);
    expect([sizes.code, sizes.stderr]).toEqual([2, expect.stringMatching(/add --units voxel/)]);
  });
});
