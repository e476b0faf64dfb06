/**
 * The installed package in a page that Vite and webpack build, with nothing said to them about Octavo: examples/viewer, with a viewer
 * (`octavo/viewer`) and an object in a scene (`octavo/three`). Each is opened in Chromium, must draw a store, in workers, and complain about nothing.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { build } from "vite";
import webpack from "webpack";
import { makeTracts } from "../../src/cli/demo-data.js";
import { createHandler, listen, pageRoute, storeRoute } from "../../src/server/index.js";
import { fileStore } from "../../src/store/file.js";
import { launch } from "../browser/chromium.js";

const example = (name: string): string =>
  readFileSync(new URL(`../../examples/viewer/${name}`, import.meta.url), "utf8");

/** Builds with Vite, as its page on production builds says. */
async function viteBuild(folder: string): Promise<string> {
  writeFileSync(join(folder, "index.html"), example("index.html"));
  await build({ root: folder, configFile: false, logLevel: "error" });
  return join(folder, "dist");
}

async function webpackBuild(folder: string): Promise<string> {
  const path = join(folder, "dist");
  const optimization = { minimize: false }; // Vite's page is; here it would take most of the time
  const compiler = webpack({ context: folder, entry: "./main.js", mode: "production", output: { path }, optimization });
  const stats = await new Promise<webpack.Stats>((resolve, reject) => {
    compiler.run((error, found) => (error ? reject(error) : resolve(found!)));
  });
  await new Promise((done) => compiler.close(done));
  const { errors = [], warnings = [] } = stats.toJson({ all: false, errors: true, warnings: true });
  const serious = [...errors, ...warnings].filter(({ message }) => !/size limit|performance/i.test(message));
  if (serious.length > 0) throw new Error(`webpack: ${serious.map(({ message }) => message).join("; ")}`);
  const html = example("index.html").replace(/<script.*<\/script>/, '<script defer src="main.js"></script>');
  writeFileSync(join(path, "index.html"), html);
  return path;
}

/** The share of pixels of both canvases that are not black. */
const drawn = (page: Page): Promise<number[]> =>
  page.evaluate(() =>
    [...document.querySelectorAll("canvas")].map((canvas) => {
      const copy = document.createElement("canvas");
      [copy.width, copy.height] = [canvas.width, canvas.height];
      const context = copy.getContext("2d")!;
      context.drawImage(canvas, 0, 0);
      const { data } = context.getImageData(0, 0, copy.width, copy.height);
      let lit = 0;
      for (let at = 0; at < data.length; at += 4) if (data[at]! + data[at + 1]! + data[at + 2]! > 60) lit++;
      return lit / (data.length / 4);
    }),
  );

/** Builds both pages in the project, which has octavo and three installed, and opens them. */
export async function checkPages(project: string, chromium: string | undefined): Promise<string> {
  const data = join(project, "data");
  await makeTracts(join(data, "tracts.zv"), 200, new AbortController().signal);
  const builders = { Vite: viteBuild, webpack: webpackBuild };
  const said: string[] = [];
  for (const [name, make] of Object.entries(builders)) {
    const folder = join(project, name);
    mkdirSync(folder);
    writeFileSync(join(folder, "main.js"), example("main.js"));
    const site = await make(folder);
    if (!existsSync(join(site, "index.html"))) throw new Error(`${name} has built no page`);
    said.push(chromium === undefined ? `${name} builds` : `${name} ${await look(site, data, chromium, name)}`);
  }
  return said.join(", ");
}

async function look(site: string, data: string, chromium: string, name: string): Promise<string> {
  const routes = [pageRoute("", fileStore(site)), storeRoute("data/", fileStore(data))];
  const server = await listen(createHandler({ routes }));
  const browser = await launch(chromium);
  try {
    const page = await browser.newPage({ viewport: { width: 520, height: 820 } });
    const complaints: string[] = [];
    page.on("pageerror", (error) => void complaints.push(String(error)));
    page.on("console", (message) => {
      const text = message.text();
      // A store asks for what may not be there, and the software renderer says that it is slow.
      if (["error", "warning"].includes(message.type()) && !/404|GL Driver|GPU stall|swiftshader/i.test(text))
        complaints.push(text);
    });
    await page.goto(server.url);
    let shares: number[] = [];
    for (let tries = 0; tries < 120 && complaints.length === 0; tries++) {
      await page.waitForTimeout(500);
      shares = await drawn(page);
      if (shares.length === 2 && shares.every((share) => share > 0.02)) break;
    }
    const workers = page.workers().length;
    if (complaints.length > 0) throw new Error(`${name}: ${complaints.join("; ")}`);
    if (shares.length !== 2 || !shares.every((share) => share > 0.02))
      throw new Error(`${name}: the page has drawn ${shares.join(" and ") || "nothing"}`);
    if (workers !== 2) throw new Error(`${name}: ${workers} workers read, expected 2`);
    return `draws ${shares.map((share) => `${Math.round(100 * share)} %`).join(" and ")} of two pictures, read by ${workers} workers`;
  } finally {
    await browser.close();
    await server.close();
  }
}
