/**
 * A dataset behind a port, as a worker has it, shows what the same dataset shows beside an engine: the same drawings, picks, files
 * and errors; requests go through the page's own fetch and end when nobody waits.
 */
import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { streamlines } from "../../../test/streamlines.js";
import { Corrupt, InvalidInput, NotFound } from "../../errors.js";
import { createZarrVectors, openZarrVectors } from "../../format/zarr-vectors/index.js";
import { buildPyramid } from "../../pyramid/build.js";
import { type Bounds, fitted } from "../../scene/camera.js";
import { createHandler, fetchHandler, storeRoute } from "../../server/index.js";
import { Key, Prefix } from "../../store/key.js";
import { memoryStore } from "../../store/memory.js";
import type { Fetch } from "../../store/send.js";
import type { Store } from "../../store/types.js";
import type { Port } from "../../worker/channel.js";
import type { Drawing } from "./drawing.js";
import { host } from "./host.js";
import { type RemoteOptions, RemoteStreamer } from "./remote.js";
import type { Source } from "./source.js";
import { LocalStreamer, type Streamer } from "./streamer.js";

const COUNT = 20_000;
let store: Store;
beforeAll(async () => {
  store = memoryStore();
  const writer = await createZarrVectors(store, Prefix.root, { geometry: "streamlines", dims: 3, chunkShape: 25 });
  const made = streamlines(COUNT);
  const ids = BigInt64Array.from({ length: COUNT }, (_, line) => BigInt(line + 10));
  const objects = Int32Array.from(ids, (_, line) => line);
  // Numbers that stay what they are whatever they are relative to.
  await writer.add({ ...made, positions: made.positions.map((x) => Math.round(64 * x) / 64), objects, ids });
  await writer.commit();
  await buildPyramid(store, Prefix.root, {});
}, 180_000);

const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** A host on the other side of a channel, in this thread. */
function remote(
  source: Source,
  options: RemoteOptions = {},
): { opening: Promise<RemoteStreamer>; ended: () => boolean } {
  const { port1, port2 } = new MessageChannel();
  host(port1 as unknown as Port);
  let ended = false;
  const end = (): void => {
    ended = true;
    port1.close();
  };
  endings.push(end);
  const opening = RemoteStreamer.open(port2 as unknown as Port, source, options, end) as Promise<RemoteStreamer>;
  return { opening, ended: () => ended };
}

/** A web server, as its own fetch; `asked` are the signals and ranges of all requests. */
function served(of: Store): { fetch: Fetch; asked: { url: string; signal: AbortSignal }[] } {
  const answer = fetchHandler(createHandler({ routes: [storeRoute("", of)] }));
  const asked: { url: string; signal: AbortSignal }[] = [];
  return {
    asked,
    fetch(url, init) {
      asked.push({ url, signal: init!.signal! });
      return answer(new Request(url, init));
    },
  };
}

const URL_OF = "http://127.0.0.1/";
const close: Bounds = { min: [40, 40, 40], max: [62, 62, 62] };
const all: Bounds = { min: [0, 0, 0], max: [100, 100, 100] };
const viewOf = (bounds: Bounds, pixels = 500) => ({
  camera: fitted(bounds, 30, 20, 1, true),
  width: pixels,
  height: pixels,
});

class Screen {
  readonly drawn = new Map<number, Drawing>();

  take(streamer: Streamer): this {
    for (const { add, drop } of streamer.changes()) {
      if (add !== undefined) this.drawn.set(add.id, add);
      for (const id of drop) this.drawn.delete(id);
    }
    return this;
  }

  /** How many lines, and a sum over all of them, where they are: which pieces are drawn together is a matter of time. */
  lines(): { readonly count: number; readonly sum: number } {
    let [count, sum] = [0, 0];
    for (const { columns, origin } of this.drawn.values()) {
      const rows = columns[0]!.values.length / 3;
      const row = new Float64Array(columns.reduce((all, { width }) => all + width, 0));
      const bits = new Uint32Array(row.buffer);
      for (let line = 0; line < rows; line++) {
        let at = 0;
        for (const { name, width, values } of columns)
          for (let k = 0; k < width; k++)
            row[at++] = values[width * line + k]! + (name === "from" || name === "to" ? origin[k]! : 0);
        sum = (sum + bits.reduce((hash, word) => Math.imul(hash ^ word, 0x01000193), 0x811c9dc5)) | 0;
      }
      count += rows;
    }
    return { count, sum };
  }
}

