/** `octavo shard` as a user runs it. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fixtures } from "../fixtures.js";
import { build, octavo } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-cli-shard-"));
beforeAll(build);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function json(...args: string[]) {
  const { code, stdout, stderr } = await octavo([...args, "--json", "-q"]);
  expect([code, stderr]).toEqual([0, ""]);
  return JSON.parse(stdout);
}

test("pack, ls, get, verify, compact and unpack", { timeout: 120_000 }, async () => {
  const [values, sharded, back] = ["values", "sharded", "back"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(values);
  const last = "18446744073709551615";
  for (const id of ["0", "7", "4294967296", last]) writeFileSync(join(values, id), `value of ${id}`);
  writeFileSync(join(values, "readme.txt"), "not a value");

  const packed = await octavo(["shard", "pack", values, sharded]);
  expect([packed.code, packed.stdout]).toEqual([0, "4 values in 1 shard, 132 B\n"]);
  expect(packed.stderr).toMatch(/^note: ids are spread by murmurhash3/);
  expect(JSON.parse(readFileSync(join(sharded, "info"), "utf8")).sharding).toMatchObject({
    data_encoding: "raw",
    shard_bits: 0,
  });
  expect((await octavo(["shard", "pack", values, sharded])).code).toBe(2);
  expect(await json("shard", "pack", values, sharded, "--overwrite", "--encoding", "gzip")).toMatchObject({
    values: 4,
  });

  expect((await octavo(["shard", "ls", sharded])).stdout).toBe(`0\n7\n4294967296\n${last}\n`);
  expect((await json("shard", "ls", sharded, "--range", "1:4294967297")).ids).toEqual([7, 4294967296]);
  expect((await octavo(["shard", "ls", sharded, "--count"])).stdout).toBe("4\n");
  expect((await octavo(["shard", "get", sharded, "--id", last])).stdout).toBe(`value of ${last}`);
  expect(await octavo(["shard", "get", sharded, "--id", "8"])).toMatchObject({ code: 1, stdout: "" });
  expect((await json("shard", "get", sharded, "--id", "0,7")).values[1].base64).toBe(btoa("value of 7"));

  expect(await json("shard", "verify", sharded)).toMatchObject({ valid: true, findings: [] });
  expect(await json("shard", "compact", sharded)).toMatchObject({ values: 4, files: 1 });
  expect(await json("shard", "unpack", sharded, back, "--range", "7:")).toMatchObject({ values: 3 });
  expect(readdirSync(back).sort()).toEqual([last, "4294967296", "7"]);
  expect(readFileSync(join(back, "7"), "utf8")).toBe("value of 7");
});

test("maps of annotations, shardings without an info, damage", { timeout: 120_000 }, async () => {
  const root = fixtures("precomputed");
  const annotations = join(root, "annotations/line_sharded");
  expect((await json("shard", "ls", annotations, "--key", "by_id")).values).toBe(24);
  const wrong = await octavo(["shard", "ls", annotations]);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/Choose one of its maps with --key: by_id, /)]);
  const { sharding } = JSON.parse(readFileSync(join(root, "corrupt/11_duplicate_id/info"), "utf8"));
  const given = ["--sharding", JSON.stringify(sharding)];
  const damaged = await octavo(["shard", "verify", join(root, "corrupt/11_duplicate_id"), ...given]);
  expect([damaged.code, damaged.stdout]).toEqual([
    1,
    expect.stringMatching(/the id 3 in minishard 1 .* is there a second time/),
  ]);
  expect((await octavo(["validate", join(root, "corrupt/11_duplicate_id")])).code).not.toBe(0);
  for (const args of [
    ["nonsense", "x"],
    ["pack", "x"],
    ["ls", "x", "y"],
    ["get", annotations, "--key", "by_id"],
    ["ls", annotations, "--range", "1"],
  ])
    expect((await octavo(["shard", ...args])).code).toBe(2);
});
