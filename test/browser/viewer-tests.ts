/** What tests of the viewer begin and end with: data in a folder, the page beside them, and a tab of a browser, whose console stays clean. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect } from "vitest";
import type { Route } from "../../src/server/index.js";
import { findChromium } from "./chromium.js";
import { type Site, site, type Viewer, viewer } from "./viewer-harness.js";

const chromium = findChromium();
const needed = process.env.CI === "true" || chromium !== undefined;

/** `make` puts data into a folder; they are served, beside the page and these other routes, before the first test. */
export function viewerTests(make: (data: string) => Promise<unknown>, routes: readonly Route[] = []) {
  const data = mkdtempSync(join(tmpdir(), "octavo-viewer-"));
  let served: Site | undefined;
  let tab: Viewer | undefined;
  beforeAll(async () => {
    if (!needed) return;
    [served] = await Promise.all([site(chromium!, data, routes), make(data)]);
    tab = await viewer(served);
  }, 300_000);
  afterEach(() => {
    if (needed) expect(own.complaints()).toEqual([]);
  });
  afterAll(async () => {
    await served?.close();
    rmSync(data, { recursive: true, force: true });
  });
  const own: Viewer = {
    get page() {
      return tab!.page;
    },
    complaints: () => tab!.complaints(),
    show: (state) => tab!.show(state),
    messages: () => tab!.messages(),
  };
  /** As `describe`. */
  const suite = (title: string, tests: () => void): void => {
    describe.skipIf(!needed)(`${title} (needs Chromium on the PATH or in CHROMIUM)`, { timeout: 120_000 }, tests);
  };
  return { data, own, served: () => served!, suite };
}
