#!/usr/bin/env node
/** Makes the virtual environment of the Python peers (zarr-python, tensorstore) in .cache/peers, once per list of versions. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const venv = join(root, ".cache/peers");
const wanted = join(root, "test/interop/requirements.txt");
const mark = join(venv, "requirements.txt");

const run = (command, args) => {
  const result = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (result.status !== 0) {
    console.error(`peers: "${command} ${args.join(" ")}" ended with ${result.status ?? result.error?.message}`);
    process.exit(1);
  }
};

if (!existsSync(mark) || readFileSync(mark, "utf8") !== readFileSync(wanted, "utf8")) {
  rmSync(venv, { recursive: true, force: true });
  run(process.env.PYTHON ?? "python3", ["-m", "venv", venv]);
  run(join(venv, "bin/python"), ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted]);
  writeFileSync(mark, readFileSync(wanted));
}
console.log(`peers: ready in ${venv}`);
