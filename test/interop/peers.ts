/**
 * The Python peers live in virtual environments that `npm run peers` makes, .cache/peers/NAME for each requirements-NAME.txt
 * here, or in the same folders wherever OCTAVO_PEERS points. With CI=true the absence of one is a failure, elsewhere its
 * interop is skipped and says why.
 */
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const here = fileURLToPath(new URL(".", import.meta.url));
const root = fileURLToPath(new URL("../..", import.meta.url));

/** The environment, and a module that shows that it is complete. */
const modules = {
  interchange: "trimesh",
  "packed-tree": "packingcubes",
  vtk: "vtk",
  precomputed: "cloudvolume",
  zarr: "tensorstore",
  "zarr-vectors-0.9": "zarr_vectors_tools",
  "zarr-vectors-0.2": "zarr_vectors",
  "zarr-vectors-tools": "zarr_vectors_tools",
} as const;
export type Peer = keyof typeof modules;

/** Needs a Python that is not everywhere. */
const mayBeMissing: readonly Peer[] = ["packed-tree"];

export const pythonOf = (peer: Peer): string =>
  join(process.env.OCTAVO_PEERS ?? join(root, ".cache/peers"), peer, "bin/python");

/** Why the peer cannot be asked; undefined when it can. */
export function missingPeer(peer: Peer): string | undefined {
  const python = pythonOf(peer);
  if (existsSync(python) && spawnSync(python, ["-c", `import ${modules[peer]}`]).status === 0) return undefined;
  const reason = `no ${python}: run "npm run peers"`;
  if (process.env.CI === "true" && !mayBeMissing.includes(peer)) throw new Error(reason);
  return reason;
}

/** Runs one of the scripts in this folder; its standard output. */
export function runPeer(peer: Peer, script: string, ...args: readonly string[]): string {
  const result = spawnSync(pythonOf(peer), [join(here, script), ...args], { encoding: "utf8", maxBuffer: 1 << 28 });
  if (result.status !== 0) throw new Error(`${script} ended with ${result.status}: ${result.stderr.slice(-2000)}`);
  return result.stdout;
}
