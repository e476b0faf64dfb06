#!/usr/bin/env node
/**
 * Completes package-lock.json, after every `npm install`: npm records only the platform packages that its registry shows,
 * some mirrors show only those of one platform, and `npm ci` then refuses the lockfile for the sake of all the others.
 * Their names and versions are known from whoever asks for them; what they run on is in their names.
 */
import { readFileSync, writeFileSync } from "node:fs";

const file = new URL("../package-lock.json", import.meta.url);
const SYSTEMS = ["aix", "android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "sunos", "win32"];
const LIBRARIES = ["gnu", "gnueabihf", "musl"];
const PROCESSORS = ["arm64", "arm", "ia32", "loong64", "mips64el", "ppc64", "riscv64", "s390x", "x64", "wasm32"];

/** Names of the packages that some package may need and that have no entry: path, version, and who asks. */
export function missingEntries(lock) {
  const missing = [];
  for (const [path, about] of Object.entries(lock.packages)) {
    for (const [name, version] of Object.entries(about.optionalDependencies ?? {})) {
      const found = [`node_modules/${name}`, `${path}/node_modules/${name}`].some((key) => key in lock.packages);
      if (!found) missing.push({ path: `node_modules/${name}`, name, version, by: about });
    }
  }
  return missing;
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const lock = JSON.parse(readFileSync(file, "utf8"));
  for (const { path, name, version, by } of missingEntries(lock)) {
    const words = name.split(/[/-]/);
    const [cpu, os, libc] = [PROCESSORS, SYSTEMS, LIBRARIES].map((known) => words.find((word) => known.includes(word)));
    lock.packages[path] = {
      version,
      ...(cpu && { cpu: [cpu] }),
      ...(by.dev && { dev: true }),
      ...(libc && { libc: [libc === "musl" ? "musl" : "glibc"] }),
      optional: true,
      ...(os && { os: [os] }),
    };
  }
  const inOrder = Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1));
  writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(inOrder) }, null, 2)}\n`);
}
