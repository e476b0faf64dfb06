/** `octavo view`, as a user runs it: the page, the data beside it, samples of files without an index, and the stores that are kept. */
import { spawn } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { concat } from "../../src/bytes/concat.js";
import { makeNeuron, makeTracts } from "../../src/cli/demo-data.js";
import { openerOf } from "../../src/cli/view-browser.js";
import { trim } from "../../src/cli/view-store.js";
import { encodeTrkHeader } from "../../src/format/interchange/trk-header.js";
import type { VectorDataset } from "../../src/model/vectors.js";
import { diff, open } from "../../src/node.js";
import { createHandler, listen, storeRoute } from "../../src/server/index.js";
import { fileStore } from "../../src/store/file.js";
import type { Preparing } from "../../src/viewer/page/prepared.js";
import { build, cli, octavo } from "./run.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-cli-view-"));
const cache = join(folder, "cache");
const stores = join(cache, "octavo/stores");
const never = new AbortController().signal;
beforeAll(async () => {
  build();
  await makeTracts(join(folder, "tracts.zv"), 50, never);
  await makeNeuron(join(folder, "cells/neuron.zv"), never);
  writeFileSync(join(folder, "fibres.trk"), trk(8000, 50));
  writeFileSync(join(folder, "secret.txt"), "secret");
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

function trk(count: number, vertices: number): Uint8Array {
  const identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const header = { n_count: count, version: 2, dimensions: [99, 99, 99], voxel_size: [1, 1, 1], voxel_order: "RAS" };
  const words = new Int32Array(count * (1 + 3 * vertices));
  const values = new Float32Array(words.buffer);
  for (let i = 0, at = 0; i < count; i++) {
    words[at++] = vertices;
    for (let k = 0; k < 3 * vertices; k++) values[at++] = 40 + 30 * Math.sin(i + (k % 3)) + k / 10;
  }
  return concat([encodeTrkHeader({ ...header, vox_to_ras: identity }, "little"), new Uint8Array(words.buffer)]);
}

interface Told {
  /** The page's address. */
  readonly url: string;
  readonly layers: readonly string[];
  at(path: string): string;
  preparing(): Promise<Preparing[]>;
}

/** Runs it until `work` is done, then interrupts it. */
async function viewing(args: readonly string[], work: (told: Told) => Promise<void>) {
  const env = { ...process.env, XDG_CACHE_HOME: cache, DISPLAY: "" };
  const child = spawn(process.execPath, [cli, "view", ...args, "--port", "0", "--json"], { cwd: folder, env });
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
    const told = JSON.parse(stdout) as Told;
    const at = (path: string): string => new URL(path, told.url).href;
    const preparing = async () => (await fetch(at("preparing.json"))).json() as Promise<Preparing[]>;
    await work({ ...told, at, preparing });
  } finally {
    child.kill("SIGINT");
  }
  return { code: await ended, stderr };
}

async function untilPrepared({ preparing }: Told): Promise<void> {
  for (let list = await preparing(); list.length > 0; list = await preparing()) {
    expect(list.filter(({ failed }) => failed)).toEqual([]);
    await new Promise((go) => setTimeout(go, 300));
  }
}

const TIME = 120_000;

describe("octavo demo", () => {
  it.each(["SIGINT", "SIGTERM"] as const)(
    "ends in the viewer at a terminal, until %s",
    { timeout: TIME },
    async (signal) => {
      const terminal = "data:text/javascript,process.stdout.isTTY=true";
      const env = { ...process.env, XDG_CACHE_HOME: cache, TMPDIR: mkdtempSync(join(folder, "tmp-")), DISPLAY: "" };
      const child = spawn(process.execPath, ["--import", terminal, cli, "demo", "-q"], { cwd: folder, env });
      const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
      let stdout = "";
      try {
        const address = await new Promise<string>((resolve, reject) => {
          child.stdout.on("data", (data) => {
            stdout += data;
            const [url] = /http:\S+url=\S*particles\.zv\S*/.exec(stdout) ?? [];
            if (url !== undefined && /open this address/.test(stdout)) resolve(url);
          });
          child.on("close", () => reject(new Error(stdout)));
        });
        expect(await (await fetch(address)).text()).toContain("<title>Octavo</title>");
        const layers = new URL(address).searchParams.getAll("url");
        expect(layers.map((layer) => layer.split("/").at(-2))).toEqual([
          "tracts.zv",
          "neuron.zv",
          "body.zv",
          "particles.zv",
        ]);
        for (const layer of layers) {
          const dataset = await open(new URL(layer, address).href);
          if (dataset.kind !== "vectors") throw new Error("that is no geometry");
          expect(dataset.axes[0]?.unit).toBe("micrometer"); // they stand beside each other
        }
      } finally {
        child.kill(signal);
      }
      expect(await ended).toBe(0);
      expect(readdirSync(env.TMPDIR)).toEqual([]);
    },
  );
});

describe("the page", () => {
  it("is served beside the data, each address a layer, and nothing else is", { timeout: TIME }, async () => {
    const { code, stderr } = await viewing(["tracts.zv", "cells/neuron.zv"], async ({ url, layers, at }) => {
      expect(layers).toEqual(["data/0/tracts.zv/", "data/1/neuron.zv/"]);
      expect(new URL(url).searchParams.getAll("url")).toEqual(layers);
      const page = await fetch(url);
      expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
      expect(await page.text()).toContain("<title>Octavo</title>");
      for (const layer of layers) expect((await open(at(layer))).kind).toBe("vectors");
      for (const path of ["secret.txt", "data/0/secret.txt", "data/2/", "data/0/tracts.zv/%2e%2e/%2e%2e/secret.txt"])
        expect(await (await fetch(at(path))).text()).not.toContain("secret\n");
      expect((await fetch(at("data/0/"))).status).toBe(404);
      expect((await fetch(url, { headers: { host: "evil.example" } })).ok).toBe(true); // fetch sends its own Host
      expect((await fetch(url, { headers: { origin: "https://evil.example" } })).status).toBe(403);
    });
    expect(code).toBe(0);
    expect(stderr).toContain("open this address in a browser"); // there is no screen here
  });

  it.each([true, false])("of data on the web: pages may read there: %s", { timeout: TIME }, async (allowed) => {
    const options = { routes: [storeRoute("", fileStore(folder))], ...(allowed && { origins: ["*"] }) };
    // A server that does not know the page refuses it; so here the server of the page reads, without an origin.
    const web = await listen(createHandler(options));
    try {
      await viewing([`${web.url}/tracts.zv`], async ({ layers, at }) => {
        expect(layers).toEqual([allowed ? `${web.url}/tracts.zv` : "data/0/tracts.zv/"]);
        expect((await open(at(layers[0]!))).kind).toBe("vectors");
      });
    } finally {
      await web.close();
    }
  });

  it.each([
    [["none.zv"], 3, /none\.zv/],
    [["tracts.zv", "--port", "x"], 2, /expected a number/],
    [[], 2, /URL… is missing/],
  ])("%j is a wrong call", async (args, expected, sentence) => {
    const { code, stderr } = await octavo(["view", ...args], { cwd: folder });
    expect(code).toBe(expected);
    expect(stderr).toMatch(sentence);
  });
});

describe("a file without an index", () => {
  it("is a sample first, then all of it, from a store that is kept", { timeout: TIME }, async () => {
    const first = await viewing(["fibres.trk"], async (told) => {
      const { layers, at, url } = told;
      expect(layers).toEqual(["data/0/fibres.trk/"]);
      expect(new URL(url).searchParams.has("preparing")).toBe(true);
      const [state] = await told.preparing();
      if (state !== undefined) {
        expect(state).toMatchObject({ url: layers[0], shows: "preview/0/fibres.trk/" });
        expect(state.says).toContain("Shown is a sample of fibres.trk");
        const sample = await open(at(state.shows!));
        if (sample.kind !== "vectors") throw new Error("a sample is geometry");
        expect((await sample.describe()).vertices).toBeGreaterThan(50_000);
        expect((await sample.describe()).vertices).toBeLessThan(400_000);
      }
      await untilPrepared(told);
      const { equal } = await diff(join(folder, "fibres.trk"), at(layers[0]!), { ignore: ["levels"] });
      expect(equal).toBe(true);
    });
    expect(first.code).toBe(0);
    const [, path] = /a store is made in (.*)/.exec(first.stderr)!;
    expect(path).toMatch(/octavo\/stores\/[0-9a-f]{16}\/fibres\.zv$/);
    expect(existsSync(path!)).toBe(true);
    expect(readdirSync(stores)).toHaveLength(1);

    const second = await viewing(["fibres.trk"], async ({ preparing, layers, at }) => {
      expect(await preparing()).toEqual([]);
      expect((await open(at(layers[0]!))).kind).toBe("vectors");
    });
    expect(second.stderr).toContain(`its store of an earlier time, ${path}`);
    expect(readdirSync(stores)).toHaveLength(1);
  });

  it("is made anew when the file is another, and old ones make room", { timeout: TIME }, async () => {
    copyFileSync(join(folder, "fibres.trk"), join(folder, "others.trk"));
    const { stderr } = await viewing(["others.trk", "--cache", "1"], untilPrepared);
    expect(stderr).toContain("a store is made in");
    await viewing(["others.trk"], async ({ preparing }) => expect(await preparing()).toEqual([]));
    utimesSync(join(folder, "others.trk"), new Date(), new Date(2020, 1, 1));
    await viewing(["others.trk"], async ({ preparing }) => expect(await preparing()).toHaveLength(1));
    expect(readdirSync(stores).filter((name) => name.endsWith(".partial"))).toEqual([]); // ended on the way, nothing is left
  });

  it("that is damaged shows its sample, and says what is wrong", { timeout: TIME }, async () => {
    writeFileSync(join(folder, "cut.trk"), trk(8000, 50).slice(0, -5));
    await viewing(["cut.trk"], async ({ preparing, at }) => {
      let [state] = await preparing();
      for (; state?.failed === undefined; [state] = await preparing()) await new Promise((go) => setTimeout(go, 300));
      expect(state.says).toMatch(/cut\.trk could not be prepared: .* within streamline 7999/);
      expect((await open(at(state.shows!))).kind).toBe("vectors");
    });
  });

  it("that is damaged is shown without what is, where that is asked for", { timeout: TIME }, async () => {
    writeFileSync(join(folder, "bad.csv"), "x,y,z\n1,2,3\n4,nan,6\n7,8,9\n");
    const { stderr } = await viewing(["bad.csv", "--skip-bad"], async (told) => {
      await untilPrepared(told);
      const dataset = (await open(told.at(told.layers[0]!))) as VectorDataset;
      expect(await dataset.select().count()).toMatchObject({ vertices: 2 });
    });
    expect(stderr).toMatch(/^skipped .*bad\.csv/m);
  });

  it("of old stores the ones that were not used for longest go", async () => {
    const among = join(folder, "among");
    for (const [i, name] of ["a", "b", "c", "9.999999999.partial"].entries()) {
      mkdirSync(join(among, name), { recursive: true });
      writeFileSync(join(among, name, "x.zv"), new Uint8Array(100));
      utimesSync(join(among, name), new Date(2020, 1, 1), new Date(2020, 1, 10 - i));
    }
    await trim(200, [], among);
    expect(readdirSync(among)).toEqual(["a", "b"]);
    await trim(1, [join(among, "b/x.zv")], among);
    expect(readdirSync(among)).toEqual(["b"]);
  });
});

it("addresses are opened as each system does it, where there is a screen", () => {
  expect(openerOf("darwin", {})).toEqual(["open"]);
  expect(openerOf("win32", {})[0]).toBe("rundll32");
  expect(openerOf("linux", { DISPLAY: ":0" })).toEqual(["xdg-open"]);
  expect(openerOf("linux", { WAYLAND_DISPLAY: "wayland-0" })).toEqual(["xdg-open"]);
  expect(openerOf("linux", { DISPLAY: "" })).toEqual([]);
});