describe("a dataset behind a port", () => {
  test("shows what it shows without one", async () => {
    const there = served(store);
    const streamer = await remote(URL_OF, { fetch: there.fetch, color: "fa" }).opening;
    const local = new LocalStreamer(await openZarrVectors(store, Prefix.root), { color: "fa" });
    expect(streamer).toMatchObject({ axes: local.axes, bounds: local.bounds, form: local.form });
    expect({ ...streamer.about, url: "" }).toEqual({ ...local.about, url: "" });
    const [one, other] = [new Screen(), new Screen()];
    for (const bounds of [all, close, all]) {
      await Promise.all([streamer.look(viewOf(bounds)), local.look(viewOf(bounds))]);
      const lines = other.take(local).lines();
      expect(lines.count).toBeGreaterThan(1000);
      expect(one.take(streamer).lines()).toEqual(lines);
      const { traffic, ...status } = streamer.status();
      expect({ ...status, traffic: undefined }).toEqual(local.status());
      expect(traffic!.requests).toBe(there.asked.length);
      expect(streamer.legend).toEqual(local.legend);
    }
    expect([streamer.schema, streamer.colouring]).toEqual([local.schema, local.colouring]);
    expect(streamer.timeline.entries().map(({ what }) => what)).toContain("piece");

    const at = { view: viewOf(all), reach: 20, subset: 0.5 };
    const picks = [250, 200, 300].flatMap((x) => [240, 270].map((y) => ({ ...at, x, y })));
    const picked = await Promise.all(picks.map((pick) => streamer.pick(pick)));
    expect(picked).toEqual(await Promise.all(picks.map((pick) => local.pick(pick))));
    expect(picked.some((own) => own?.id !== undefined)).toBe(true);
    expect(await streamer.groups()).toEqual(await local.groups());

    const query = { object: new Set([12n, 40n]).values(), box: [0, 0, 0, 100, 100, 100] };
    const file = await streamer.exported({ as: "csv", query });
    expect(file).toEqual(await local.exported({ as: "csv", query: { ...query, object: [12n, 40n] } }));
    expect(file.length).toBeGreaterThan(100);

    for (const own of [streamer, local]) own.set({ filter: { object: [12n] }, color: "object" });
    await Promise.all([streamer.look(viewOf(all)), local.look(viewOf(all))]);
    expect(one.take(streamer).lines()).toEqual(other.take(local).lines());
    expect(one.lines().count).toBe(7);
  });

  test("files that were chosen are read where they are", async () => {
    const text = "1 1 0 0 0 1 -1\n2 3 5 0 0 1 1\n3 3 9 0 0 1 2\n";
    const files = new Map([["cell.swc", new File([text], "cell.swc")]]);
    const streamer = await remote({ name: "cell.swc", files }).opening;
    expect(streamer.about).toMatchObject({ geometries: ["skeletons"], url: "dropped:cell.swc/cell.swc" });
    await streamer.look(viewOf({ min: [0, -1, -1], max: [9, 1, 1] }));
    expect(new Screen().take(streamer).lines().count).toBe(2);
  });

  test("what is damaged, absent or something else is told as itself", async () => {
    const small = memoryStore();
    const description = { geometry: "points", dims: 3, chunkShape: 50, sharding: "none" } as const;
    const writer = await createZarrVectors(small, Prefix.root, description);
    await writer.add({ positions: Float32Array.from({ length: 2400 }, (_, i) => ((i * 7919) % 1000) / 10) });
    await writer.commit();
    const value = (await small.get(Key.of("0/vertices/c/1/1/1")))!;
    await small.set(
      Key.of("0/vertices/c/1/1/1"),
      value.map((byte) => byte ^ 0x55),
    );
    const errors: Error[] = [];
    const onError = (error: Error): void => void errors.push(error);
    const streamer = await remote(URL_OF, { fetch: served(small).fetch, onError }).opening;
    await streamer.look(viewOf(all));
    expect(errors).toEqual([expect.any(Corrupt)]);
    expect(errors[0]!.message).toMatch(/1\/1\/1/);
    expect(streamer.status()).toMatchObject({ missing: 1, loading: false });

    const nothing = remote(URL_OF, { fetch: served(memoryStore()).fetch });
    await expect(nothing.opening).rejects.toBeInstanceOf(NotFound);
    expect(nothing.ended()).toBe(true);
    await expect(remote("mailto:somebody").opening).rejects.toBeInstanceOf(InvalidInput);
    const refused = remote(URL_OF, { fetch: () => Promise.reject(new TypeError("no CORS")) });
    await expect(refused.opening).rejects.toMatchObject({ name: "LimitExceeded", hint: /CORS/ });
  });

  test("an abort ends the opening and its requests", async () => {
    const controller = new AbortController();
    const signals: AbortSignal[] = [];
    const { opening, ended } = remote(URL_OF, {
      signal: controller.signal,
      fetch: (_, init) => {
        signals.push(init!.signal!);
        controller.abort("enough");
        return new Promise(() => {});
      },
    });
    await expect(opening).rejects.toBe("enough");
    expect(signals[0]!.aborted).toBe(true);
    expect(ended()).toBe(true);
  });

  test("disposed, nothing is asked, nothing is told, and what was asked ends", async () => {
    const there = served(store);
    let stuck = false;
    let told = 0;
    const waiting: AbortSignal[] = [];
    const { opening, ended } = remote(URL_OF, {
      onChange: () => void told++,
      onProgress: () => void told++,
      fetch(url, init) {
        if (!stuck) return there.fetch(url, init);
        waiting.push(init!.signal!);
        return new Promise(() => {});
      },
    });
    const streamer = await opening;
    stuck = true;
    const looking = streamer.look(viewOf(all));
    await until(() => waiting.length > 0);
    const picking = streamer.pick({ view: viewOf(all), x: 1, y: 1, reach: 5, subset: 1 });
    streamer.dispose();
    await looking; // another look, or none, took its place
    await expect(picking)
      .resolves.toBeUndefined()
      .catch(() => expect(picking).rejects.toThrow("closed"));
    expect(ended()).toBe(true);
    expect(waiting.every(({ aborted }) => aborted)).toBe(true);
    const before = told;
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect([told, streamer.changes()]).toEqual([before, []]);
  });

  test("of many looks at once the first and the last are sent", async () => {
    const streamer = await remote(URL_OF, { fetch: served(store).fetch }).opening;
    const looks = Array.from({ length: 20 }, (_, i) =>
      streamer.look(viewOf({ min: [i, i, i], max: [i + 10, i + 10, i + 10] })),
    );
    expect(streamer.status().loading).toBe(true);
    await Promise.all(looks);
    expect(streamer.status().loading).toBe(false);
    expect(streamer.timeline.entries().filter(({ what }) => what === "look").length).toBeLessThanOrEqual(2);
  });

  test("memory is held to: what is not seen goes", async () => {
    const streamer = await remote(URL_OF, { fetch: served(store).fetch, memory: 100_000 }).opening;
    for (let x = 10; x < 80; x += 10) await streamer.look(viewOf({ min: [x, x, x], max: [x + 8, x + 8, x + 8] }));
    expect(streamer.timeline.entries().some(({ what }) => what === "drop")).toBe(true);
  });
});

describe("the page's fetch", () => {
  test("is asked for as much as is read", async () => {
    let [pulled, cancelled] = [0, false];
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled++;
        controller.enqueue(new Uint8Array(1 << 20));
      },
      cancel() {
        cancelled = true;
      },
    });
    const fetch: Fetch = async () =>
      new Response(body, { status: 200, headers: { "content-length": "1000000000000" } });
    await expect(remote("http://h/data.trk", { fetch }).opening).rejects.toThrow();
    await until(() => cancelled);
    expect(pulled).toBeLessThan(100);
  });
});

async function until(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 200 && !condition(); i++) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(condition()).toBe(true);
}
