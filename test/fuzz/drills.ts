/** Decoders that do what no decoder may: to see that the driver sees it. */
import { Corrupt } from "../../src/errors.js";
import type { Target } from "./driver.js";

const drill = (name: string, run: (bytes: Uint8Array) => unknown): Target => ({
  name: `drill-${name}`,
  cap: 1 << 20,
  load: async () => ({ seeds: [Uint8Array.of(1, 2, 3, 4)], run: (bytes) => (isSeed(bytes) ? undefined : run(bytes)) }),
});

const isSeed = (bytes: Uint8Array): boolean => bytes.length === 4 && bytes.every((byte, i) => byte === i + 1);
const kept: Uint8Array[] = [];

export const drills = {
  good: drill("good", (bytes) => {
    if (bytes.length % 2) throw new Corrupt("odd");
  }),
  rejects: drill("rejects", async () => {
    throw new RangeError("late");
  }),
  crashes: drill("crashes", (bytes) => new DataView(bytes.buffer).getUint32(bytes.length)),
  hoards: drill("hoards", () => kept.push(new Uint8Array(70 << 20))),
  dawdles: drill("dawdles", () => {
    const end = performance.now() + 300;
    while (performance.now() < end);
  }),
  hangs: drill("hangs", () => {
    for (;;);
  }),
} satisfies { [name: string]: Target };
