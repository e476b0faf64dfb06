/** A server in a process of its own: started on a free port of 127.0.0.1, ended with the test or with this process. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Server {
  readonly url: string;
  /** Its data; gone after `close`. */
  readonly folder: string;
  close(): Promise<void>;
}

/** `ready` is asked with the server's URL until it answers true. */
export async function startServer(
  path: string,
  args: (port: number, folder: string) => readonly string[],
  env: Record<string, string>,
  ready: (url: string) => Promise<boolean>,
): Promise<Server> {
  const folder = mkdtempSync(join(tmpdir(), "octavo-server-"));
  const port = await freePort();
  const child = spawn(path, args(port, folder), { env: { ...process.env, ...env }, stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data: Buffer) => {
      output = (output + data.toString()).slice(-4000);
    });
  child.once("error", (error) => {
    output += error.message; // such as a program for another machine
  });
  const ended = new Promise<void>((done) => child.once("close", () => done()));
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const close = async () => {
    process.off("exit", kill);
    kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };

  const url = `http://127.0.0.1:${port}`;
  for (const deadline = Date.now() + 20_000; Date.now() < deadline && child.exitCode === null; ) {
    if (await ready(url).catch(() => false)) return { url, folder, close };
    await new Promise((done) => setTimeout(done, 20));
  }
  await close();
  throw new Error(`${path} did not start: ${output}`);
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((done) => probe.listen(0, "127.0.0.1", done));
  const { port } = probe.address() as { port: number };
  await new Promise((done) => probe.close(done));
  return port;
}
