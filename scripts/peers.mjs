#!/usr/bin/env node
/**
 * Makes the virtual environments of the Python peers, one for each test/interop/requirements-NAME.txt, in .cache/peers/NAME,
 * once per list of versions: `npm run peers [NAME…]`. PYTHON names another interpreter than python3; 3.11 is the oldest that
 * the lists install on.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lists = join(root, "test/interop");
const known = readdirSync(lists).flatMap((file) => /^requirements-(.+)\.txt$/.exec(file)?.[1] ?? []);
const names = process.argv.length > 2 ? process.argv.slice(2) : known;

const fail = (message) => {
  console.error(`peers: ${message}`);
  process.exit(1);
};
const run = (command, args) => {
  const result = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (result.status !== 0) fail(`"${command} ${args.join(" ")}" ended with ${result.status ?? result.error?.message}`);
};

for (const name of names) {
  if (!known.includes(name)) fail(`no environment "${name}", there are ${known.join(", ")}`);
  const wanted = join(lists, `requirements-${name}.txt`);
  const venv = join(root, ".cache/peers", name);
  const mark = join(venv, "requirements.txt"); // written last: an interrupted installation is made again
  if (!existsSync(mark) || readFileSync(mark, "utf8") !== readFileSync(wanted, "utf8")) {
    rmSync(venv, { recursive: true, force: true });
    run(process.env.PYTHON ?? "python3", ["-m", "venv", venv]);
    run(join(venv, "bin/python"), ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted]);
    writeFileSync(mark, readFileSync(wanted));
  }
  console.log(`peers: ready in ${venv}`);
}
