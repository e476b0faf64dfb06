/** The verbs on golden data: results, exit codes, and nothing half-written. */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serveFile } from "../browser/harness.js";
import { fixtures } from "../fixtures.js";
import { build, cli, octavo } from "./run.js";

const golden = fixtures("zarr");
const folder = mkdtempSync(join(tmpdir(), "octavo-cli-"));
beforeAll(build);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const expected = (store: string): { shape: number[]; npy: string } =>
  JSON.parse(readFileSync(join(golden, "expected", `${store.replace("/", "__")}.json`), "utf8"));
const npyData = (path: string): Buffer => {
  const bytes = readFileSync(path);
  return bytes.subarray(bytes[6] === 1 ? 10 + bytes.readUInt16LE(8) : 12 + bytes.readUInt32LE(8));
};

describe("info", () => {
  test("an array, as JSON", async () => {
    const { code, stdout, stderr } = await octavo(["info", join(golden, "v3/sharded_zstd"), "--json"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({
      kind: "array",
      format: "zarr",
      version: "3",
      shape: [100, 200],
      dtype: "int32",
      order: "C",
    });
    expect(JSON.parse(stdout).chunks.stored).toBeGreaterThan(0);
    expect(JSON.parse(stdout).innerChunkShape).toHaveLength(2);
  });

  test("an array of the first format, for people", async () => {
    const { code, stdout } = await octavo(["info", join(golden, "v0/doc_example_i4")]);
    expect(code).toBe(0);
    expect(stdout.replace(/file:\S+/, "URL")).toMatchSnapshot();
  });

  test("a group shows its tree", async () => {
    const { code, stdout } = await octavo(["info", join(golden, "v3/group_consolidated")]);
    expect(code).toBe(0);
    expect(stdout.replace(/file:\S+/, "URL")).toMatchSnapshot();
  });

  test("what is not there is exit code 3 and one sentence", async () => {
    const { code, stdout, stderr } = await octavo(["info", join(folder, "nothing-here")]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toMatch(/^octavo: .*nothing-here is not there/);
    expect(stderr).not.toMatch(/\n\s+at /);
  });
});

describe("ls", () => {
  test("nodes, chunks and keys", async () => {
    const group = join(golden, "v3/group_consolidated");
    const nodes = JSON.parse((await octavo(["ls", group, "--json"])).stdout);
    expect(nodes).toEqual([{ name: "a", kind: "group" }]);
    const inner = JSON.parse((await octavo(["ls", join(group, "a"), "--json"])).stdout);
    expect(inner).toEqual([{ name: "b", kind: "array", dtype: "int64", shape: [10] }]);
    const array = join(golden, "v3/gzip");
    const chunks = JSON.parse((await octavo(["ls", array, "--chunks", "--json"])).stdout);
    expect(chunks[0]).toMatchObject({ index: [0, 0] });
    const keys: { key: string; size: number }[] = JSON.parse((await octavo(["ls", array, "--keys", "--json"])).stdout);
    expect(keys.map(({ key }) => key)).toContain("zarr.json");
    for (const { key, size } of keys) expect(statSync(join(array, key)).size).toBe(size);
    expect((await octavo(["ls", group, "--chunks"])).code).toBe(2);
  });

  test("a reader that leaves early is no failure", () => {
    const program = `'${process.execPath}' '${cli}' ls '${golden}' --keys --json 2>&1 >&3 | cat; true`;
    const errors = execFileSync("bash", ["-c", `{ ${program}; } 3> >(head -n 1 >/dev/null)`], { encoding: "utf8" });
    expect(errors).toBe("");
  });
});

describe("get", () => {
  const stores = ["v0/dtype_i4", "v1/100_blosc_lz4_C", "v2/zlib_F_order", "v3/sharded_zstd"].filter((store) =>
    existsSync(join(golden, store)),
  );

  test.each(stores)("%s as .npy equals the reference, also in small blocks", async (store) => {
    const { shape, npy } = expected(store);
    const reference = npyData(join(golden, "expected", npy));
    for (const memory of ["64M", "1K"]) {
      const out = join(folder, `${store.replace("/", "_")}-${memory}.npy`);
      expect(await octavo(["get", join(golden, store), "-o", out, "--max-memory", memory])).toMatchObject({
        code: 0,
        stdout: "",
      });
      expect(npyData(out).equals(reference)).toBe(true);
      expect(readFileSync(out, "latin1")).toContain(`'shape': (${shape.join(", ")}`);
    }
  });

  test("a slice as JSON and CSV", async () => {
    const array = join(golden, "v3/gzip");
    const { stdout } = await octavo(["get", array, "--slice", "1:3,-2:", "--json"]);
    const { shape, data } = JSON.parse(stdout);
    expect(shape).toEqual([2, 2]);
    const csv = (await octavo(["get", array, "--slice", "1:3,-2:"])).stdout;
    expect(csv).toBe(data.map((row: number[]) => `${row.join(",")}\n`).join(""));
    const one = JSON.parse((await octavo(["get", array, "--slice", "1,-2", "--json"])).stdout);
    expect([one.shape, one.data]).toEqual([[], data[0][0]]);
  });

  test("a key as it is; one that is not there is exit code 1", async () => {
    const array = join(golden, "v3/gzip");
    expect((await octavo(["get", array, "--key", "zarr.json"])).stdout).toBe(
      readFileSync(join(array, "zarr.json"), "utf8"),
    );
    expect((await octavo(["get", array, "--key", "nope"])).code).toBe(1);
    expect((await octavo(["get", array, "--key", "../gzip/zarr.json"])).code).toBe(2);
  });

  test("progress is told chunk by chunk, also where all of it is one block", async () => {
    const store = join(folder, "absent.zarr");
    const metadata = JSON.parse(readFileSync(join(golden, "v3/gzip/zarr.json"), "utf8"));
    const grid = { name: "regular", configuration: { chunk_shape: [1] } };
    cpSync(join(golden, "v3/gzip"), store, { recursive: true, filter: (path) => !/\/c(\/|$)/.test(path) });
    writeFileSync(join(store, "zarr.json"), JSON.stringify({ ...metadata, shape: [500], chunk_grid: grid }));
    const { code, stderr } = await octavo(["get", store, "-o", join(folder, "absent.npy"), "--progress", "json"]);
    expect(code).toBe(0);
    const states = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { done: number; total: number });
    expect(states[0]!.done).toBeLessThan(states[0]!.total);
    expect(states.at(-1)!.done).toBe(states[0]!.total);
  });

  test("nothing is replaced without --overwrite", async () => {
    const out = join(folder, "kept.csv");
    writeFileSync(out, "kept");
    const array = join(golden, "v3/gzip");
    const refused = await octavo(["get", array, "--slice", "0,0", "-o", out]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringMatching(/already there\n {2}Add --overwrite/) });
    expect(readFileSync(out, "utf8")).toBe("kept");
    expect((await octavo(["get", array, "--slice", "0,0", "-o", out, "--overwrite"])).code).toBe(0);
    expect(readFileSync(out, "utf8")).not.toBe("kept");
  });

  test.each([
    ["v3/gzip", ["--slice", "500"], 2, /index 500 is outside axis 0/],
    [
      "v3/gzip",
      ["-o", "x.tiff"],
      2,
      /does not end in \.json, \.ndjson, \.zv, \.zarr, \.ptree, \.trk,(?!.*\.(gifti|freesurfer|laz)).* \.glb,/,
    ],
    ["v3/gzip", ["-o", "x.zarr"], 2, /octavo convert \S+ x\.zarr\n/],
    ["v3/group_consolidated", [], 2, /is a group/],
    ["v3/vlen_string", ["-o", "x.npy"], 3, /\.npy holds elements of fixed size/],
  ])("%s %j is refused", async (store, args, code, message) => {
    const result = await octavo(["get", join(golden, store), ...args], { cwd: folder });
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
    expect(existsSync(join(folder, "x.npy"))).toBe(false);
  });
});

describe("convert", () => {
  test("v0 to v3 and back through shards, equal at every step", async () => {
    const steps = ["zarr3", "zarr2", "zarr0"];
    const reference = npyData(join(golden, "expected", expected("v0/dtype_i4").npy));
    let from = join(golden, "v0/dtype_i4");
    for (const to of steps) {
      const out = join(folder, `converted-${to}`);
      expect(await octavo(["convert", from, out, "--to", to])).toMatchObject({ code: 0 });
      expect(await octavo(["validate", out])).toMatchObject({ code: 0 });
      await octavo(["get", out, "-o", `${out}.npy`]);
      expect(npyData(`${out}.npy`).equals(reference)).toBe(true);
      from = out;
    }
  });

  test("--slice, the part that get has", async () => {
    const from = join(golden, "v3/gzip");
    const slice = ["--slice", "::-3,...,5:150"];
    const [got, npy, out] = [join(folder, "got.npy"), join(folder, "slice.npy"), join(folder, "slice.zarr")];
    expect(await octavo(["get", from, ...slice, "-o", got])).toMatchObject({ code: 0 });
    expect(await octavo(["convert", from, npy, ...slice])).toMatchObject({ code: 0 });
    expect(readFileSync(npy).equals(readFileSync(got))).toBe(true);
    const file = await octavo(["convert", from, join(folder, "dry.npy"), ...slice, "--dry-run", "--json"]);
    expect(JSON.parse(file.stdout)).toMatchObject({ bytesWritten: statSync(npy).size, bytesWrittenExact: true });
    const dry = await octavo(["convert", from, out, ...slice, "--dry-run"]);
    expect(dry.stdout).toMatch(/chunks 34 × 130, .*\n {2}chunks are decoded and encoded again\n/);
    expect(await octavo(["convert", from, out, ...slice])).toMatchObject({ code: 0 });
    await octavo(["get", out, "-o", `${out}.npy`]);
    expect(readFileSync(`${out}.npy`).equals(readFileSync(got))).toBe(true);
    const group = await octavo(["convert", join(golden, "v3/group_consolidated"), join(folder, "no"), ...slice]);
    expect(group).toMatchObject({ code: 2, stderr: expect.stringMatching(/--slice has no meaning for .* a group/) });
  });

  test("what cannot be is a wrong call, also as a --dry-run, and leaves nothing behind", async () => {
    const [from, out] = [join(golden, "v3/gzip"), join(folder, "never.zarr")];
    for (const dry of [[], ["--dry-run"]]) {
      expect(await octavo(["convert", from, out, "--shard", "7,7", ...dry])).toMatchObject({ code: 2, stdout: "" });
      const group = await octavo(["convert", join(golden, "v3/group_consolidated"), out, "--to", "zarr0", ...dry]);
      expect(group).toMatchObject({ code: 3, stdout: "" });
    }
    expect(existsSync(out)).toBe(false);
  });

  test("--dry-run writes nothing; an existing target is refused without --overwrite", async () => {
    const out = join(folder, "dry");
    const from = join(golden, "v0/dtype_i4");
    expect(await octavo(["convert", from, out, "--to", "zarr3", "--dry-run"])).toMatchObject({ code: 0 });
    expect(existsSync(out)).toBe(false);
    expect((await octavo(["convert", from, out, "--to", "zarr3"])).code).toBe(0);
    expect((await octavo(["convert", from, out, "--dry-run"])).code).toBe(2);
    expect((await octavo(["convert", from, out, "--to", "zarr2"])).code).toBe(2);
    expect((await octavo(["convert", from, out, "--to", "zarr2", "--overwrite"])).code).toBe(0);
    expect(JSON.parse((await octavo(["info", out, "--json"])).stdout).version).toBe("2");
  });
});

describe("convert keeps what is not its own", () => {
  const from = join(golden, "v0/dtype_i4");

  test("a zip file: made, refused, replaced", async () => {
    const out = join(folder, "packed.zip");
    expect(await octavo(["convert", from, out])).toMatchObject({ code: 0 });
    expect(await octavo(["validate", out])).toMatchObject({ code: 0 });
    const before = readFileSync(out);
    expect((await octavo(["convert", from, out, "--codec", "none"])).code).toBe(2);
    expect(readFileSync(out).equals(before)).toBe(true);
    expect((await octavo(["convert", from, out, "--codec", "none", "--overwrite"])).code).toBe(0);
    expect(readFileSync(out).equals(before)).toBe(false);
  });

  test("a folder of other things is not cleared, with --overwrite neither", async () => {
    const out = mkdtempSync(join(folder, "home-"));
    writeFileSync(join(out, "letter.txt"), "dear");
    const { code, stderr } = await octavo(["convert", from, out, "--overwrite"]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/is not empty, and what it holds is no dataset\n {2}Choose an empty place/);
    expect(readdirSync(out)).toEqual(["letter.txt"]);
  });

  test("the source, or what it lies in, is never the target", async () => {
    const source = join(folder, "parent", "source");
    cpSync(from, source, { recursive: true });
    for (const out of [source, join(folder, "parent"), join(source, "below")]) {
      expect((await octavo(["convert", source, out, "--overwrite"])).code).toBe(2);
    }
    expect((await octavo(["validate", source])).code).toBe(0);
  });

  test("a chain as JSON, and wrong ones", async () => {
    const chain = '[{"name":"bytes","configuration":{"endian":"big"}},{"name":"gzip","configuration":{"level":1}}]';
    const out = join(folder, "chain");
    expect((await octavo(["convert", from, out, "--codec", chain])).code).toBe(0);
    const { codecs } = JSON.parse((await octavo(["info", out, "--json"])).stdout);
    expect(codecs.map(({ name }: { name: string }) => name)).toEqual(["bytes", "gzip"]);
    expect((await octavo(["convert", from, join(folder, "no"), "--codec", "zstdd"])).stderr).toMatch(
      /did you mean zstd/,
    );
    expect((await octavo(["convert", from, join(folder, "no"), "--codec", "[1]"])).code).toBe(2);
    expect(existsSync(join(folder, "no"))).toBe(false);
  });
});

describe("validate", () => {
  test("valid, invalid, unreadable: 0, 1, 3", async () => {
    const store = join(folder, "damaged");
    cpSync(join(golden, "v3/gzip"), store, { recursive: true });
    expect((await octavo(["validate", store])).code).toBe(0);
    const [chunk] = JSON.parse((await octavo(["ls", store, "--chunks", "--json"])).stdout);
    truncateSync(join(store, chunk.key), 20);
    const { code, stdout } = await octavo(["validate", store, "--json"]);
    expect(code).toBe(1);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ valid: false, readable: true, counts: { error: 1 } });
    expect(report.findings[0].where).toContain(chunk.key);
    expect((await octavo(["validate", store, "--level", "1"])).code).toBe(0);
    writeFileSync(join(store, "zarr.json"), "{");
    expect((await octavo(["validate", store])).code).toBe(3);
    expect(await octavo(["validate", join(folder, "nothing-here")])).toMatchObject({ code: 3, stdout: "" });
    const nothing = await octavo(["validate", join(folder, "nothing-here"), "--json"]);
    expect([nothing.code, nothing.stderr]).toEqual([3, expect.stringContaining("is not there")]);
    expect(JSON.parse(nothing.stdout)).toMatchObject({
      verdict: "unreadable",
      readable: false,
      findings: [{ severity: "error", where: expect.stringContaining("nothing-here") }],
    });
  });

  test("a store that fails half-way is neither valid nor damaged", async () => {
    const server = createServer((request, response) => {
      const key = /\/c\//.test(request.url!) ? undefined : join(golden, "v3/gzip", request.url!);
      response.writeHead(key === undefined ? 403 : existsSync(key) ? 200 : 404);
      response.end(key !== undefined && existsSync(key) ? readFileSync(key) : "");
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const { code, stdout } = await octavo(["validate", url, "--json"]);
      const report = JSON.parse(stdout);
      expect([code, report.verdict, report.valid, report.readable]).toEqual([1, "unchecked", false, true]);
      expect(report.counts.unchecked).toBe(report.counts.error);
      expect((await octavo(["validate", url])).stdout).toMatch(/^could not be checked: 0 errors, .* of the store/m);
    } finally {
      server.close();
    }
  });
});

