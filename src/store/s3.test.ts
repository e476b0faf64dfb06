/** What S3 may answer and a real server rarely does, with a fetch that answers from a list. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { Key, Prefix } from "./key.js";
import { type S3Options, s3Store } from "./s3.js";
import { FIRST_PART, partSize } from "./s3-multipart.js";
import { parseS3Url } from "./s3-url.js";

const k = Key.of("c/0");
const credentials = { accessKeyId: "AKID", secretAccessKey: "very-secret", sessionToken: "very-secret-too" };

// The machine's own settings stay out of it.
beforeAll(() => {
  for (const name of ["AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"]) vi.stubEnv(name, "");
  vi.stubEnv("AWS_CONFIG_FILE", "/nonexistent");
});
afterAll(() => vi.unstubAllEnvs());

type Reply = (url: URL, init: RequestInit) => Response | Promise<Response>;

/** A store whose n-th request gets the n-th reply, and the requests it made. */
function scripted(replies: readonly Reply[], options: Partial<S3Options> = {}) {
  const requests: { url: URL; method: string; headers: Record<string, string>; body: unknown }[] = [];
  const store = s3Store({
    bucket: "data",
    region: "us-east-1",
    credentials,
    endpoint: "http://s3.test",
    fetch: async (text, init = {}) => {
      const url = new URL(text);
      const headers = init.headers as Record<string, string>;
      requests.push({ url, method: init.method ?? "GET", headers, body: init.body });
      const reply = replies[requests.length - 1];
      if (reply === undefined) throw new Error(`request ${requests.length} was not expected: ${init.method} ${text}`);
      return reply(url, init);
    },
    ...options,
  });
  return { store, requests };
}

const failing =
  (status: number, code: string, more = "", headers: Record<string, string> = {}): Reply =>
  () =>
    new Response(`<Error><Code>${code}</Code><Message>What ${code} means.</Message>${more}</Error>`, {
      status,
      headers,
    });
const answering =
  (body: string | Uint8Array<ArrayBuffer> | null = null, status = 200, headers: Record<string, string> = {}): Reply =>
  () =>
    new Response(body, { status, headers });

describe("addresses", () => {
  const asked = async (options: Partial<S3Options>) => {
    const { store, requests } = scripted([answering("x")], { endpoint: undefined, ...options });
    await store.get(Key.of("a b/c+d"));
    return requests[0]!.url.href;
  };
  it("puts the bucket where it belongs", async () => {
    expect(await asked({})).toBe("https://data.s3.us-east-1.amazonaws.com/a%20b/c%2Bd");
    expect(await asked({ region: "cn-north-1" })).toContain("https://data.s3.cn-north-1.amazonaws.com.cn/");
    expect(await asked({ bucket: "my.data" })).toContain("https://s3.us-east-1.amazonaws.com/my.data/");
    expect(await asked({ addressing: "path" })).toContain("https://s3.us-east-1.amazonaws.com/data/");
    expect(await asked({ endpoint: "http://host:9/base/" })).toContain("http://host:9/base/data/");
    expect(await asked({ endpoint: "http://host:9", addressing: "virtual", prefix: "p" })).toContain(
      "http://data.host:9/p/",
    );
  });
  it("refuses what is no endpoint or no bucket", () => {
    expect(() => scripted([], { endpoint: "ftp://me:secret@host?key=secret" })).not.toThrow(/secret/);
    for (const endpoint of ["host:9", "ftp://host", "http://user:pw@host", "http://host?x=1", ""])
      expect(() => scripted([], { endpoint })).toThrow(/the S3 endpoint/);
    for (const region of ["evil.test/", "a\nb", "a b", "x".repeat(40)])
      expect(() => scripted([], { region, endpoint: undefined })).toThrow(/the name of a region/);
    for (const bucket of ["", "a", "a/b", "../x", "a..b", "é12"])
      expect(() => scripted([], { bucket })).toThrow(/bucket/);
  });
  it("reads URLs", () => {
    const plain = { bucket: "b-1", prefix: "p/q r@s", endpoint: undefined, region: undefined };
    expect(parseS3Url("s3://b-1/p/q r@s/")).toMatchObject(plain);
    expect(parseS3Url("s3://b-1")).toMatchObject({ bucket: "b-1", prefix: "" });
    expect(parseS3Url("s3://b-1/p?endpoint=http://127.0.0.1:7070&region=eu-west-1&anonymous=true")).toMatchObject({
      endpoint: "http://127.0.0.1:7070",
      region: "eu-west-1",
      credentials: "anonymous",
    });
    expect(parseS3Url("s3+http://h:1/b-1/p")).toMatchObject({ bucket: "b-1", prefix: "p", endpoint: "http://h:1" });
    for (const text of [
      "s3:/b",
      "s3://",
      "s3://u:pw@b/p",
      "s3+http://u:pw@h/b",
      "s3://b/p?secret=very-secret",
      "http://b/c",
    ])
      expect(() => parseS3Url(text)).toThrow(expect.objectContaining({ name: "InvalidInput" }));
    for (const text of ["s3+http://u:very-secret@h/b", "s3://b/p?secret=very-secret"])
      expect(() => parseS3Url(text)).not.toThrow(/very-secret/);
  });
  it("shows no secret", async () => {
    const { store, requests } = scripted([failing(403, "InvalidAccessKeyId")]);
    const error = await store.get(k).catch((e: Error) => e);
    expect(store.url).toBe("s3://data");
    expect(requests[0]!.headers["x-amz-security-token"]).toBe("very-secret-too");
    expect(JSON.stringify({ ...(error as Error), message: (error as Error).message })).not.toContain("very-secret");
  });
});

