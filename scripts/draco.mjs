// Makes src/codec/draco-decoder-wasm.ts and draco-encoder-wasm.ts from the WebAssembly of draco3d: the binary as deflated
// base64 text, so that Node, browsers and bundlers need no file beside the code, and the names of its functions, which the
// binary itself has only as letters. They stand in the package's own loader, which is not used otherwise: docs/decisions/
// draco.md says why. `--if-stale` does nothing when both are newer than the package and this script.
import { readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { deflateSync } from "node:zlib";

const root = fileURLToPath(new URL("..", import.meta.url));
const source = `${root}node_modules/draco3d/`;
const target = (kind) => `${root}src/codec/draco-${kind}-wasm.ts`;

function make(kind) {
  const { version } = JSON.parse(readFileSync(`${source}package.json`, "utf8"));
  const wasm = readFileSync(`${source}draco_${kind}.wasm`);
  const loader = readFileSync(`${source}draco_${kind}_nodejs.js`, "utf8").replaceAll("\n", "");
  const find = (pattern) => {
    const found = pattern.exec(loader)?.[1];
    if (found === undefined)
      throw new Error(`draco3d ${version} is not built as expected: ${pattern} is not in its loader`);
    return found;
  };
  const names = {};
  for (const [, name, letter] of loader.matchAll(/\._(?:emscripten_bind_)?(\w+)=\s*\w+\.([\w$]+)[;,]/g))
    if (!name.startsWith("emscripten_enum")) names[name] = letter;
  // Of what the binary imports, only the function that grows the memory must do something; the others end it.
  const growFunction = find(/(\w+)=function\(\w+\)\{var \w+=\w+\.length;\w+>>>=0;/);
  const grow = find(new RegExp(`[{,](\\w+):${growFunction}[,}]`));
  const start = find(/\b\w+\.(\w+)\(\);\(\w+=\(\w+=\w+\)\.onRuntimeInitialized\)/);
  const { exports, imports } = WebAssembly.Module;
  const module = new WebAssembly.Module(wasm);
  const known = [...Object.values(names), start].every((name) => exports(module).some((each) => each.name === name));
  if (!known || !imports(module).some(({ name }) => name === grow))
    throw new Error(`draco3d ${version} is not built as expected: its loader names what the binary does not have`);
  const memory = exports(module).find((each) => each.kind === "memory").name;
  const text = deflateSync(wasm, { level: 9 }).toString("base64");
  const partial = `${target(kind)}.${process.pid}.partial`; // renamed when whole: test runs may start together
  writeFileSync(
    partial,
    `/** Made by scripts/draco.mjs from the ${kind} of draco3d ${version}; ${wasm.length} bytes, deflated. */
import type { DracoBinary } from "./draco-host.js";

export const binary: DracoBinary = {
  memory: "${memory}",
  start: "${start}",
  grow: "${grow}",
  names: ${JSON.stringify(names)},
  deflated:
    "${text}",
};
`,
  );
  renameSync(partial, target(kind));
}

const made = (kind) => statSync(target(kind), { throwIfNoEntry: false })?.mtimeMs ?? 0;
const inputs = [fileURLToPath(import.meta.url), `${source}package.json`].map((path) => statSync(path));
for (const kind of ["decoder", "encoder"]) {
  // ctime: a package keeps the times that it was packed with
  const stale = inputs.some(({ mtimeMs, ctimeMs }) => Math.max(mtimeMs, ctimeMs) > made(kind));
  if (stale || !process.argv.includes("--if-stale")) make(kind);
}
