/** Servers that do what browsers do not forgive, each in one way. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, expect, it } from "vitest";
import type { Finding } from "../../../model/format.js";
import { httpStore } from "../../../store/http.js";
import { Prefix } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { createSkeletons } from "../skeleton/write.js";
import { webAddressOf } from "./address.js";
import { checkForNeuroglancer } from "./check.js";
import { checkServing } from "./serving.js";

async function collect(findings: AsyncIterable<Finding>): Promise<Finding[]> {
  const all: Finding[] = [];
  for await (const one of findings) all.push(one);
  return all;
}

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close().closeAllConnections();
});

interface Manners {
  readonly headers?: { readonly [name: string]: string };
  /** Answers by itself, or not. */
  readonly answer?: (request: IncomingMessage, response: ServerResponse, body: Uint8Array | undefined) => boolean;
}

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "range",
  "access-control-expose-headers": "content-range, content-encoding",
};

/** Skeletons in shards, on a server. */
async function serve({ headers = CORS, answer = () => false }: Manners = {}): Promise<string> {
  const store = memoryStore();
  const sharding = {
    hash: "identity",
    preshiftBits: 0,
    minishardBits: 0,
    shardBits: 1,
    indexEncoding: "raw",
    dataEncoding: "raw",
  } as const;
  const writer = await createSkeletons(store, Prefix.root, { sharding });
  const skeleton = { vertices: new Float32Array(30), edges: new Uint32Array(), attributes: new Map() };
  await writer.put(3n, skeleton);
  await writer.commit();
  const files = new Map<string, Uint8Array>();
  for await (const { key } of store.list(Prefix.root)) files.set(`/data/${key}`, (await store.get(key))!);
  const server = createServer((request, response) => {
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    const body = files.get(request.url!);
    if (answer(request, response, body)) return;
    if (request.method === "OPTIONS") return void response.writeHead(204).end();
    if (body === undefined) return void response.writeHead(404).end();
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "") ?? [];
    if (from === undefined) return void response.writeHead(200, { "content-length": body.length }).end(body);
    const part = body.subarray(Number(from), Number(to) + 1);
    const range = `bytes ${from}-${Number(from) + part.length - 1}/${body.length}`;
    response.writeHead(206, { "content-range": range, "content-length": part.length }).end(part);
  });
  servers.push(server);
  await new Promise<void>((ready) => void server.listen(0, "127.0.0.1", ready));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/data`;
}

async function found(manners?: Manners): Promise<string[]> {
  const url = await serve(manners);
  const findings = await collect(checkForNeuroglancer(url, { store: httpStore(url), at: Prefix.root }, "precomputed"));
  for (const { where, message } of findings)
    expect([where.startsWith("http"), message.length > 10]).toEqual([true, true]);
  return findings.map(({ severity, rule, fix }) => `${severity} ${rule}${fix === undefined ? "" : " +"}`);
}

const without = (name: string): { [name: string]: string } =>
  Object.fromEntries(Object.entries(CORS).filter(([own]) => own !== name));

it("a good server", async () => {
  expect(await found()).toEqual([]);
});

it("no CORS, or for another page", async () => {
  expect(await found({ headers: {} })).toEqual(["error neuroglancer/cors +"]);
  const other = { ...CORS, "access-control-allow-origin": "https://elsewhere.example" };
  expect(await found({ headers: other })).toEqual(["error neuroglancer/cors +"]);
});

it("no preflight", async () => {
  expect(await found({ headers: without("access-control-allow-headers") })).toEqual([
    "warning neuroglancer/preflight +",
  ]);
  const answer: Manners["answer"] = ({ method }, response) => method === "OPTIONS" && !!response.writeHead(501).end();
  expect(await found({ answer })).toEqual(["warning neuroglancer/preflight +"]);
});

it("headers that pages do not see", async () => {
  expect(await found({ headers: without("access-control-expose-headers") })).toEqual(["warning neuroglancer/expose +"]);
});

it("no ranges, other ranges, CORS on whole files only", async () => {
  const whole: Manners["answer"] = ({ headers }, response, body) =>
    headers.range !== undefined && body !== undefined && !!response.writeHead(200).end(body);
  expect(await found({ answer: whole })).toContain("error neuroglancer/range +");
  const shifted: Manners["answer"] = ({ headers }, response, body) => {
    if (headers.range !== "bytes=8-23" || body === undefined) return false;
    return !!response.writeHead(206, { "content-range": `bytes 9-24/${body.length}` }).end(body.subarray(9, 25));
  };
  expect(await found({ answer: shifted })).toEqual(["error neuroglancer/range +"]);
  const bare: Manners["answer"] = ({ headers }, response) => {
    if (headers.range !== undefined) response.removeHeader("access-control-allow-origin");
    return false;
  };
  expect(await found({ answer: bare })).toEqual(["error neuroglancer/cors +"]);
});

it("ranges of what was compressed", async () => {
  const sliced: Manners["answer"] = ({ headers, url }, response, body) => {
    if (headers.range === undefined || !url!.endsWith(".shard") || body === undefined) return false;
    const [, from, to] = /(\d+)-(\d+)/.exec(headers.range)!;
    const part = gzipSync(body).subarray(Number(from), Number(to) + 1);
    return !!response
      .writeHead(206, { "content-encoding": "gzip", "content-range": `bytes ${from}-${to}/99` })
      .end(part);
  };
  expect(await found({ answer: sliced })).toContain("error neuroglancer/encoding +");
  const whole: Manners["answer"] = ({ method, url, headers }, response) => {
    if (method === "HEAD" && url!.endsWith(".shard") && headers["accept-encoding"] === "gzip")
      response.setHeader("content-encoding", "gzip");
    return false;
  };
  expect(await found({ answer: whole })).toEqual(["warning neuroglancer/encoding +"]);
});

it("redirects, and buckets elsewhere", async () => {
  const target = await serve();
  const moved: Manners["answer"] = ({ url }, response) =>
    !!response.writeHead(302, { location: `${target}${url!.slice("/data".length)}` }).end();
  expect(await found({ answer: moved })).toEqual(["warning neuroglancer/redirect +"]);
  const region = { "x-amz-bucket-region": "eu-west-1" };
  const wrong: Manners["answer"] = (_, response) => !!response.writeHead(301, region).end();
  const base = await serve({ answer: wrong });
  const findings = await collect(checkServing({ base, ranged: undefined, needsRanges: true }));
  expect(findings).toMatchObject([{ rule: "neuroglancer/region", fix: expect.stringContaining("eu-west-1") }]);
});

it("nobody answers", async () => {
  const base = await serve();
  await new Promise((closed) => servers.pop()!.close(closed).closeAllConnections());
  const findings = await collect(checkServing({ base, ranged: undefined, needsRanges: true }));
  expect(findings).toMatchObject([{ rule: "neuroglancer/reached", severity: "error" }]);
});

it("what is not there should be missing", async () => {
  const page: Manners["answer"] = (_, response, body) => body === undefined && !!response.writeHead(200).end("<html>");
  expect((await found({ answer: page })).filter((rule) => rule.includes("missing"))).toEqual([
    "error neuroglancer/missing +",
  ]);
});

it("other formats, and what is on no server", async () => {
  const place = { store: memoryStore(), at: Prefix.root };
  const findings = await collect(checkForNeuroglancer("/tmp/x.zv", place, "zarr-vectors"));
  expect(findings.map(({ rule }) => rule)).toEqual(["neuroglancer/format", "neuroglancer/not-served"]);
});

it.each([
  ["https://host/a/", "https://host/a"],
  ["https://host/a|precomputed:b", "https://host/a"],
  ["s3://bucket/a b?region=eu-west-1", "https://bucket.s3.eu-west-1.amazonaws.com/a%20b"],
  ["s3://my.bucket/a", "https://s3.amazonaws.com/my.bucket/a"],
  ["s3+http://127.0.0.1:9000/bucket/a", "http://127.0.0.1:9000/bucket/a"],
  ["gs://bucket/a/b", "https://storage.googleapis.com/bucket/a/b"],
  ["./a", undefined],
  ["file:///a", undefined],
])("%s is at %s", (url, web) => {
  expect(webAddressOf(url)).toBe(web);
});