describe("refusals", () => {
  it("goes on in the bucket's region, and stays there", async () => {
    const moved = failing(301, "PermanentRedirect", "", { "x-amz-bucket-region": "eu-west-1" });
    const { store, requests } = scripted([moved, answering("x"), answering("y")], { endpoint: undefined });
    await store.get(k);
    await store.get(k);
    expect(requests.map(({ url }) => url.host)).toEqual([
      "data.s3.us-east-1.amazonaws.com",
      "data.s3.eu-west-1.amazonaws.com",
      "data.s3.eu-west-1.amazonaws.com",
    ]);
    expect(requests[1]!.headers.authorization).toContain("/eu-west-1/s3/");
  });
  it("reads the region out of the body where the header is hidden", async () => {
    const malformed = failing(400, "AuthorizationHeaderMalformed", "<Region>ap-south-1</Region>");
    const { store, requests } = scripted([malformed, answering("x")]);
    await store.get(k);
    expect(requests[1]!.headers.authorization).toContain("/ap-south-1/s3/");
  });
  it("names the region when going there does not help", async () => {
    const moved = failing(301, "PermanentRedirect", "", { "x-amz-bucket-region": "eu-west-1" });
    const { store } = scripted([moved, moved]);
    await expect(store.get(k)).rejects.toMatchObject({
      reason: "region",
      message: expect.stringContaining("eu-west-1"),
    });
  });

  it.each([
    [failing(403, "AccessDenied"), "Unsupported", "forbidden", /AccessDenied: What AccessDenied means; signed/],
    [failing(403, "SignatureDoesNotMatch"), "Unsupported", "unauthorized", /does not accept the credentials/],
    [failing(400, "ExpiredToken"), "Unsupported", "unauthorized", /ExpiredToken/],
    [failing(403, "RequestTimeTooSkewed", "<ServerTime>NOON</ServerTime>"), "Unsupported", "clock", /clock.*NOON/],
    [failing(503, "SlowDown"), "LimitExceeded", "unavailable", /SlowDown/],
    [failing(500, "InternalError"), "LimitExceeded", "unavailable", /InternalError/],
    [failing(400, "RequestTimeout"), "LimitExceeded", "timeout", /too long/],
    [failing(404, "NoSuchBucket"), "NotFound", undefined, /the bucket data does not exist at http:\/\/s3\.test/],
    [answering("<html>proxy", 502), "LimitExceeded", "unavailable", /502/],
    [answering("<Error><Code>", 418), "Unsupported", undefined, /418/],
    [answering("abc", 200, { "content-length": "5" }), "Corrupt", "cut", /should have 5 bytes, found 3/],
  ])("case %#: get rejects with a sentence", async (reply, name, reason, message) => {
    const { store } = scripted([reply]);
    await expect(store.get(k)).rejects.toMatchObject({ name, reason, message: expect.stringMatching(message) });
  });
  it("says that a server cannot be reached", async () => {
    const refused = () => Promise.reject(new TypeError("fetch failed", { cause: new Error("connect ECONNREFUSED") }));
    const { store } = scripted([refused]);
    await expect(store.get(k)).rejects.toMatchObject({
      name: "LimitExceeded",
      reason: "unreachable",
      message: expect.stringContaining("s3://data/c/0 at http://s3.test cannot be reached: connect ECONNREFUSED"),
    });
  });

  it("finds the size of what only HEAD forbids", async () => {
    const head = answering(null, 403);
    const byte = answering("x", 206, { "content-range": "bytes 0-0/9", etag: '"e"' });
    for (const forbiddenIsMissing of [false, true]) {
      const { store } = scripted([head, byte, head, failing(416, "InvalidRange")], { forbiddenIsMissing });
      expect(await store.stat(k)).toEqual({ size: 9, version: '"e"' });
      expect(await store.stat(k)).toEqual({ size: 0 });
      expect(store.forbidden).toBe(0);
    }
  });
  it("takes 403 for absence only when told to, and only where it means that", async () => {
    const denied = failing(403, "AccessDenied");
    const lenient = { forbiddenIsMissing: true };
    const { store } = scripted([denied, answering(null, 403), denied, failing(403, "InvalidObjectState")], lenient);
    expect(await store.get(k)).toBeUndefined();
    expect(await store.stat(k)).toBeUndefined(); // HEAD, then a GET for the code
    expect(store.forbidden).toBe(2);
    await expect(store.get(k)).rejects.toThrow(/InvalidObjectState/);
    expect(store.forbidden).toBe(2);
  });
});

