#!/usr/bin/env node
/**
 * Makes the peers that tests and benchmarks run beside Octavo, in .cache/peers/NAME: `npm run peers [NAME…]`. They are virtual
 * environments, one for each test/interop/requirements-NAME.txt, made once per list of versions, and "neuroglancer", the
 * client of test/neuroglancer. PYTHON names another interpreter than python3; 3.11 is the oldest that the lists install on.
 * A list whose first line says "# python 3.12" needs at least that, and is left out where there is none.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { buildClient } from "../test/neuroglancer/client/build.mjs";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const lists = join(root, "test/interop");
const CLIENT = "neuroglancer";
const known = [...readdirSync(lists).flatMap((file) => /^requirements-(.+)\.txt$/.exec(file)?.[1] ?? []), CLIENT];
const names = process.argv.length > 2 ? process.argv.slice(2) : known;

const fail = (message) => {
  console.error(`peers: ${message}`);
  process.exit(1);
};
const run = (command, args) => {
  const result = spawnSync(command, args, { stdio: ["ignore", "inherit", "inherit"] });
  if (result.status !== 0) fail(`"${command} ${args.join(" ")}" ended with ${result.status ?? result.error?.message}`);
};

/** The first interpreter that is new enough; undefined where there is none. */
function pythonFrom(least) {
  const installed = join(homedir(), ".pyenv/versions");
  const versions = existsSync(installed)
    ? readdirSync(installed).map((name) => join(installed, name, "bin/python"))
    : [];
  const test = `import sys; sys.exit(sys.version_info < (${least.replace(".", ",")}))`;
  const candidates = [process.env.PYTHON ?? "python3", "python3.12", "python3.13", "python3.14", ...versions];
  return candidates.find((python) => spawnSync(python, ["-c", test], { stdio: "ignore" }).status === 0);
}

/** False where no interpreter is new enough. */
function makeVenv(name, venv) {
  const list = join(lists, `requirements-${name}.txt`);
  const wanted = readFileSync(list, "utf8");
  const mark = join(venv, "requirements.txt"); // written last: an interrupted installation is made again
  if (existsSync(mark) && readFileSync(mark, "utf8") === wanted) return true;
  const [, least = "3.11"] = /^# python (\d+\.\d+)/.exec(wanted) ?? [];
  const python = pythonFrom(least);
  if (python === undefined) {
    console.log(`peers: ${name} is left out: it needs Python ${least}, or PYTHON to name one`);
    return false;
  }
  rmSync(venv, { recursive: true, force: true });
  run(python, ["-m", "venv", venv]);
  run(join(venv, "bin/python"), ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", list]);
  writeFileSync(mark, wanted);
  return true;
}

for (const name of names) {
  if (!known.includes(name)) fail(`no peer "${name}", there are ${known.join(", ")}`);
  const folder = join(root, ".cache/peers", name);
  if (name === CLIENT) await buildClient(folder).catch((error) => fail(error.message));
  else if (!makeVenv(name, folder)) continue;
  console.log(`peers: ready in ${folder}`);
}
