/** Published stores in zarr-vectors 0.9.2: it reads of them what it reads of the store that they were made from, and finds no error. */
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { convertVectors } from "../../src/convert/vectors.js";
import { openZarrVectors, publishZarrVectors } from "../../src/format/zarr-vectors/index.js";
import { createZarrVectors } from "../../src/format/zarr-vectors/write/write.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { fixtures } from "../fixtures.js";
import { KINDS, scene } from "../zarr-vectors-scenes.js";
import { missingPeer, runPeer } from "./peers.js";

const folder = mkdtempSync(join(tmpdir(), "octavo-zv-publish-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const files = fileStore(folder, { durability: "none" });
const golden = join(fixtures("zarr-vectors"), "v0.9.2");
const names = readdirSync(golden).filter((name) => existsSync(join(golden, name, "store.zarrvectors")));

const missing = missingPeer("zarr-vectors-0.9");
describe.skipIf(missing !== undefined)(
  `published stores in zarr-vectors 0.9.2${missing === undefined ? "" : ` (${missing})`}`,
  () => {
    const said = new Map<string, { readonly validate_level5: object }>();
    const all = [...KINDS, ...names];
    beforeAll(async () => {
      for (const geometry of KINDS) {
        const at = Prefix.of(`${geometry}.source`);
        const writer = await createZarrVectors(files, at, { geometry, dims: 3, chunkShape: 10 });
        await writer.add(scene(geometry, 5, 8, 3));
        writer.groups([[0, 5], { start: 1, stop: 3 }]);
        await writer.commit();
      }
      for (const name of names) {
        const source = await openZarrVectors(fileStore(join(golden, name, "store.zarrvectors")));
        await convertVectors(source, files, Prefix.of(`${name}.source`));
      }
      for (const name of all) {
        const source = await openZarrVectors(files, Prefix.of(`${name}.source`));
        await publishZarrVectors(source, files, Prefix.of(`${name}.published`));
      }
      const paths = all.flatMap((name) => [`${name}.source`, `${name}.published`]);
      const lines = runPeer("zarr-vectors-0.9", "zv_dump.py", ...paths.map((path) => join(folder, path))).trim();
      for (const [i, line] of lines.split("\n").entries()) said.set(paths[i]!, JSON.parse(line));
    }, 600_000);

    it.each(all)("%s", (name) => {
      const published = said.get(`${name}.published`)!;
      expect(published.validate_level5).toMatchObject({ ok: true, errors: [] });
      const texts = (from: object): string => JSON.stringify(from).replaceAll(/\w+\.(source|published)/g, name);
      expect(JSON.parse(texts(published))).toEqual(JSON.parse(texts(said.get(`${name}.source`)!)));
    });
  },
);
