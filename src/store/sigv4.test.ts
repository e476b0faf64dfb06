import { describe, expect, it } from "vitest";
import { canonicalQuery, sha256, sign, uriEncode } from "./sigv4.js";

/** The examples that AWS publishes: the general suite (service "service") and those of the S3 manual. */
const general = {
  credentials: { accessKeyId: "AKIDEXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY" },
  region: "us-east-1",
  service: "service",
};
const s3 = {
  credentials: { accessKeyId: "AKIAIOSFODNN7EXAMPLE", secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" },
  region: "us-east-1",
  service: "s3",
};
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

async function signature(
  signer: typeof general,
  method: string,
  url: string,
  headers: Record<string, string> = {},
  body = "",
): Promise<string | undefined> {
  const now = new Date(signer === general ? "2015-08-30T12:36:00Z" : "2013-05-24T00:00:00Z");
  const payloadHash = await sha256(body);
  const own = signer === s3 ? { ...headers, "x-amz-content-sha256": payloadHash } : headers;
  const signed = await sign(signer, { method, url: new URL(url), headers: own, payloadHash }, now);
  return /Signature=([0-9a-f]{64})$/.exec(signed.authorization!)?.[1];
}

describe("AWS's published signatures", () => {
  it("get-vanilla, post-vanilla and the order of a query", async () => {
    expect(await signature(general, "GET", "https://example.amazonaws.com/")).toBe(
      "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
    );
    expect(await signature(general, "POST", "https://example.amazonaws.com/")).toBe(
      "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
    );
    const query = canonicalQuery({ Param2: "value2", Param1: "value1" });
    expect(await signature(general, "GET", `https://example.amazonaws.com/?${query}`)).toBe(
      "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
    );
  });

  it("S3: an object's range, a put, a subresource, a listing", async () => {
    const host = "https://examplebucket.s3.amazonaws.com";
    expect(await signature(s3, "GET", `${host}/test.txt`, { range: "bytes=0-9" })).toBe(
      "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
    );
    const headers = { date: "Fri, 24 May 2013 00:00:00 GMT", "x-amz-storage-class": "REDUCED_REDUNDANCY" };
    expect(await signature(s3, "PUT", `${host}/${uriEncode("test$file.text")}`, headers, "Welcome to Amazon S3.")).toBe(
      "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
    );
    expect(await signature(s3, "GET", `${host}/?${canonicalQuery({ lifecycle: "" })}`)).toBe(
      "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
    );
    expect(await signature(s3, "GET", `${host}/?${canonicalQuery({ prefix: "J", "max-keys": "2" })}`)).toBe(
      "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
    );
  });

  it("signs the session token", async () => {
    const signer = { ...general, credentials: { ...general.credentials, sessionToken: "TOKEN" } };
    const request = { method: "GET", url: new URL("https://h/"), headers: {}, payloadHash: EMPTY };
    const headers = await sign(signer, request, new Date(0));
    expect(headers["x-amz-security-token"]).toBe("TOKEN");
    expect(headers.authorization).toContain("SignedHeaders=host;x-amz-date;x-amz-security-token,");
  });

  it("a key of another day or region is not reused", async () => {
    const request = { method: "GET", url: new URL("https://h/"), headers: {}, payloadHash: EMPTY };
    const [one, other, next] = [
      await sign(general, request, new Date("2020-01-01T00:00:00Z")),
      await sign({ ...general, region: "eu-west-1" }, request, new Date("2020-01-01T00:00:00Z")),
      await sign(general, request, new Date("2020-01-02T00:00:00Z")),
    ];
    expect(new Set([one, other, next].map((h) => h.authorization!.slice(-64))).size).toBe(3);
  });
});

describe("encoding", () => {
  it("leaves only the unreserved characters", () => {
    expect(uriEncode("aZ09-._~")).toBe("aZ09-._~");
    expect(uriEncode("a b+c/é!'()*")).toBe("a%20b%2Bc%2F%C3%A9%21%27%28%29%2A");
  });
  it("refuses half a character", () => {
    expect(() => uriEncode("\ud800")).toThrow(/not valid Unicode/);
  });
  it("knows the hash of nothing", async () => expect(await sha256("")).toBe(EMPTY));
});
