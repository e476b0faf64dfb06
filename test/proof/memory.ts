/** R11: bounded memory. Converting an array of 20 times the cap stays under the cap and 100 MB. */
import { createArray, writeRegion } from "../../src/format/zarr/index.js";
import { ndarray } from "../../src/model/elements.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { inFolder, start } from "./processes.js";
import type { Row } from "./row.js";

const MB = 1e6;

export const memory: Row = {
  id: "R11",
  promise: "bounded memory",
  async run(scale) {
    const cap = (scale === "proof" ? 64 : 8) * MB;
    const columns = 4096;
    const rows = Math.ceil((20 * cap) / (columns * 4));
    const peak = await inFolder(async (folder) => {
      const array = await createArray(fileStore(`${folder}/in`, { durability: "none" }), Prefix.root, {
        shape: [rows, columns],
        chunkShape: [rows, 16], // columns to rows: no chunk of the source fits a chunk of the target
        dtype: "int32",
      });
      for (let x = 0; x < columns; x += 16) {
        const block = Int32Array.from({ length: rows * 16 }, (_, i) => (x + i) & 0xffff);
        await writeRegion(array, [null, { start: x, stop: x + 16 }], ndarray([rows, 16], block));
      }
      return Number(await (await start("convert", `${folder}/in`, `${folder}/out`, String(cap))).done);
    });
    const broken =
      peak <= cap + 100 * MB ? [] : [`${Math.round(peak / MB)} MB over the start with a cap of ${cap / MB} MB`];
    return {
      tried: `${(rows * columns * 4) / MB} MB under ${cap / MB} MB`,
      broken,
      note: `peak ${Math.round(peak / MB)} MB over the start`,
    };
  },
};
