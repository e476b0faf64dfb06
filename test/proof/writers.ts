/** R10: concurrent writers lose nothing. Processes append rows to one array; all rows are there, once each. */
import { createArray, openZarr, type ZarrArray, zarr } from "../../src/format/zarr/index.js";
import { typed } from "../../src/model/elements.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { inFolder, start } from "./processes.js";
import { many, type Row } from "./row.js";

export const writers: Row = {
  id: "R10",
  promise: "concurrent writers lose nothing",
  async run(scale) {
    const [processes, appends] = scale === "proof" ? [8, 250] : [2, 10];
    const broken = await inFolder(async (folder) => {
      const store = fileStore(folder, { durability: "none" });
      await createArray(store, Prefix.root, { shape: [0, 2], chunkShape: [7, 2], dtype: "int32" });
      const children = await Promise.all(
        Array.from({ length: processes }, (_, who) => start("append", folder, String(who + 1), String(appends))),
      );
      await Promise.all(children.map((child) => child.done));
      const array = (await openZarr(store)) as ZarrArray;
      const values = typed(await array.read());
      const seen = new Map<string, number>();
      for (let i = 0; i < values.length; i += 2) {
        const row = `${values[i]}/${values[i + 1]}`;
        seen.set(row, (seen.get(row) ?? 0) + 1);
      }
      const wrong: string[] = [];
      if (array.shape[0] !== processes * appends) wrong.push(`${array.shape[0]} rows, expected ${processes * appends}`);
      for (let who = 1; who <= processes; who++) {
        for (let k = 0; k < appends; k++) {
          if (seen.get(`${who}/${k}`) !== 1)
            wrong.push(`row ${who}/${k} is there ${seen.get(`${who}/${k}`) ?? 0} times`);
        }
      }
      for await (const { severity, message } of zarr.validate(store, Prefix.root))
        if (severity === "error") wrong.push(message);
      return wrong;
    });
    return { tried: `${processes} processes × ${many(appends)} appends`, broken };
  },
};
