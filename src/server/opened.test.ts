/** A file that is kept open is the file that its name stands for, at every request. */
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { fileStore } from "../store/file.js";
import { Key } from "../store/key.js";
import { opener } from "./opened.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-opened-"));
afterAll(() => rmSync(folder, { recursive: true }));
mkdirSync(join(folder, "served"));

const put = (name: string, text: string): void => {
  writeFileSync(join(folder, name), text);
  const past = new Date(Date.now() - 100_000);
  utimesSync(join(folder, name), past, past);
};
const settle = () => new Promise((done) => setTimeout(done, 60)); // until no file is too young to be kept
const { open, close } = opener(fileStore(join(folder, "served")));

async function read(name: string): Promise<string | undefined> {
  const value = await open(Key.of(name), {});
  if (value === undefined) return undefined;
  const [bytes] = await value.read([{ offset: 0, length: value.size }]);
  value.close();
  value.close();
  return Buffer.from(bytes!).toString();
}

it("what was replaced, changed, taken away or linked elsewhere is seen at once", async () => {
  put("served/a", "one");
  await settle();
  expect([await read("a"), await read("a")]).toEqual(["one", "one"]);
  put("served/b", "two");
  renameSync(join(folder, "served/b"), join(folder, "served/a"));
  expect(await read("a")).toBe("two");
  await settle();
  expect([await read("a"), await read("a")]).toEqual(["two", "two"]);
  writeFileSync(join(folder, "served/a"), "six");
  expect(await read("a")).toBe("six");
  unlinkSync(join(folder, "served/a"));
  expect(await read("a")).toBeUndefined();
});

it("a link that leads out later is refused, although it led to a file inside before", async () => {
  put("served/real", "inside");
  put("secret", "outside");
  symlinkSync("real", join(folder, "served/link"));
  await settle();
  expect([await read("link"), await read("link")]).toEqual(["inside", "inside"]);
  unlinkSync(join(folder, "served/link"));
  symlinkSync("../secret", join(folder, "served/link"));
  await expect(read("link")).rejects.toThrow(/symbolic link out of/);
});

it("what somebody still reads is not closed, however many others are opened", async () => {
  put("served/held", "held");
  for (let i = 0; i < 100; i++) put(`served/n${i}`, String(i));
  await settle();
  const held = (await open(Key.of("held"), {}))!;
  for (let i = 0; i < 100; i++) expect(await read(`n${i}`)).toBe(String(i));
  expect(Buffer.from((await held.read([{ offset: 1, length: 3 }]))[0]!).toString()).toBe("eld");
  held.close();
});

/** Files of this test that the process has open, as Linux tells. */
const held = (): number =>
  readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`).startsWith(folder);
    } catch {
      return false; // that of the listing itself
    }
  }).length;

it.runIf(process.platform === "linux")("few files are kept open, and none for long", { timeout: 60_000 }, async () => {
  for (let i = 0; i < 100; i++) put(`served/m${i}`, String(i));
  await settle();
  for (let i = 0; i < 100; i++) expect(await read(`m${i}`)).toBe(String(i));
  expect(held()).toBeLessThanOrEqual(64);
  expect(held()).toBeGreaterThan(0);
  await expect.poll(held, { timeout: 30_000 }).toBe(0);
});

it.runIf(process.platform === "linux")("all stores together keep few, and each closes its own", async () => {
  const others = opener(fileStore(folder));
  for (let i = 0; i < 100; i++) put(`served/k${i}`, String(i));
  await settle();
  for (let i = 0; i < 50; i++) {
    await read(`k${i}`);
    (await others.open(Key.of(`served/k${50 + i}`), {}))!.close();
  }
  const sent = (await open(Key.of("k49"), {}))!;
  const before = held();
  expect(before).toBeLessThanOrEqual(64); // fewer where the machine took a second for it
  others.close();
  close();
  expect(held()).toBe(1);
  expect(Buffer.from((await sent.read([{ offset: 0, length: 2 }]))[0]!).toString()).toBe("49");
  sent.close();
  expect(held()).toBe(0);
  expect(await read("k1")).toBe("1"); // a route that was closed still answers
  close();
  expect(held()).toBe(0);
});