describe("ranges", () => {
  it("is strict about what comes back", async () => {
    const part = (range: string, body: string) => answering(body, 206, { "content-range": range });
    const get = (reply: Reply) => scripted([reply]).store.get(k, { range: { offset: 2, length: 3 } });
    expect(await get(part("bytes 2-4/9", "cde"))).toEqual(new TextEncoder().encode("cde"));
    await expect(get(part("bytes 0-2/9", "abc"))).rejects.toThrow(/bytes=2-4 and answered bytes 0-2\/9/);
    await expect(get(part("bytes 2-3/4", "cd"))).rejects.toMatchObject({ reason: "past-end" });
    await expect(get(part("bytes 2-4/9", "cd"))).rejects.toMatchObject({ reason: "cut" });
    await expect(get(part("bytes 2-4/9", "cdefg"))).rejects.toMatchObject({ reason: "cut" });
    await expect(get(answering("cd", 206))).rejects.toMatchObject({ reason: "past-end" });
    expect(await get(answering("abcdef", 200, { "content-length": "6" }))).toEqual(new TextEncoder().encode("cde"));
  });
  it("that come from two versions of a value are a Conflict, until the value is looked at anew or written here", async () => {
    const range = { offset: 0, length: 1 };
    const version = (tag: string) => answering("x", 206, { "content-range": "bytes 0-0/9", etag: `"${tag}"` });
    const head = answering(null, 200, { "content-length": "9", etag: '"2"' });
    const replies = [version("1"), version("1"), version("2"), version("2"), head, version("2")];
    const { store } = scripted([...replies, answering(), version("3"), answering(null, 204), version("4")]);
    const changed = { name: "Conflict", reason: "changed" };
    await store.get(k, { range });
    await store.get(k, { range });
    await expect(store.get(k, { range })).rejects.toMatchObject(changed);
    await expect(store.get(k, { range })).rejects.toMatchObject(changed);
    await store.stat(k);
    await store.get(k, { range });
    await store.set(k, new Uint8Array(9));
    await store.get(k, { range });
    await store.delete(k);
    await store.get(k, { range });
  });
  it("on their way while the value is written are not what later ones are held to", async () => {
    const range = { offset: 0, length: 1 };
    const version = (tag: string) => answering("x", 206, { "content-range": "bytes 0-0/9", etag: `"${tag}"` });
    let arrive = () => {};
    const late = () =>
      new Promise<Response>((done) => {
        arrive = () => done(version("1")(new URL("http://h"), {}) as Response);
      });
    const { store } = scripted([late, answering(), version("2")]);
    const early = store.get(k, { range });
    await new Promise((done) => setTimeout(done, 5));
    await store.set(k, new Uint8Array(9));
    arrive();
    await early;
    await store.get(k, { range });
  });
  it("asks for the size where HTTP cannot ask for nothing", async () => {
    const head = answering(null, 200, { "content-length": "5", etag: '"x"' });
    expect(await scripted([head]).store.get(k, { range: { offset: 5, length: 0 } })).toEqual(new Uint8Array(0));
    const refused = scripted([failing(416, "InvalidRange"), head]).store.get(k, { range: { offset: 5, length: 1 } });
    await expect(refused).rejects.toMatchObject({ reason: "past-end" });
    const odd = scripted([failing(416, "InvalidRange"), head]).store.get(k, { range: { offset: 1, length: 1 } });
    await expect(odd).rejects.toThrow(/refuses bytes=1-1/);
  });
});

