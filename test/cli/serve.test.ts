/** `octavo serve`, as a user runs it: it says where it listens, answers, and ends when it is interrupted. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { build, cli, octavo } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-cli-serve-"));
beforeAll(() => {
  build();
  mkdirSync(join(folder, "a"));
  mkdirSync(join(folder, "b"));
  writeFileSync(join(folder, "a/info"), "{}");
  writeFileSync(join(folder, "b/value"), "0123456789");
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs it until `work` is done, then interrupts it. */
async function serving(
  args: readonly string[],
  work: (told: { url: string; paths: string[]; neuroglancer?: string }) => Promise<void>,
) {
  const child = spawn(process.execPath, [cli, "serve", ...args, "--port", "0", "--json"], { cwd: folder });
  let [stdout, stderr] = ["", ""];
  child.stderr.on("data", (data) => {
    stderr += data;
  });
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  try {
    await new Promise<void>((resolve, reject) => {
      child.stdout.on("data", (data) => {
        stdout += data;
        if (stdout.endsWith("}\n")) resolve();
      });
      child.on("close", () => reject(new Error(stderr)));
    });
    await work(JSON.parse(stdout));
  } finally {
    child.kill("SIGINT");
  }
  return { code: await ended, stderr };
}

it("one folder is /, and the log has a line for each request", async () => {
  const { code, stderr } = await serving(["b", "--log", "--cors", "https://page.example"], async ({ url, paths }) => {
    expect(paths).toEqual([`${url}/`]);
    const part = await fetch(`${url}/value`, { headers: { range: "bytes=2-3", origin: "https://page.example" } });
    expect([part.status, await part.text()]).toEqual([206, "23"]);
    expect((await fetch(`${url}/value`, { headers: { origin: "https://other.example" } })).status).toBe(403);
    expect(await (await fetch(`${url}/health`)).json()).toEqual({ status: "ok" });
  });
  expect(code).toBe(0);
  expect(stderr).toMatch(/GET \/value 206 2 \d/);
});

it("several places have names, and a file is itself alone", async () => {
  const { code } = await serving(["a", "b/value"], async ({ url, paths }) => {
    expect(paths).toEqual([`${url}/a/`, `${url}/value`]);
    expect(await (await fetch(url)).json()).toEqual({ keys: ["value"], prefixes: ["a/"] });
    expect(await (await fetch(`${url}/a/info`)).text()).toBe("{}");
    expect(await (await fetch(`${url}/value`)).text()).toBe("0123456789");
    expect((await fetch(`${url}/info`)).status).toBe(404);
  });
  expect(code).toBe(0);
});

it("with --skip-bad, queries go on without what is damaged", async () => {
  writeFileSync(join(folder, "bad.csv"), "x,y,z\n1,2,3\n4,nan,6\n7,8,9\n");
  const asked = async (args: readonly string[]) => {
    let answer: { status: number; text: string } | undefined;
    const { stderr } = await serving(["bad.csv", ...args], async ({ url }) => {
      const response = await fetch(`${url}/query?count`);
      answer = { status: response.status, text: await response.text() };
    });
    return { ...answer!, stderr };
  };
  expect((await asked([])).status).not.toBe(200);
  const { status, text, stderr } = await asked(["--skip-bad"]);
  expect([status, JSON.parse(text)]).toEqual([200, expect.objectContaining({ vertices: 2 })]);
  expect(stderr).toMatch(/^skipped .*bad\.csv/m);
});

it("--neuroglancer prints a link whose layers answer, and only to its client", async () => {
  const swc = join(folder, "neuron.swc");
  writeFileSync(swc, "1 1 0 0 0 1 -1\n2 3 10 0 0 1 1\n3 3 10 10 0 1 2\n");
  const stored = await octavo(["convert", swc, join(folder, "neuron.zv")]);
  expect(stored).toMatchObject({ code: 0 });
  const args = ["neuron.zv", "--neuroglancer", "--client", "https://client.example/v/"];
  const { code } = await serving(args, async ({ url, neuroglancer }) => {
    const [page, state] = neuroglancer!.split("/#!");
    expect(page).toBe("https://client.example/v");
    const { layers } = JSON.parse(decodeURIComponent(state!)) as { layers: { type: string; source: unknown }[] };
    expect(layers.map(({ type }) => type)).toEqual(["segmentation"]);
    const sources = [layers[0]!.source]
      .flat()
      .map((own) => (typeof own === "string" ? own : (own as { url: string }).url));
    expect(sources.length).toBeGreaterThan(0);
    for (const source of sources) {
      const [, address] = /^precomputed:\/\/(.+)$/.exec(source)!;
      expect(address!.startsWith(`${url}/neuroglancer/`)).toBe(true);
      const info = await fetch(`${address}/info`, { headers: { origin: "https://client.example" } });
      expect([info.status, info.headers.get("access-control-allow-origin")]).toEqual([200, "https://client.example"]);
      expect(await info.json()).toHaveProperty("@type");
      expect((await fetch(`${address}/info`, { headers: { origin: "https://other.example" } })).status).toBe(403);
    }
  });
  expect(code).toBe(0);
});

