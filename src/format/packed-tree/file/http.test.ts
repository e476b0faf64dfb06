/** What questions cost over HTTP, counted by the server. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Query, SelectOptions, VectorDataset } from "../../../model/vectors.js";
import { open } from "../../../node.js";
import { Key } from "../../../store/key.js";
import { memoryStore } from "../../../store/memory.js";
import { serveStore, type TestServer } from "../../../testing/http-server.js";
import { buildTree } from "../build.js";
import { joinParticles } from "../particles.js";
import { writeParticles } from "./write.js";

const COUNT = 400_000;

/** Numbers from 0 to 1, the same in each run; of half of the particles a tenth of that. */
function particles(clustered: boolean): Float64Array {
  let state = 7;
  return Float64Array.from({ length: 3 * COUNT }, (_, at) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state / 2 ** 32) * (clustered && at % 6 < 3 ? 0.1 : 1);
  });
}

const inputs = new Map([false, true].map((clustered) => [clustered, particles(clustered)]));
let server: TestServer;
beforeAll(async () => {
  const store = memoryStore();
  for (const clustered of [false, true]) {
    const joined = await joinParticles(await buildTree(inputs.get(clustered)!, { created: 1 }));
    await writeParticles(store, Key.of(`${clustered}.ptree`), joined);
  }
  server = await serveStore(store);
});
afterAll(() => server.close());

async function cost(clustered: boolean, query: Query, options: SelectOptions = {}) {
  server.log.length = 0;
  const dataset = (await open(`${server.url}/${clustered}.ptree`)) as VectorDataset;
  const selection = dataset.select(query);
  const batch = await selection.read(options);
  const asked = server.log.flatMap((line) => {
    const [, from, to] = /bytes=(\d*)-(\d+)$/.exec(line) ?? [];
    return to === undefined ? [] : [from === "" ? Number(to) : Number(to) - Number(from) + 1];
  });
  const plan = await selection.plan(options);
  const count = batch.positions.length / 3;
  return { requests: asked.length, bytes: asked.reduce((a, b) => a + b, 0), answer: 28 * count, count, batch, plan };
}

describe.each([false, true])("over HTTP, particles in a cluster: %s", (clustered) => {
  it.each([
    [0.5, 0.5, 0.5],
    [0.3, 0.4, 0.6],
    [0.05, 0.05, 0.05],
  ])("a sphere at %f %f %f takes at most 40 requests, and few bytes beyond its own", async (x, y, z) => {
    const radius = !clustered ? 0.27 : x < 0.1 ? 0.04 : 0.36; // as many leaves across as 1 % of 1e7 particles has
    const { requests, bytes, answer, count, batch } = await cost(clustered, { sphere: [x, y, z, radius] });
    expect(count).toBeGreaterThan(500);
    expect(requests).toBeLessThanOrEqual(40);
    expect(bytes).toBeLessThanOrEqual(3.2 * answer + 256_000); // 2.5 in 1e7 particles: bench/tree-http.ts
    const inside = inputs.get(clustered)!.reduce((sum, _, at, all) => {
      if (at % 3 > 0) return sum;
      return (all[at]! - x) ** 2 + (all[at + 1]! - y) ** 2 + (all[at + 2]! - z) ** 2 <= radius ** 2 ? sum + 1 : sum;
    }, 0);
    expect(count).toBe(inside);
    expect(batch.vertexColumns.get("original")!.values).toHaveLength(inside);
  });

  it("takes fewer requests for more bytes where that is asked for", async () => {
    const asked = { sphere: [0.5, 0.5, 0.5, 0.2] };
    const [many, few] = [await cost(clustered, asked), await cost(clustered, asked, { requests: 3 })];
    expect(few.plan.requests).toBeLessThanOrEqual(3);
    expect(few.requests).toBeLessThan(many.requests);
    expect(few.bytes).toBeGreaterThan(many.bytes);
    expect(few.batch.positions).toEqual(many.batch.positions);
  });

  it("a view of few is few requests", async () => {
    const { requests, bytes, count } = await cost(clustered, { maxVertices: 2000 });
    expect(count).toBeGreaterThan(250);
    expect(requests).toBeLessThanOrEqual(6);
    expect(bytes).toBeLessThan(400_000);
    const near = await cost(clustered, { nearest: [0.3, 0.3, 0.3, 5] });
    expect(near.requests).toBeLessThanOrEqual(20);
  });
});
