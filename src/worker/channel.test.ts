/** Calls between two sides of a MessageChannel: answers, the six errors, aborts, bytes that are handed over, closing. */
import { afterEach, expect, test } from "vitest";
import { Corrupt, InvalidInput } from "../errors.js";
import { type Channel, connect, type Handlers, type Port } from "./channel.js";

const open: MessageChannel[] = [];
afterEach(() => {
  for (const { port1 } of open.splice(0)) port1.close();
});

function pair<A extends Handlers, B extends Handlers>(one: A, other: B): [Channel<B>, Channel<A>] {
  const channel = new MessageChannel();
  open.push(channel);
  const [a, b] = [channel.port1, channel.port2] as unknown as [Port, Port];
  return [connect<B>(a, one), connect<A>(b, other)];
}

test("both sides ask and answer", async () => {
  const [one, other] = pair({ twice: (x: number) => 2 * x }, { add: async ([a, b]: [number, number]) => a + b });
  expect(await Promise.all([one.call("add", [1, 2]), one.call("add", [3, 4]), other.call("twice", 4)])).toEqual([
    3, 7, 8,
  ]);
});

test("an error arrives as the same one of the six, with its hint", async () => {
  const details = { where: "0/c/1", hint: "try again", reason: "checksum" };
  const [one] = pair(
    {},
    {
      fail: (): void => {
        throw new Corrupt("a chunk is damaged", details);
      },
    },
  );
  const error: unknown = await one.call("fail", undefined as never).catch((caught: unknown) => caught);
  expect(error).toBeInstanceOf(Corrupt);
  expect(error).toMatchObject({ message: "a chunk is damaged", ...details });
});

test("who aborts waits no longer, and the other side hears of it", async () => {
  let heard: (() => void) | undefined;
  const ended = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const [one] = pair(
    {},
    {
      wait: (_: undefined, signal: AbortSignal) =>
        new Promise<void>(() => signal.addEventListener("abort", () => heard!())),
    },
  );
  const controller = new AbortController();
  const waiting = one.call("wait", undefined, { signal: controller.signal });
  controller.abort("enough");
  await expect(waiting).rejects.toBe("enough");
  await ended;
  await expect(one.call("wait", undefined, { signal: controller.signal })).rejects.toBe("enough");
});

test("bytes are handed over: answers whole, news with what is named", async () => {
  let heard: ((value: Float32Array) => void) | undefined;
  const told = new Promise<Float32Array>((resolve) => {
    heard = resolve;
  });
  const own = Uint8Array.of(1, 2, 3);
  const [one] = pair({}, { bytes: () => own, news: (value: Float32Array) => heard!(value) });
  expect(await one.call("bytes", undefined as never)).toEqual(Uint8Array.of(1, 2, 3));
  expect(own.byteLength).toBe(0);
  const values = Float32Array.of(4, 5);
  one.tell("news", values, [values.buffer]);
  expect(values.byteLength).toBe(0);
  expect(await told).toEqual(Float32Array.of(4, 5));
});

test("what is closed rejects who waits and who comes later, ends what it was asked for, and says nothing more", async () => {
  let signalled: AbortSignal | undefined;
  let began: (() => void) | undefined;
  const begun = new Promise<void>((resolve) => {
    began = resolve;
  });
  const forever = (_: undefined, signal: AbortSignal): Promise<void> => {
    signalled = signal;
    began!();
    return new Promise(() => {});
  };
  const [one, other] = pair({ forever }, { forever: () => new Promise<void>(() => {}) });
  const waiting = one.call("forever", undefined as never);
  void other.call("forever", undefined).catch(() => {});
  await begun;
  one.close(new InvalidInput("closed"));
  await expect(waiting).rejects.toThrow("closed");
  await expect(one.call("forever", undefined as never)).rejects.toThrow("closed");
  expect(signalled!.aborted).toBe(true);
});
