/** S3 on a real server, versitygw, which the tests start. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { availability, versitygw } from "../../test/servers/binary.js";
import type { Server } from "../../test/servers/process.js";
import { credentials, startVersitygw } from "../../test/servers/versitygw.js";
import { runStoreSuite } from "../testing/index.js";
import { pattern } from "../testing/store-reads.js";
import { Key, Prefix } from "./key.js";
import { type S3Options, s3Store } from "./s3.js";
import { FIRST_PART } from "./s3-multipart.js";

const { path, title } = availability(versitygw);

describe.skipIf(path === undefined)(title, () => {
  let server: Server;
  let stores = 0;
  const open = (options: Partial<S3Options> = {}) =>
    s3Store({ bucket: "one", prefix: `data/${++stores}`, endpoint: server.url, credentials, ...options });
  beforeAll(async () => {
    server = await startVersitygw(path!, ["one"]);
  });
  afterAll(() => server?.close());

  const can = { list: true, write: true, conditional: true };
  runStoreSuite({ describe, it }, "s3", can, async (values) => {
    const store = open();
    const entries = Object.entries(values);
    for (let at = 0; at < entries.length; at += 50)
      await Promise.all(entries.slice(at, at + 50).map(([key, value]) => store.set(Key.of(key), value)));
    return store;
  });

  const k = Key.of("a/big");
  const large = pattern(2 * FIRST_PART + 12_345);

  it("uploads a large value in parts, seen by nobody before commit", async () => {
    const store = open();
    const sink = await store.write(k, { if: { absent: true } });
    for (let at = 0; at < large.length; at += 3_000_000) await sink.write(large.subarray(at, at + 3_000_000));
    expect(await store.stat(k)).toBeUndefined();
    await sink.commit();
    expect(Buffer.compare((await store.get(k))!, large)).toBe(0);
    expect(await store.get(k, { range: { offset: FIRST_PART - 2, length: 4 } })).toEqual(
      large.slice(FIRST_PART - 2, FIRST_PART + 2),
    );
  });

  it("holds a large value to its condition when it is completed, and leaves no upload behind", async () => {
    const store = open();
    const first = await store.write(k, { if: { absent: true } });
    const second = await store.write(k, { if: { absent: true } });
    await Promise.all([first.write(large), second.write(large)]);
    await first.commit();
    await expect(second.commit()).rejects.toMatchObject({ name: "Conflict" });
    const third = await store.write(k);
    await third.write(large);
    await third.abort();
    expect((await store.stat(k))?.size).toBe(large.length);
    for await (const { key } of open({ prefix: "" }).list(Prefix.root)) expect(key).not.toContain("multipart");
  });

  it("gives up an upload whose signal is aborted", async () => {
    const store = open();
    const controller = new AbortController();
    const sink = await store.write(k, { signal: controller.signal });
    await sink.write(large);
    controller.abort(new Error("enough"));
    await expect(sink.commit()).rejects.toThrow("enough");
    expect(await store.stat(k)).toBeUndefined();
  });

  it("finds the right region by itself", async () => {
    const store = open({ region: "eu-west-1" });
    await store.set(k, new Uint8Array([1]));
    expect(await store.get(k)).toEqual(new Uint8Array([1]));
  });

  it("says what is wrong with the bucket, the secret, the permission", async () => {
    await expect(open({ bucket: "two" }).get(k)).rejects.toMatchObject({ name: "NotFound" });
    const wrong = { ...credentials, secretAccessKey: "wrong" };
    await expect(open({ credentials: wrong }).get(k)).rejects.toMatchObject({ reason: "unauthorized" });
    await expect(open({ credentials: "anonymous" }).get(k)).rejects.toMatchObject({
      name: "Unsupported",
      reason: "forbidden",
      hint: expect.stringContaining("--forbidden-is-missing"),
    });
    const lenient = open({ credentials: "anonymous", forbiddenIsMissing: true });
    expect(await lenient.get(k)).toBeUndefined();
    expect(await lenient.stat(k)).toBeUndefined();
    expect(lenient.forbidden).toBe(2);
    const mistaken = open({ credentials: wrong, forbiddenIsMissing: true });
    await expect(mistaken.get(k)).rejects.toMatchObject({ reason: "unauthorized" });
    await expect(mistaken.stat(k)).rejects.toMatchObject({ reason: "unauthorized" });
  });
});
