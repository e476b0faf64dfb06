/** A headless Chromium of this machine, driven by playwright-core, which brings none of its own. */
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium } from "playwright-core";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome";

/** The path of the browser: CHROMIUM, or the first one on the PATH. */
export function findChromium(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const candidates = [process.env.CHROMIUM ?? "", ...NAMES.flatMap((name) => folders.map((f) => join(f, name))), MAC];
  return candidates.find((path) => path !== "" && existsSync(path));
}

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}
