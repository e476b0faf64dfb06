/**
 * The Python peers live in a virtual environment that `npm run peers` makes (.cache/peers), or wherever OCTAVO_PEERS points.
 * With CI=true their absence is a failure, elsewhere the interop is skipped and says why.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));
export const venv = process.env.OCTAVO_PEERS ?? join(root, ".cache/peers");
const python = join(venv, "bin/python");

/** Why the peers cannot be asked; undefined when they can. */
export function missingPeers(): string | undefined {
  const found = existsSync(python) && spawnSync(python, ["-c", "import zarr, tensorstore, numcodecs"]).status === 0;
  if (found) return undefined;
  const reason = `no Python peers in ${venv}: run "npm run peers"`;
  if (process.env.CI === "true") throw new Error(reason);
  return reason;
}

/** Runs one of the scripts in this folder; its standard output. */
export function runPeer(script: string, ...args: readonly string[]): string {
  const result = spawnSync(python, [join(here, script), ...args], { encoding: "utf8", maxBuffer: 1 << 28 });
  if (result.status !== 0) throw new Error(`${script} ended with ${result.status}: ${result.stderr.slice(-2000)}`);
  return result.stdout;
}