it("--neuroglancer of a folder has a layer for each dataset in it, and says what it leaves out", async () => {
  const all = join(folder, "all");
  mkdirSync(all);
  writeFileSync(join(folder, "cell.swc"), "1 1 0 0 0 1 -1\n2 3 10 0 0 1 1\n");
  for (const name of ["one.zv", "two.zv"])
    expect(await octavo(["convert", join(folder, "cell.swc"), join(all, name)])).toMatchObject({ code: 0 });
  writeFileSync(join(all, "notes.md"), "text");
  mkdirSync(join(all, "broken"));
  writeFileSync(join(all, "broken/info"), '{"@type": "neuroglancer_skeletons", "transform": 1}');
  mkdirSync(join(all, "plain"));
  writeFileSync(join(all, "plain/.zgroup"), '{"zarr_format": 2}');
  const { code, stderr } = await serving(["all", "--neuroglancer"], async ({ url, paths, neuroglancer }) => {
    expect(paths).toEqual([`${url}/`]);
    const { layers } = JSON.parse(decodeURIComponent(neuroglancer!.split("/#!")[1]!));
    expect(layers).toMatchObject([
      { name: "one", source: `precomputed://${url}/neuroglancer/one.zv/skeletons` },
      { name: "two", source: `precomputed://${url}/neuroglancer/two.zv/skeletons` },
    ]);
    for (const name of ["one.zv", "two.zv"])
      expect((await fetch(`${url}/neuroglancer/${name}/skeletons/info`)).status).toBe(200);
    expect((await fetch(`${url}/one.zv/zarr.json`)).status).toBe(200);
    expect(await (await fetch(`${url}/query/one.zv?count`)).json()).toMatchObject({ vertices: 2 });
  });
  expect([code, stderr]).toEqual([0, expect.stringMatching(/^plain is left out: .*group/m)]);
  expect(stderr).toMatch(/^broken is left out: /m);
  expect(stderr).not.toMatch(/notes/);
});

it.each([
  ["a folder", ["all"], "", "/query/"],
  ["several places", ["all/one.zv", "all"], "all/", "/query/all/"],
])("/query of %s names the places to ask", async (_what, args, path, below) => {
  await serving(args, async ({ url }) => {
    const places = ["broken", "one.zv", "plain", "two.zv"].map((name) => below + name);
    const all = args.length === 1 ? places : ["/query/one.zv", ...places];
    for (const end of ["/query", "/query/"]) {
      const named = await fetch(url + end);
      expect([named.status, await named.json()]).toEqual([200, { places: all }]);
    }
    const asked = await fetch(`${url}/query?box=0,0,0,1,1,1`);
    expect([asked.status, await asked.json()]).toEqual([400, { error: expect.any(String), places: all }]);
    expect(await (await fetch(`${url}/query/${path}two.zv?count`)).json()).toMatchObject({ vertices: 2 });
    const other = await fetch(`${url}/query/${path}plain?count`);
    expect([other.status, await other.json()]).toEqual([404, { error: expect.stringMatching(/group.*geometry/) }]);
    for (const none of ["none", "one.zv/0", "all/one.zv/0"])
      expect((await fetch(`${url}/query/${path}${none}`)).status).toBe(404);
  });
});

it.each([
  [["none"], /not there, or empty/],
  [["https://host/x"], /not on this machine/],
  [["a", "./a"], /two of the places are called a/],
  [["a", "--port", "x"], /expected a number/],
])("%j is a wrong call", async (args, sentence) => {
  const { code, stderr } = await octavo(["serve", ...args], { cwd: folder });
  expect(code).toBe(2);
  expect(stderr).toMatch(sentence);
});