describe("writing", () => {
  const race = failing(409, "ConditionalRequestConflict");
  it("tries again when two wrote at once, and then says Conflict", async () => {
    const { store, requests } = scripted([race, answering()]);
    await store.set(k, new Uint8Array(1), { if: { absent: true } });
    expect(requests.map(({ headers }) => headers["if-none-match"])).toEqual(["*", "*"]);
    const lost = scripted([race, race, race, race, race]).store.set(k, new Uint8Array(1), { if: { version: '"v"' } });
    await expect(lost).rejects.toMatchObject({
      name: "Conflict",
      message: expect.stringContaining("others are writing"),
    });
  });

  const begin = answering("<InitiateMultipartUploadResult><UploadId>id</UploadId></InitiateMultipartUploadResult>");
  const part: Reply = (url) => new Response(null, { headers: { etag: `"${url.searchParams.get("partNumber")}"` } });
  const done = answering("<CompleteMultipartUploadResult/>");
  async function uploadOf(replies: readonly Reply[], size = FIRST_PART + 1) {
    const { store, requests } = scripted(replies);
    const sink = await store.write(k, { if: { absent: true } });
    await sink.write(new Uint8Array(size));
    const outcome = await sink.commit().catch((error: Error) => error);
    return { outcome, requests: requests.map(({ method, url }) => method + url.search), sent: requests };
  }

  it("sends parts, each with its number, and completes them in order", async () => {
    const { outcome, requests, sent } = await uploadOf([begin, part, part, done]);
    expect(outcome).toBeUndefined();
    expect([requests[0], ...requests.slice(1, 3).sort(), ...requests.slice(3)]).toEqual([
      "POST?uploads=",
      "PUT?partNumber=1&uploadId=id",
      "PUT?partNumber=2&uploadId=id",
      "POST?uploadId=id",
    ]);
    const list = new TextDecoder().decode(sent[3]!.body as Uint8Array);
    expect(list).toContain("<Part><PartNumber>1</PartNumber><ETag>&#34;1&#34;</ETag></Part><Part><PartNumber>2<");
    expect(sent[3]!.headers["if-none-match"]).toBe("*");
  });
  it("puts a small value in one piece", async () => {
    expect((await uploadOf([answering()], 10)).requests).toEqual(["PUT"]);
  });
  it("sends a part again that the server had no time for", async () => {
    const { outcome, requests } = await uploadOf([begin, failing(503, "SlowDown"), part, part, done]);
    expect(outcome).toBeUndefined();
    expect(requests.filter((request) => request.startsWith("PUT"))).toHaveLength(3);
  });
  it("gives the upload up when a part is refused, or comes back without its ETag", async () => {
    for (const reply of [failing(403, "AccessDenied"), answering()]) {
      const { outcome, requests } = await uploadOf([begin, reply, reply, answering(null, 204)]);
      expect(outcome).toMatchObject({ name: "Unsupported" });
      expect(requests.at(-1)).toBe("DELETE?uploadId=id");
    }
  });
  it("notices an error that comes with status 200", async () => {
    const late = answering("<Error><Code>InternalError</Code></Error>");
    const { outcome, requests } = await uploadOf([begin, part, part, late, answering(null, 204)]);
    expect(outcome).toMatchObject({ message: expect.stringContaining("InternalError") });
    expect(requests.at(-1)).toBe("DELETE?uploadId=id");
  });
  it("has parts for 5 TiB", () => {
    let total = 0;
    for (let n = 1; n <= 10_000; n++) total += partSize(n);
    expect(total).toBeGreaterThan(5 * 2 ** 40);
    expect(partSize(1)).toBeGreaterThanOrEqual(5 << 20);
    expect(partSize(10_000)).toBeLessThan(5 * 2 ** 30);
  });
});

