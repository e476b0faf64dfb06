import { execFileSync } from "node:child_process";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { workerUrl } from "../../test/worker-url.js";
import { Corrupt, LimitExceeded, OctavoError, Unsupported } from "../errors.js";
import { alone, PortableError } from "./message.js";
import { createPool, type Pool, type PoolOptions, type RunOptions } from "./pool.js";

let url: URL;
beforeAll(async () => {
  url = await workerUrl("test/worker-tasks.ts");
});

const pools: Pool[] = [];
afterEach(async () => {
  for (const pool of pools.splice(0)) await pool.close();
});

/** A pool of the worker in test/worker-tasks.ts, whose tasks have other names. */
function testPool(options: PoolOptions = {}) {
  const pool = createPool({ size: 1, workerUrl: url, ...options });
  pools.push(pool);
  const run = pool.run as unknown as (task: string, payload?: unknown, options?: RunOptions) => Promise<unknown>;
  return { pool, run };
}

describe("a pool", () => {
  it("gives back what its tasks give", async () => {
    const { run } = testPool({ size: 2 });
    const values = [1, "two", { three: [3n, null] }, undefined, new Map([[4, 5]])];
    expect(await Promise.all(values.map((value) => run("echo", value)))).toEqual(values);
  });

  it("hands buffers over, both ways", async () => {
    const { run } = testPool();
    const bytes = new Uint8Array([1, 2, 3]);
    const result = (await run("add", { bytes, by: 10 }, { transfer: [bytes.buffer] })) as Uint8Array;
    expect(bytes.length).toBe(0);
    expect(result).toEqual(new Uint8Array([11, 12, 13]));
    expect(((await run("view")) as Uint8Array).buffer.byteLength).toBe(4);
    expect(await run("view")).toEqual(new Uint8Array([7, 7, 7, 7]));
  });

  it("does more tasks than it has workers and places, in every order of size", async () => {
    for (const options of [
      { size: 1, maxQueue: 1 },
      { size: 2, maxQueue: 3 },
    ]) {
      const { run } = testPool(options);
      const results = await Promise.all(Array.from({ length: 60 }, (_, i) => run("echo", i)));
      expect(results).toEqual(Array.from({ length: 60 }, (_, i) => i));
    }
  });

  it("brings errors back as what they were", async () => {
    const { run } = testPool();
    const error = (await run("corrupt").catch((e: unknown) => e)) as Corrupt;
    expect(error).toBeInstanceOf(Corrupt);
    expect(error).toMatchObject({
      name: "Corrupt",
      message: "the chunk c/0 is damaged",
      where: "c/0",
      reason: "checksum",
      hint: "read it again",
      retryAfter: 3,
      cause: { name: "RangeError", message: "inner" },
    });
    const bug = (await run("bug").catch((e: unknown) => e)) as Error;
    expect(bug).not.toBeInstanceOf(OctavoError);
    expect(bug.name).toBe("TypeError");
    expect(await run("echo", 1)).toBe(1);
  });

  it("survives its workers", async () => {
    const { run } = testPool();
    for (const task of ["die", "crash", "die"]) {
      await expect(run(task)).rejects.toMatchObject({ name: "Unsupported", reason: "worker-died" });
      expect(await run("echo", task)).toBe(task);
    }
  });

  it("says that there is no such program", async () => {
    const { run } = testPool({ workerUrl: new URL("file:///nowhere/worker.js") });
    await expect(run("echo", 1)).rejects.toThrow(/the worker file:\/\/\/nowhere\/worker.js died/);
    await expect(run("echo", 1)).rejects.toBeInstanceOf(Unsupported);
  });

  it("refuses payloads that cannot be sent, and goes on", async () => {
    const { run } = testPool();
    await expect(run("echo", () => 1)).rejects.toMatchObject({ name: "InvalidInput" });
    expect(await run("echo", 1)).toBe(1);
  });
});

