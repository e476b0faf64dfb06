/** `octavo view` in a real Chromium: a sample first, then all of it, under the same address; in workers, and with a clean console. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { concat } from "../../src/bytes/concat.js";
import { encodeTrkHeader } from "../../src/format/interchange/trk-header.js";
import { build, cli } from "../cli/run.js";
import { findChromium, launch } from "./chromium.js";

const chromium = findChromium();
const needed = process.env.CI === "true" || chromium !== undefined;
const folder = mkdtempSync(join(tmpdir(), "octavo-browser-view-"));
beforeAll(() => {
  if (!needed) return;
  build();
  writeFileSync(join(folder, "fibres.trk"), trk(12_000, 50));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

/** Streamlines along x, all over a cube. */
function trk(count: number, vertices: number): Uint8Array {
  const header = { n_count: count, version: 2, dimensions: [99, 99, 99], voxel_size: [1, 1, 1], voxel_order: "RAS" };
  const vox_to_ras = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1];
  const words = new Int32Array(count * (1 + 3 * vertices));
  const values = new Float32Array(words.buffer);
  for (let i = 0, at = 0; i < count; i++) {
    words[at++] = vertices;
    for (let v = 0; v < vertices; v++, at += 3) values.set([2 * v, (i * 37) % 99, (i * 61) % 97], at);
  }
  return concat([encodeTrkHeader({ ...header, vox_to_ras }, "little"), new Uint8Array(words.buffer)]);
}

describe.skipIf(!needed)("octavo view (needs Chromium on the PATH or in CHROMIUM)", () => {
  test("the page changes from a sample to all of the file, and its address stays", { timeout: 240_000 }, async () => {
    const env = { ...process.env, XDG_CACHE_HOME: join(folder, "cache") };
    const args = [cli, "view", "fibres.trk", "--no-open", "--port", "0"];
    const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "pipe", "ignore"] });
    const ended = new Promise((resolve) => child.on("close", resolve));
    const browser = await launch(chromium!);
    try {
      const url = await new Promise<string>((resolve) =>
        child.stdout.once("data", (text) => resolve(String(text).trim())),
      );
      const page = await browser.newPage({ viewport: { width: 760, height: 400 } });
      page.setDefaultTimeout(120_000); // software draws slowly where others work, too
      const complaints: string[] = [];
      page.on("pageerror", (error) => void complaints.push(String(error)));
      page.on("console", (message) => {
        if (message.type() === "error" && !/404/.test(message.text())) complaints.push(message.text());
      });
      await page.goto(url);
      // biome-ignore lint/performance/useDomNodeTextContent: what is said is what can be seen
      const said = (): Promise<string> => page.locator("#panel").innerText();
      const until = async (is: (text: string) => boolean): Promise<void> => {
        for (let text = await said(); !is(text); text = await said()) await page.waitForTimeout(200);
      };
      await until((text) => /[1-9][\d,]* vertices/.test(text));
      expect(page.workers().length).toBeGreaterThan(0);
      const sampled = await said();
      const camera = (): string => /"camera":(\{.*?\})/.exec(decodeURIComponent(new URL(page.url()).hash))?.[1] ?? "";
      const turned = (): string => /"azimuth":[^,]*/.exec(camera())?.[0] ?? "";
      while (turned() === "") await page.waitForTimeout(200);
      const first = turned();
      await page.locator("canvas").press("ArrowLeft"); // by hand: the view that must stay
      while (turned() === first) await page.waitForTimeout(200);
      const kept = camera();
      await until((text) => !text.includes("being prepared") && /[1-9][\d,]* vertices/.test(text));
      await until((text) => !text.includes("loading"));
      expect(sampled).toContain("fibres.trk");
      expect(camera()).toBe(kept);
      expect(decodeURIComponent(page.url())).toContain('/data/0/fibres.trk/"');
      expect(await page.locator(".card h3").allTextContents()).toEqual(["fibres.trk"]);
      expect(await page.locator("#messages > div").allTextContents()).toEqual([]);
      expect(complaints).toEqual([]);
    } finally {
      child.kill("SIGINT");
      await Promise.all([browser.close(), ended]);
    }
  });
});
