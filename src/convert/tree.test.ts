/** Trees of arrays and groups, from version to version and into zip files. */
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fixtures } from "../../test/fixtures.js";
import { InvalidInput, Unsupported } from "../errors.js";
import {
  createArray,
  createGroup,
  openZarr,
  writeRegion,
  type ZarrArray,
  type ZarrGroup,
  zarr,
} from "../format/zarr/index.js";
import { ndarray, typed } from "../model/elements.js";
import { fileStore } from "../store/file.js";
import { Key, Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { zipStore } from "../store/zip.js";
import { zipWriteStore } from "../store/zip-write.js";
import { convertTree } from "./tree.js";

describe("trees", () => {
  it("go from v2 to v3 and back, into a zip file and out of it", async () => {
    const source = memoryStore();
    await createGroup(source, Prefix.root, { version: 2, attributes: { t: 1 } });
    await createGroup(source, Prefix.of("a"), { version: 2 });
    const leaf = await createArray(source, Prefix.of("a/b"), {
      version: 2,
      shape: [5],
      chunkShape: [2],
      dtype: "int16",
    });
    await writeRegion(leaf, [], ndarray([5], Int16Array.of(1, 0, 0, 0, 5)));
    const root = await openZarr(source);
    await expect(convertTree(root, source, Prefix.of("a/c"), { overwrite: true })).rejects.toThrow(InvalidInput);

    const outer = memoryStore();
    const zip = await zipWriteStore(outer, Key.of("t.zip"));
    await convertTree(root, zip, Prefix.root);
    await zip.close();
    const inside = (await openZarr(await zipStore(outer, Key.of("t.zip")))) as ZarrGroup;
    expect([inside.version, inside.attributes, await inside.children()]).toEqual([
      "3",
      { t: 1 },
      [{ name: "a", kind: "group" }],
    ]);

    const back = memoryStore();
    const { report: second } = await convertTree(inside, back, Prefix.root, { version: 2 });
    expect(second.losses).toEqual([]);
    const array = (await ((await openZarr(back)) as ZarrGroup).open("a/b")) as ZarrArray;
    expect([...(typed(await array.read()) as Int16Array)]).toEqual([1, 0, 0, 0, 5]);
  });

  it("keep consolidated metadata, and cannot become v0", async () => {
    for (const path of ["v2/group_consolidated", "v3/group_consolidated"]) {
      const source = (await openZarr(fileStore(join(fixtures("zarr"), path)))) as ZarrGroup;
      for (const version of [2, 3] as const) {
        const store = memoryStore();
        const { report } = await convertTree(source, store, Prefix.root, { version });
        expect(report).toMatchObject({ chunksCopied: 3, chunksRecoded: 0 });
        const made = (await openZarr(store)) as ZarrGroup;
        expect([...made.meta.consolidated!.keys()]).toEqual(["a", "a/b"]);
        for await (const { severity, message } of zarr.validate(store, Prefix.root))
          if (severity === "error") expect.fail(message);
      }
      await expect(convertTree(source, memoryStore(), Prefix.root, { version: 0 })).rejects.toThrow(Unsupported);
    }
  });
});
