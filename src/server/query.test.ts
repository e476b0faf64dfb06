/** Queries over HTTP: the same answers as `select` gives, bounded, and refusals in sentences. */
import { tableFromIPC } from "@uwdata/flechette";
import { beforeAll, describe, expect, it } from "vitest";
import { scene } from "../../test/zarr-vectors-scenes.js";
import { openZarrVectors } from "../format/zarr-vectors/index.js";
import { createZarrVectors } from "../format/zarr-vectors/write/write.js";
import type { VectorDataset } from "../model/vectors.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { createHandler } from "./handler.js";
import { type QueryLimits, queryRoute } from "./query.js";
import { type Handler, piecesOf } from "./types.js";

const at = Prefix.of("secret-place.zv");
let dataset: VectorDataset;
beforeAll(async () => {
  const store = memoryStore();
  const writer = await createZarrVectors(store, at, {
    geometry: "streamlines",
    axes: ["x", "y", "z"].map((name) => ({ name, type: "space" })),
    chunkShape: [10, 10, 10],
  });
  await writer.add(scene("streamlines", 4, 50));
  const info = { name: "name", dtype: { kind: "string" }, channels: 1 } as const;
  writer.groups([[0n, 1n, 2n], [3n], [4n, 5n]], new Map([["name", { info, values: ["basket", "left, upper", "0"] }]]));
  await writer.commit();
  dataset = await openZarrVectors(store, at);
});

const handlerFor = (limits?: QueryLimits): Handler => createHandler({ routes: [queryRoute("query", dataset, limits)] });

async function ask(
  search: string,
  { headers = {}, limits }: { headers?: Record<string, string>; limits?: QueryLimits } = {},
) {
  const reply = await handlerFor(limits)({
    method: "GET",
    path: `/query${search}`,
    headers: { host: "localhost", ...headers },
  });
  const pieces: Uint8Array[] = [];
  for await (const piece of piecesOf(reply.body)) pieces.push(piece);
  const bytes = Buffer.concat(pieces);
  return {
    ...reply,
    bytes,
    json: () =>
      JSON.parse(bytes.toString()) as Record<string, unknown> & { items: { id: number; positions: number[][] }[] },
  };
}

describe("groups", () => {
  it("are asked for by number and by name, those with a comma or of digits in quotes", async () => {
    const ids = async (group: string) => {
      const { status, json } = await ask(`?group=${encodeURIComponent(group)}&attributes=`);
      return status === 200 ? json().items.map(({ id }) => id) : status;
    };
    expect(await ids("basket")).toEqual([0, 1, 2]);
    expect(await ids("0")).toEqual([0, 1, 2]);
    expect(await ids('"0"')).toEqual([4, 5]);
    expect(await ids('"left, upper",basket')).toEqual([0, 1, 2, 3]);
    expect(await ids("left, upper")).toBe(404);
    expect(await ids('"left')).toBe(400);
  });
});

describe("answers", () => {
  const box = [-15, -15, -15, 25, 25, 25];
  it("are those of select, as JSON, NDJSON and Arrow", async () => {
    const expected = await dataset.select({ box, where: "object.score > 0.3" }).read();
    expect(expected.ids.length).toBeGreaterThan(2);
    const search = `?box=${box}&where=${encodeURIComponent("object.score > 0.3")}`;
    const { status, headers, json } = await ask(search);
    expect([status, headers["content-type"]]).toEqual([200, "application/json"]);
    const { items, geometry, axes } = json();
    expect([geometry, axes]).toEqual(["streamlines", ["x", "y", "z"]]);
    expect(items.map(({ id }) => BigInt(id))).toEqual([...expected.ids]);
    expect(items.flatMap(({ positions }) => positions.flat()).map(Math.fround)).toEqual([...expected.positions]);
    const lines = await ask(`${search}&format=ndjson`);
    expect(lines.headers["content-type"]).toBe("application/x-ndjson");
    expect(
      lines.bytes
        .toString()
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual(items);
    for (const given of [
      { search: `${search}&format=arrow` },
      { search, headers: { accept: "application/vnd.apache.arrow.file" } },
    ]) {
      const found = await ask(given.search, given);
      expect(found.headers["content-length"]).toBe(String(found.bytes.length));
      const table = tableFromIPC(found.bytes);
      expect(table.numRows).toBe(expected.positions.length / 3);
      expect([...table.getChild("x").toArray()]).toEqual([...expected.positions].filter((_, i) => i % 3 === 0));
    }
  });

  it("of other questions", async () => {
    expect((await ask("?object=3,4&attributes=")).json().items.map(({ id }) => id)).toEqual([3, 4]);
    expect((await ask("?limit=2")).json().items.length).toBe(2);
    expect((await ask("?nearest=0,0,0,3")).json().items.length).toBe(3);
    expect((await ask("?sphere=0,0,0,5&clip")).status).toBe(200);
    expect((await ask("?box=900,900,900,901,901,901")).json().items).toEqual([]);
    const counts = await dataset.select({ box }).count({ exact: true });
    expect((await ask(`?box=${box}&count`)).json()).toEqual({ level: 0, ...counts });
    const head = await handlerFor()({ method: "HEAD", path: "/query?format=arrow", headers: { host: "localhost" } });
    expect([head.status, head.body]).toEqual([200, undefined]);
  });
});

describe("refusals", () => {
  it.each([
    ["?bax=1", 400, /there is no "bax"; there are: level/],
    ["?box=1,2", 400, /box/],
    ["?box=1,2,x,4,5,6", 400, /box should be a number/],
    ["?box=1,2,3,4,5,Infinity", 400, /box/],
    ["?level=-1", 400, /level should be/],
    ["?level=7", 400, /level/],
    ["?where=nope%20%3E%201", 400, /nope/],
    ["?where=1%20%3E", 400, /./],
    ["?format=xml", 400, /json, ndjson, arrow/],
    ["?limit=1&limit=2", 400, /twice/],
    ["?geometry=cubes", 400, /points, lines/],
    ["?object=1e3", 400, /ids such as 42/],
    ["?__proto__=1", 400, /there is no/],
    [`?object=${Array(10_001).fill(1)}`, 400, /at most 10000/],
  ])("%s", async (search, status, sentence) => {
    const found = await ask(search);
    const { error } = found.json();
    expect([found.status, sentence.test(String(error))]).toEqual([status, true]);
    expect(error).not.toContain("secret-place");
  });

  it("what is too much, or takes too long", async () => {
    const found = await ask("", { limits: { maxVertices: 10 } });
    expect(found.status).toBe(413);
    expect(found.json().error).toMatch(/vertices, at most 10 are given at once.*limit/);
    expect((await ask("?limit=1", { limits: { maxVertices: 15 } })).status).toBe(200);
    const slow = {
      ...dataset,
      select: () => ({
        ...dataset.select(),
        level: () => new Promise<number>((_, no) => setTimeout(() => no(new DOMException("", "TimeoutError")), 20)),
      }),
    };
    const handler = createHandler({ routes: [queryRoute("query", slow, { timeout: 10 })] });
    expect((await handler({ method: "GET", path: "/query", headers: { host: "localhost" } })).status).toBe(503);
  });

  it("a client that leaves in the middle keeps no turn", async () => {
    const handler = handlerFor({ atOnce: 1 });
    const request = { method: "GET", path: "/query", headers: { host: "localhost" } };
    for (let i = 0; i < 3; i++) {
      const reply = await handler(request);
      for await (const _piece of piecesOf(reply.body)) break;
    }
    await handler(request); // not even read
    expect((await handler(request)).status).toBe(200);
  });
});
