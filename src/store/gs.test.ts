/** What Google's servers answer and the fake one does not, with a fetch that answers from a list. */
import { describe, expect, it } from "vitest";
import { type GsOptions, gsStore, parseGsUrl } from "./gs.js";
import { Key, Prefix } from "./key.js";

const k = Key.of("c/0");

function scripted(replies: readonly Response[], options: Partial<GsOptions> = {}) {
  const requests: { url: string; headers: Record<string, string> }[] = [];
  const store = gsStore({
    bucket: "data",
    prefix: "p",
    endpoint: "http://gs.test",
    fetch: async (url, init) => {
      requests.push({ url, headers: init?.headers as Record<string, string> });
      return replies[requests.length - 1]!.clone();
    },
    ...options,
  });
  return { store, requests };
}
const json = (value: unknown, status = 200) => new Response(JSON.stringify(value), { status });

describe("gs", () => {
  it("asks with the key in one segment, and the token as a header only", async () => {
    const { store, requests } = scripted([new Response("x")], { token: "very-secret" });
    await store.get(Key.of("a b/ü"));
    expect(requests[0]!.url).toBe("http://gs.test/storage/v1/b/data/o/p%2Fa%20b%2F%C3%BC?alt=media");
    expect(requests[0]!.headers.authorization).toBe("Bearer very-secret");
    expect(store.url).toBe("gs://data/p");
  });

  it("tells a missing bucket from a missing key", async () => {
    const missing = new Response("The specified bucket does not exist.", { status: 404 });
    await expect(scripted([missing]).store.get(k)).rejects.toMatchObject({ name: "NotFound" });
    expect(await scripted([new Response("No such object: data/p/c/0", { status: 404 })]).store.get(k)).toBeUndefined();
  });

  it("takes 401 without a token for 403, and neither for absence unless told to", async () => {
    const denied = json(
      { error: { code: 401, message: "Anonymous caller does not have storage.objects.get access." } },
      401,
    );
    await expect(scripted([denied]).store.get(k)).rejects.toMatchObject({
      reason: "forbidden",
      message: expect.stringContaining("Anonymous caller does not have"),
    });
    const lenient = scripted([denied, json({}, 403)], { forbiddenIsMissing: true }).store;
    expect(await lenient.get(k)).toBeUndefined();
    expect(await lenient.stat(k)).toBeUndefined();
    expect(lenient.forbidden).toBe(2);
    const expired = scripted([denied], { token: "old", forbiddenIsMissing: true }).store;
    await expect(expired.get(k)).rejects.toMatchObject({ reason: "unauthorized" });
  });

  it("holds ranges to one version of the object", async () => {
    const range = { offset: 0, length: 1 };
    const version = (tag: string) =>
      new Response("x", { status: 206, headers: { "content-range": "bytes 0-0/9", etag: `"${tag}"` } });
    const stat = json({ size: "9", generation: "2" });
    const { store } = scripted([version("1"), version("2"), stat, version("2")]);
    await store.get(k, { range });
    await expect(store.get(k, { range })).rejects.toMatchObject({ name: "Conflict", reason: "changed" });
    await store.stat(k);
    await store.get(k, { range });
  });

  it("does not pretend to know the size or the ranges of what is stored compressed", async () => {
    const stored = json({ size: "5", generation: "1", contentEncoding: "gzip" });
    await expect(scripted([stored]).store.stat(k)).rejects.toMatchObject({ name: "Unsupported" });
    const unpacked = new Response("abcdef");
    const ranged = scripted([unpacked]).store.get(k, { range: { offset: 1, length: 2 } });
    await expect(ranged).rejects.toMatchObject({ name: "Unsupported" });
  });

  it.each([["5.5"], [5], ["-1"], [undefined], ["99999999999999999999"]])("refuses the size %s", async (size) => {
    await expect(scripted([json({ size })]).store.stat(k)).rejects.toMatchObject({ name: "Corrupt" });
  });

  it("follows pages, leaves out what is no key, and does not go in circles", async () => {
    const list = async (...pages: Response[]) => {
      const keys: string[] = [];
      for await (const { key } of scripted(pages).store.list(Prefix.root)) keys.push(key);
      return keys;
    };
    const items = [{ name: "p/a", size: "1" }, { name: "p/dir/" }, { name: "other" }, { name: 3 }, null];
    expect(await list(json({ items, nextPageToken: "t" }), json({ items: [{ name: "p/b" }] }))).toEqual(["a", "b"]);
    const loop = json({ nextPageToken: "t" });
    await expect(list(loop, loop, loop)).rejects.toThrow(/already gave/);
    await expect(list(new Response("[]"))).rejects.toMatchObject({ name: "Corrupt" });
    await expect(list(json({}, 503))).rejects.toMatchObject({ reason: "unavailable" });
  });

  it("reads URLs", () => {
    expect(parseGsUrl("gs://b-1/p/q/?endpoint=http://h:1")).toEqual({
      bucket: "b-1",
      prefix: "p/q",
      endpoint: "http://h:1",
    });
    for (const text of ["gs:/b", "gs://u:p@b/x", "gs://b/x?token=secret"])
      expect(() => parseGsUrl(text)).toThrow(expect.objectContaining({ name: "InvalidInput" }));
    expect(() => gsStore({ bucket: "b-1", endpoint: "http://u:p@h" })).toThrow(/without credentials/);
    expect(() => gsStore({ bucket: "B/.." })).toThrow(/name of a bucket/);
  });
});
