/** Runs the built command as a user does: another process, its exit code, what it printed where. */
import { execFileSync, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../..", import.meta.url));
export const cli = `${root}dist/cli.cjs`;

/** The launcher builds what is missing or old, also when several test files ask for it at once. */
export const build = (): void => void execFileSync(`${root}octavo`, ["--version"]);

export interface Result {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  /** Called with the running process, to interrupt it. */
  readonly started?: (kill: (signal: NodeJS.Signals) => void) => void;
}

export function octavo(args: readonly string[], options: RunOptions = {}): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [cli, ...args], {
      cwd: options.cwd ?? root,
      env: { ...process.env, NO_COLOR: "1", ...options.env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let [stdout, stderr] = ["", ""];
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    child.on("error", reject);
    child.on("close", (code) => resolve({ code, stdout, stderr }));
    options.started?.((signal) => void child.kill(signal));
  });
}
