/** Several processes on one directory: what they do at once is not lost, and what kills them tears nothing. */
import { type ChildProcess, spawn } from "node:child_process";
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildSync } from "esbuild";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fileStore } from "./file.js";
import { Key, Prefix } from "./key.js";

const base = fs.mkdtempSync(join(tmpdir(), "octavo-processes-"));
const k = Key.of;
afterAll(() => fs.rmSync(base, { recursive: true }));

const program = `
import { fileStore } from "./file.mjs";
const [root, what, times] = process.argv.slice(2);
const store = fileStore(root, { durability: "none" });
async function increment() {
  for (;;) {
    const { version } = await store.stat("count");
    const number = Number(new TextDecoder().decode(await store.get("count")));
    try {
      return await store.set("count", new TextEncoder().encode(String(number + 1)), { if: { version } });
    } catch (error) {
      if (error.name !== "Conflict") throw error;
    }
  }
}
if (what === "increment") for (let i = 0; i < Number(times); i++) await increment();
if (what === "write") {
  process.stdout.write("ready");
  for (let i = 1; ; i = (i % 250) + 1) {
    await store.set("v", new Uint8Array(200_000 + i).fill(i));
    const sink = await store.write("w");
    await sink.write(new Uint8Array(100_000).fill(i));
    await sink.write(new Uint8Array(i).fill(i));
    await sink.commit();
    await increment();
  }
}
`;

beforeAll(() => {
  const entry = new URL("./file.ts", import.meta.url).pathname;
  buildSync({ entryPoints: [entry], outfile: join(base, "file.mjs"), bundle: true, platform: "node", format: "esm" });
  fs.writeFileSync(join(base, "program.mjs"), program);
});

function start(root: string, ...args: string[]): ChildProcess {
  return spawn(process.execPath, [join(base, "program.mjs"), root, ...args], { stdio: ["ignore", "pipe", "inherit"] });
}
const ended = (child: ChildProcess) => new Promise((done) => child.on("close", done));

async function begin(name: string) {
  const root = join(base, name);
  const store = fileStore(root);
  await store.set(k("count"), new TextEncoder().encode("0"));
  return { root, store, count: async () => Number(new TextDecoder().decode(await store.get(k("count")))) };
}

it("processes that add one at once lose nothing", async () => {
  const { root, count } = await begin("add");
  const codes = await Promise.all(Array.from({ length: 3 }, () => ended(start(root, "increment", "20"))));
  expect(codes).toEqual([0, 0, 0]);
  expect(await count()).toBe(60);
});

it("kill -9 in the middle of writes tears nothing and blocks nobody", async () => {
  const { root, store, count } = await begin("kill");
  for (let kill = 0; kill < 10; kill++) {
    const child = start(root, "write");
    await new Promise((done) => child.stdout!.once("data", done));
    await new Promise((done) => setTimeout(done, Math.random() * 30));
    child.kill("SIGKILL");
    await ended(child);
    for (const [key, size] of [
      ["v", 200_000],
      ["w", 100_000],
    ] as const) {
      const value = await store.get(k(key));
      if (value === undefined) continue;
      expect(value.length).toBe(size + value[0]!);
      expect(value.every((byte) => byte === value[0])).toBe(true);
    }
    const before = await count();
    expect(await ended(start(root, "increment", "1"))).toBe(0); // also past a lock that the dead may hold
    expect(await count()).toBe(before + 1);
  }
  const { keys } = await store.children(Prefix.root);
  expect(keys.every((key) => ["count", "v", "w"].includes(key))).toBe(true);

  const partials = () => fs.readdirSync(root).filter((name) => name.endsWith(".partial") && !name.includes(".lock."));
  for (const name of partials()) fs.utimesSync(join(root, name), 0, 0); // a day later
  await fileStore(root).set(k("v"), new Uint8Array(1));
  expect(partials()).toEqual([]);
});