describe("lists", () => {
  const page = (content: string) => answering(`<ListBucketResult>${content}</ListBucketResult>`);
  const all = async (...replies: Reply[]) => {
    const { store, requests } = scripted(replies, { prefix: "p" });
    const keys: string[] = [];
    for await (const { key } of store.list(Prefix.root)) keys.push(key);
    return { keys, requests };
  };
  it("follows the tokens, decodes names and leaves out what is no key", async () => {
    const more = "<IsTruncated>true</IsTruncated><NextContinuationToken>a+b=</NextContinuationToken>";
    const { keys, requests } = await all(
      page(`<EncodingType>url</EncodingType>${more}<Contents><Key>p/a%2Bb+c%25</Key><Size>1</Size></Contents>`),
      page(
        "<Contents><Key>p/x%20</Key></Contents><Contents><Key>p/dir/</Key></Contents><Contents><Key>p/a//b</Key></Contents>",
      ),
    );
    expect(keys).toEqual(["a+b c%", "x%20"]);
    expect(requests[1]!.url.searchParams.get("continuation-token")).toBe("a+b=");
  });
  it.each([
    ["<IsTruncated>true</IsTruncated>", /does not say where/],
    ["<Contents><Key>q/x</Key></Contents>", /not below "p\/"/],
    ["<EncodingType>url</EncodingType><Contents><Key>p/%zz</Key></Contents>", /not URL-encoded/],
  ])("refuses %s", async (content, message) => {
    await expect(all(page(content))).rejects.toMatchObject({
      name: "Corrupt",
      message: expect.stringMatching(message),
    });
  });
  it("tries a later page again, but not the first", async () => {
    const more = "<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>";
    const first = page(`${more}<Contents><Key>p/a</Key></Contents>`);
    const { keys } = await all(first, failing(503, "SlowDown"), page("<Contents><Key>p/b</Key></Contents>"));
    expect(keys).toEqual(["a", "b"]);
    await expect(all(failing(503, "SlowDown"))).rejects.toMatchObject({ reason: "unavailable" });
  });
  it("refuses a list that goes in circles", async () => {
    const more = page("<IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken>");
    await expect(all(more, more, more)).rejects.toThrow(/already gave/);
  });
});
