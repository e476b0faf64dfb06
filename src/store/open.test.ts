import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { zipSync } from "fflate";
import { afterAll, describe, expect, it } from "vitest";
import { serveStore } from "../testing/http-server.js";
import { fill } from "../testing/index.js";
import { fileStore } from "./file.js";
import { Key } from "./key.js";
import { memoryStore } from "./memory.js";
import { locationOpener, parsePipeline, webSchemes } from "./open.js";
import { nodeSchemes } from "./open-node.js";

const openLocation = locationOpener(nodeSchemes);
const base = fs.realpathSync(fs.mkdtempSync(join(tmpdir(), "octavo-open-")));
afterAll(() => fs.rmSync(base, { recursive: true }));
const k = Key.of;
const value = Uint8Array.of(1, 2, 3);
const zip = zipSync({ "a/v": value, "b c/v": value });
const nested = zipSync({ "in/x.zip": zip });

describe("pipelines", () => {
  it("are an address, zip files and a format", () => {
    expect(parsePipeline("https://h/a")).toEqual({ address: "https://h/a", zips: [] });
    expect(parsePipeline("https://host/data.zip|zip:path|zarr3:")).toEqual({
      address: "https://host/data.zip",
      zips: ["path"],
      format: { name: "zarr3", path: "" },
    });
    expect(parsePipeline("x|zip:/a%20b/|zarr:/c")).toEqual({
      address: "x",
      zips: ["a b/"],
      format: { name: "zarr", path: "c" },
    });
    for (const wrong of ["x|", "x|zip", "x|zarr:|zip:", "x|zarr:|zarr:", "x|zip:%zz", "x|:a"])
      expect(() => parsePipeline(wrong), wrong).toThrow(expect.objectContaining({ kind: "invalid-input" }));
  });
});

describe("files", () => {
  const folder = join(base, "with space");
  const path = (name: string) => join(folder, name);

  it("are folders, values, or zip files", async () => {
    await fill(fileStore(folder), { "d/v": value, "t.trk": value, "x.zip": zip, "n.zip": nested });
    fs.mkdirSync(path("folder.zip"));
    const dir = await openLocation(path("d"));
    expect(dir.at).toBe("");
    expect(await dir.store.get(k("v"))).toEqual(value);
    const file = await openLocation(path("t.trk"));
    expect(file.file).toBe("t.trk");
    expect(await file.store.get(file.file!)).toEqual(value);
    const inZip = await openLocation(path("x.zip"));
    expect(inZip.file).toBe(undefined);
    expect(await inZip.store.get(k("a/v"))).toEqual(value);
    const part = await openLocation(`${path("x.zip")}|zip:b%20c|zarr2:`);
    expect(part).toMatchObject({ at: "b c/", format: "zarr2" });
    const url = await openLocation(`${pathToFileURL(path("n.zip"))}|zip:in/x.zip|zip:a|zarr:v`);
    expect(url).toMatchObject({ at: "a/v/", format: "zarr" });
    expect(await url.store.get(k("a/v"))).toEqual(value);
    expect((await openLocation(path("folder.zip"))).store.can.write).toBe(true);
    expect((await openLocation(path("not there"))).at).toBe("");
    await expect(openLocation(path("not there.zip"))).rejects.toMatchObject({ kind: "not-found" });
    await expect(openLocation(`${path("d")}|zip:x`)).rejects.toMatchObject({ kind: "invalid-input" });
    await expect(openLocation("file://elsewhere/x")).rejects.toMatchObject({ kind: "invalid-input" });
  });
  it("can be made, zip files too", async () => {
    const { store, at } = await openLocation(`${path("new.zip")}|zip:sub`, { create: true, durability: "none" });
    await store.set(Key.join(at, "v"), value);
    await store.close?.();
    expect(await (await openLocation(path("new.zip"))).store.get(k("sub/v"))).toEqual(value);
  });
});

describe("the web", () => {
  it("opens folders, files and zip files, with their query", async () => {
    const server = await serveStore(
      await fill(memoryStore(), { "p/d/v": value, "p/x y.zip": zip, "p/packed.bin": value }),
    );
    try {
      const folder = await openLocation(`${server.url}/p/d/?sig=1`);
      expect(await folder.store.get(k("v"))).toEqual(value);
      const inZip = await openLocation(`${server.url}/p/x%20y.zip?sig=1|zip:a`);
      expect(inZip.at).toBe("a/");
      expect(await inZip.store.get(k("a/v"))).toEqual(value);
      expect(inZip.store.url).toBe(`${server.url}/p/x y.zip|zip:`);
      for (const name of ["packed.bin", "a.ptree", "a.trk.gz"])
        expect((await openLocation(`${server.url}/p/${name}?sig=1`)).file, name).toBe(name);
      expect(server.log.every((line) => line.includes("?sig=1"))).toBe(true);
    } finally {
      await server.close();
    }
  });
  it("says how many answers were taken for absence, through all wrappers", async () => {
    const server = await serveStore(memoryStore());
    try {
      server.on = (_, response) => Boolean(response.writeHead(403).end());
      const { store } = await openLocation(server.url, { forbiddenIsMissing: true });
      expect(await store.get(k("v"))).toBe(undefined);
      expect(store.forbidden).toBe(1);
    } finally {
      await server.close();
    }
  });
  it("opens buckets", async () => {
    const requests: string[] = [];
    const fetch = async (url: string) => {
      requests.push(url);
      return new Response(null, { status: 404 });
    };
    const s3 = await openLocation("s3://bucket/a/b?region=eu-west-1&anonymous=true", { fetch });
    expect(s3.store.url).toBe("s3://bucket/a/b");
    await expect(openLocation("s3://bucket/a/b.zip?anonymous=true", { fetch })).rejects.toMatchObject({
      kind: "not-found",
    });
    expect(requests[0]).toContain("/a/b.zip");
    const gs = await openLocation("gs://bucket/a", { fetch });
    expect(gs.store.url).toBe("gs://bucket/a");
  });
});

describe("other addresses", () => {
  it("memory: has folders that are called like files", async () => {
    const { store: folder } = await openLocation("memory:like/out.trk/x");
    await folder.set(k("v"), new Uint8Array(1));
    const { store, file } = await openLocation("memory:like/out.trk");
    expect([file, await store.get(k("x/v"))]).toEqual([undefined, new Uint8Array(1)]);
    expect((await openLocation("memory:like/other.trk")).file).toBe("other.trk");
  });

  it("memory: names a store of this process", async () => {
    const { store } = await openLocation("memory:here/a");
    await store.set(k("v"), value);
    const again = await locationOpener(webSchemes)("memory:here");
    expect(await again.store.get(k("a/v"))).toEqual(value);
    expect(await (await openLocation("memory:there/a")).store.get(k("v"))).toBe(undefined);
  });
  it("are refused by name", async () => {
    for (const address of ["ftp://h/x", "C:\\data", "c:/data", "\\\\server\\x", "constructor:x"])
      await expect(openLocation(address), address).rejects.toMatchObject({ kind: "invalid-input" });
    await expect(locationOpener(webSchemes)("file:///x")).rejects.toThrow(/there are http, https, memory, s3/);
    for (const address of ["relative/path", "relative/x.zip"])
      await expect(locationOpener(webSchemes)(address)).rejects.toMatchObject({ kind: "invalid-input" });
  });
});
