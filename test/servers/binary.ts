/**
 * The servers that tests start: where their programs are, and how they are had. A program is looked for in its own
 * variable, in .cache/bin, in PATH and where `go install` puts it; `ensureServers` installs what is missing, outside any
 * test's time limit. Where there is no Go the tests skip and say why; in CI they must run.
 */
import { execFileSync } from "node:child_process";
import { accessSync, constants, mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";

export interface Program {
  readonly name: string;
  /** The variable that may hold its path. */
  readonly variable: string;
  readonly source: string;
}

export const versitygw: Program = {
  name: "versitygw",
  variable: "OCTAVO_VERSITYGW",
  source: "github.com/versity/versitygw/cmd/versitygw@v1.8.0",
};

export const fakeGcs: Program = {
  name: "fake-gcs-server",
  variable: "OCTAVO_FAKE_GCS",
  source: "github.com/fsouza/fake-gcs-server@v1.56.1",
};

const CACHE = join(import.meta.dirname, "..", "..", ".cache", "bin");

export function find(program: Program): string | undefined {
  const own = process.env[program.variable];
  if (own !== undefined) return executable(own) ?? fail(`${program.variable} names ${own}, which cannot be run`);
  const go = process.env.GOBIN ?? join(process.env.GOPATH?.split(delimiter)[0] ?? join(homedir(), "go"), "bin");
  for (const folder of [CACHE, ...(process.env.PATH ?? "").split(delimiter), go]) {
    const found = folder === "" ? undefined : executable(join(folder, program.name));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Whether the tests that need the program run, and the words for the case that they do not. */
export function availability(program: Program): { readonly path: string | undefined; readonly title: string } {
  const path = find(program);
  if (path !== undefined) return { path, title: program.name };
  const reason = `${program.name} is not installed: run \`node scripts/ts.mjs test/servers/install.ts\` (needs Go)`;
  if (process.env.CI === "true") fail(reason);
  return { path, title: `${program.name} (skipped: ${reason})` };
}

/** Installs what is missing. With CI=true anything that then is still missing is an error. */
export function ensureServers(): void {
  for (const program of [versitygw, fakeGcs]) {
    if (find(program) !== undefined) continue;
    mkdirSync(CACHE, { recursive: true });
    try {
      execFileSync("go", ["install", program.source], { env: { ...process.env, GOBIN: CACHE }, stdio: "inherit" });
    } catch (cause) {
      const why = (cause as { code?: string }).code === "ENOENT" ? "there is no Go" : (cause as Error).message;
      console.error(`${program.name} cannot be installed: ${why}`);
    }
    if (find(program) === undefined && process.env.CI === "true") fail(`CI needs ${program.source}`);
  }
}

function executable(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return path;
  } catch {
    return undefined;
  }
}

function fail(message: string): never {
  throw new Error(message);
}