describe("abort", () => {
  it("takes a task out of the queue, or out of the wait for it", async () => {
    const { run } = testPool({ maxQueue: 1 });
    const busy = [run("sleep", 150), run("sleep", 1)]; // both under way in the one worker
    const controllers = [new AbortController(), new AbortController(), new AbortController()];
    const waiting = controllers.map(({ signal }, i) => run("echo", i, { signal }));
    const outcomes = Promise.allSettled(waiting);
    const start = performance.now();
    controllers[1]!.abort(new Error("second"));
    controllers[0]!.abort(new Error("first"));
    await expect(waiting[0]).rejects.toThrow("first");
    await expect(waiting[1]).rejects.toThrow("second");
    expect(performance.now() - start).toBeLessThan(100);
    expect((await outcomes)[2]).toEqual({ status: "fulfilled", value: 2 });
    await Promise.all(busy);
  });

  it("in the very moment in which there is room leaves the room to others", async () => {
    const { run } = testPool({ maxQueue: 1 });
    const busy = [run("sleep", 60), run("sleep", 1)];
    const controllers = [new AbortController(), new AbortController()];
    const waiting = controllers.map(({ signal }, i) => run("echo", i, { signal }));
    const last = run("echo", "last");
    await Promise.resolve();
    controllers[0]!.abort("first"); // makes room for the second
    controllers[1]!.abort("second");
    await expect(waiting[0]).rejects.toBe("first");
    await expect(waiting[1]).rejects.toBe("second");
    expect(await last).toBe("last");
    await Promise.all(busy);
  });

  it("ends the wait for a task that runs, and of one that is aborted beforehand", async () => {
    const { run } = testPool();
    const controller = new AbortController();
    const running = run("sleep", 100, { signal: controller.signal });
    await new Promise((done) => setTimeout(done, 10));
    controller.abort("enough");
    await expect(running).rejects.toBe("enough");
    await expect(run("echo", 1, { signal: AbortSignal.abort("no") })).rejects.toBe("no");
    expect(await run("echo", 1)).toBe(1);
  });
});

describe("the end", () => {
  it("rejects what is not done, and what comes later", async () => {
    const { pool, run } = testPool({ maxQueue: 1 });
    const tasks = Array.from({ length: 6 }, (_, i) => run("sleep", i === 0 ? 5000 : 1));
    const outcomes = Promise.allSettled(tasks);
    await new Promise((done) => setTimeout(done, 50));
    await pool.close();
    for (const outcome of await outcomes) expect(outcome).toMatchObject({ reason: { name: "InvalidInput" } });
    await expect(run("echo", 1)).rejects.toThrow(/closed/);
    await pool.close();
  });

  it("does not keep a process alive that has nothing left to do, nor end one that waits", async () => {
    const program = `
      import { createPool } from ${JSON.stringify((await workerUrl("src/worker/pool.ts")).href)};
      const pool = createPool({ size: 2, workerUrl: ${JSON.stringify(url.href)} });
      console.log(await pool.run("sleep", 50), await pool.run("echo", "done"));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "-e", program], { timeout: 10_000 });
    expect(output.toString()).toBe("50 done\n");
  });

  it("refuses sizes that make no sense", () => {
    for (const options of [{ size: 0 }, { size: 1.5 }, { maxQueue: 0 }])
      expect(() => createPool(options)).toThrow(expect.objectContaining({ name: "InvalidInput" }));
  });
});

describe("messages", () => {
  it("bytes are alone in their buffer", () => {
    const whole = new Uint8Array([1, 2]);
    expect(alone(whole)).toBe(whole);
    for (const view of [
      new Uint8Array(9).subarray(1, 3),
      Buffer.from([1, 2]),
      new Uint8Array(new SharedArrayBuffer(2)),
    ]) {
      expect(alone(view).buffer).toBeInstanceOf(ArrayBuffer);
      expect(alone(view).buffer.byteLength).toBe(2);
    }
  });
  it("whatever is thrown has a form that can be sent", () => {
    for (const thrown of [undefined, null, "text", 3, new LimitExceeded("m", { reason: "memory" }), new Error("e")]) {
      const back = PortableError.toError(structuredClone(PortableError.from(thrown)));
      expect(back).toBeInstanceOf(Error);
      if (thrown instanceof Error) expect([back.name, back.message]).toEqual([thrown.name, thrown.message]);
    }
  });
});
