/** A web server that says that it lists is listed; what it answers is not believed before it was looked at. */
import { expect, it } from "vitest";
import { LimitExceeded } from "../errors.js";
import { httpStore, LISTS } from "./http.js";
import { Key, Prefix } from "./key.js";

const served = (folders: Readonly<Record<string, unknown>>, headers: Record<string, string> = { [LISTS]: "1" }) =>
  httpStore("http://host/data", {
    fetch: async (url) => {
      const path = new URL(String(url)).pathname.slice("/data/".length);
      if (path === "info") return new Response("{}", { headers });
      const found = folders[path];
      return found === undefined ? new Response("", { status: 404 }) : new Response(JSON.stringify(found), { headers });
    },
  });
const info = Key.of("info");

it("lists folders, and folders in them", async () => {
  const store = served({
    "": { keys: ["info"], prefixes: ["a b/"] },
    "a%20b/": { keys: ["1", "2"], prefixes: ["c/"] },
    "a%20b/c/": { keys: ["3"], prefixes: [] },
  });
  expect(store.can.list).toBe(false);
  await expect(store.children(Prefix.root)).rejects.toThrow("cannot be listed");
  await store.get(info);
  expect(store.can.list).toBe(true);
  expect(await store.children(Prefix.of("a b"))).toEqual({ keys: ["a b/1", "a b/2"], prefixes: ["a b/c/"] });
  expect(await store.children(Prefix.of("x"))).toEqual({ keys: [], prefixes: [] });
  const keys: string[] = [];
  for await (const { key } of store.list(Prefix.root)) keys.push(key);
  expect(keys).toEqual(["info", "a b/1", "a b/2", "a b/c/3"]);
});

it("a server that does not say so is not asked", async () => {
  const store = served({ "": { keys: ["info"], prefixes: [] } }, {});
  await store.get(info);
  expect(store.can.list).toBe(false);
  await expect(store.children(Prefix.root)).rejects.toThrow("cannot be listed");
});

it.each([
  [[]],
  [{}],
  [{ keys: [1], prefixes: [] }],
  [{ keys: ["../x"], prefixes: [] }],
  [{ keys: [], prefixes: ["a"] }],
  [null],
])("%j is no listing", async (answer) => {
  const store = served({ "": answer });
  await store.get(info);
  await expect(store.children(Prefix.root)).rejects.toMatchObject({ kind: "corrupt" });
});

it("a listing that is cut is not taken for the whole", async () => {
  const store = served({ "": { keys: ["a"], prefixes: [], more: true } });
  await store.get(info);
  await expect(store.children(Prefix.root)).rejects.toBeInstanceOf(LimitExceeded);
});