describe("interrupted", () => {
  let server: Server;
  let asked: () => void = () => {};
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  test("an interrupted conversion cannot be opened, and can be resumed", async () => {
    const stall = { after: 1 };
    const slow = createServer((request, response) => {
      const isChunk = /\/c\//.test(request.url!);
      if (isChunk && stall.after-- <= 0) asked();
      else serveFile(join(golden, "v3/gzip", request.url!), request, response);
    });
    await new Promise<void>((resolve) => void slow.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
    const out = join(folder, "resumed.zarr");
    const started = (kill: (signal: NodeJS.Signals) => void): void => {
      asked = () => kill("SIGINT");
    };
    expect((await octavo(["convert", url, out], { started })).code).toBe(4);
    expect((await octavo(["info", out])).code).toBe(3);
    stall.after = Number.POSITIVE_INFINITY;
    expect((await octavo(["convert", url, out])).code).toBe(2);
    expect((await octavo(["convert", url, out, "--resume"])).code).toBe(0);
    slow.closeAllConnections();
    slow.close();
    const [a, b] = [await octavo(["get", out]), await octavo(["get", join(golden, "v3/gzip")])];
    expect(a.stdout).toBe(b.stdout);
    expect(a.stdout.length).toBeGreaterThan(1000);
  });

  test("Ctrl-C ends with 4, and nothing half-written is there", async () => {
    // A server that answers the metadata and then keeps everybody waiting.
    server = createServer((request, response) => {
      if (/\/(zarr\.json|\.z\w+|__zmeta__|meta)$/.test(request.url!))
        serveFile(join(golden, "v3/gzip", request.url!), request, response);
      else asked();
    });
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const before = readdirSync(folder);
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const result = await octavo(["get", url, "-o", join(folder, "never.npy")], {
      started: (kill) => {
        asked = () => kill("SIGINT");
      },
    });
    expect(result).toMatchObject({
      code: 4,
      stdout: "",
      stderr: "octavo: interrupted; nothing half-written was left visible\n",
    });
    expect(readdirSync(folder)).toEqual(before);
  });
});

test("demo: shows what it does, leaves nothing behind", { timeout: 90_000 }, async () => {
  const temporary = mkdtempSync(join(folder, "tmp-"));
  const { code, stdout, stderr } = await octavo(["demo"], { env: { TMPDIR: temporary } });
  expect([code, stderr]).toEqual([0, ""]);
  const commands = [...stdout.matchAll(/^\$ octavo (\w+)/gm)].map(([, verb]) => verb);
  expect(new Set(commands)).toEqual(
    new Set(["info", "convert", "get", "validate", "publish", "delete", "append", "repair", "render"]),
  );
  expect(stdout).toMatch(/^1 repaired, 0 errors left$/m);
  expect(stdout).not.toMatch(/octavo: |\b1 (objects|vertices|requests|chunks|errors)\b/);
  expect(readdirSync(temporary)).toEqual([]);
});
