/** R8: `kill -9` at any moment leaves an array that opens and validates, with every chunk as before or after a write. */
import { setTimeout as sleep } from "node:timers/promises";
import { createArray, openZarr, writeRegion, type ZarrArray, zarr } from "../../src/format/zarr/index.js";
import { ndarray, typed } from "../../src/model/elements.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { random } from "../fuzz/mutate.js";
import { inFolder, start } from "./processes.js";
import { many, type Row } from "./row.js";

export const kills: Row = {
  id: "R8",
  promise: "kill -9 leaves a store that opens and validates",
  async run(scale) {
    const count = scale === "proof" ? 1_000 : 10;
    const dice = random(8);
    const broken: string[] = [];
    await inFolder(async (folder) => {
      const store = fileStore(folder, { durability: "none" });
      const description = { shape: [40, 30], chunkShape: [8, 8], shardShape: [16, 16], dtype: "int32" } as const;
      const array = await createArray(store, Prefix.root, description);
      await writeRegion(array, undefined, ndarray([40, 30], new Int32Array(1200)));
      for (let n = 1; n <= count; n++) {
        const child = await start("rewrite", folder);
        const first = Promise.race([new Promise((seen) => child.stdout!.once("data", seen)), child.done]);
        await first; // starting up is not what is being killed
        await sleep(dice.below(60));
        child.kill("SIGKILL");
        await child.done;
        const wrong = await problemIn(store).catch((error: Error) => `${error.name}: ${error.message}`);
        if (wrong !== undefined) broken.push(`kill ${n}: ${wrong}`);
      }
    });
    return { tried: `${many(count)} kills`, broken };
  },
};

async function problemIn(store: ReturnType<typeof fileStore>): Promise<string | undefined> {
  for await (const { severity, message } of zarr.validate(store, Prefix.root)) if (severity === "error") return message;
  const array = (await openZarr(store)) as ZarrArray;
  const [rows, columns] = array.shape as [number, number];
  for (let y = 0; y < rows; y += 16) {
    for (let x = 0; x < columns; x += 16) {
      const region = [
        { start: y, stop: Math.min(rows, y + 16) },
        { start: x, stop: Math.min(columns, x + 16) },
      ];
      const numbers = new Set(typed(await array.read(region)) as Int32Array);
      numbers.delete(0); // rows that a resize has just brought back
      if (numbers.size > 1) return `the shard at ${y}, ${x} holds ${[...numbers]}`;
    }
  }
  return undefined;
}
