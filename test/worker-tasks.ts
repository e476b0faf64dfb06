/** A worker that does what a worker should not, for the tests of the pool. */
import { Corrupt } from "../src/errors.js";
import { serve } from "../src/worker/serve.js";

const shared = new Uint8Array(16);

serve({
  echo: async (value: unknown) => value,
  add: async ({ bytes, by }: { bytes: Uint8Array; by: number }) => bytes.map((byte) => byte + by),
  view: async () => shared.subarray(4, 8).fill(7),
  sleep: async (ms: number) => {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
    return ms;
  },
  corrupt: async () => {
    const details = { where: "c/0", reason: "checksum", hint: "read it again", retryAfter: 3 };
    throw new Corrupt("the chunk c/0 is damaged", { ...details, cause: new RangeError("inner") });
  },
  bug: async () => (undefined as unknown as { x: number }).x,
  die: async () => process.exit(3),
  crash: async () => {
    setTimeout(() => {
      throw new Error("outside any task");
    });
    await new Promise(() => {});
  },
});
