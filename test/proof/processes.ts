/** Programs of the proof in processes of their own, bundled once. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

let script: Promise<string> | undefined;

function bundled(): Promise<string> {
  const tool = join(import.meta.dirname, "../../scripts/ts.mjs");
  // "?": ts.mjs itself may be what runs this, and a module that waits for itself never ends.
  script ??= import(/* @vite-ignore */ `${pathToFileURL(tool)}?again`).then(({ bundle }) =>
    bundle(join(import.meta.dirname, "child.ts")),
  );
  return script;
}

/** How much garbage V8 keeps among young objects differs between versions of Node, up to 100 MB; what a program holds does not. */
const FLAGS = ["--max-semi-space-size=8"];

export async function start(...args: readonly string[]): Promise<ChildProcess & { readonly done: Promise<string> }> {
  const child = spawn(process.execPath, [...FLAGS, await bundled(), ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.on("data", (text) => {
    out += text;
  });
  child.stderr.on("data", (text) => {
    err += text;
  });
  const done = new Promise<string>((resolve, reject) => {
    child.on("close", (code, signal) => {
      if (code === 0 || signal === "SIGKILL") resolve(out);
      else reject(new Error(`child ${args.join(" ")} ended with ${signal ?? code}: ${err.slice(-800)}`));
    });
  });
  return Object.assign(child, { done });
}

/** Runs with a new folder that is gone afterwards. */
export async function inFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "octavo-proof-"));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 250 }); // others may still be writing
  }
}
