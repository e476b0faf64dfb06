/** Zarr, both ways: what zarr-python and tensorstore write is read equal, what Octavo writes they and zarrita read equal. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import FileSystemStore from "@zarrita/storage/fs";
import { afterAll, describe, expect, it } from "vitest";
import * as zarrita from "zarrita";
import { convertTree } from "../../src/convert/tree.js";
import { readNpy, writeNpy } from "../../src/format/interchange/npy.js";
import type { ZarrArray, ZarrGroup } from "../../src/format/zarr/index.js";
import { createArray, openZarr, writeRegion } from "../../src/format/zarr/index.js";
import { typed } from "../../src/model/elements.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { fixtures } from "../fixtures.js";
import { cases, type Reader } from "./cases.js";
import { missingPeer, runPeer } from "./peers.js";

const reason = missingPeer("zarr");
const folder = mkdtempSync(join(tmpdir(), "octavo-interop-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe.skipIf(reason !== undefined)(`Zarr and its Python peers${reason === undefined ? "" : ` (${reason})`}`, () => {
  it("reads equal what they write", async () => {
    const written = join(folder, "theirs");
    runPeer("zarr", "peer_write.py", written);
    const rows = JSON.parse(readFileSync(join(written, "manifest.json"), "utf8")) as {
      path: string;
      npy?: string;
      values?: string[];
      shape?: number[];
    }[];
    expect(rows.length).toBeGreaterThan(150);
    const store = fileStore(written);
    const differ: string[] = [];
    for (const { path, npy, values } of rows) {
      try {
        const array = (await openZarr(store, Prefix.of(path))) as ZarrArray;
        const { data, shape } = await array.read();
        if (npy === undefined) {
          expect((data as string[]).map(String)).toEqual(values);
        } else {
          const expected = readNpy(readFileSync(join(written, npy)));
          expect(shape).toEqual(expected.shape);
          expect(Buffer.compare(data as Uint8Array, expected.data as Uint8Array)).toBe(0);
        }
      } catch (error) {
        differ.push(`${path}: ${(error as Error).message.slice(0, 200)}`);
      }
    }
    expect(differ).toEqual([]);
  });

  it("is read equal by them", async () => {
    const written = join(folder, "ours");
    const store = fileStore(written, { durability: "none" });
    const manifest: object[] = [];
    const rows: { path: string; reader: Reader; detail: string }[] = [];
    for (const { name, description, values, readers } of cases()) {
      const array = await createArray(store, Prefix.of(name), description);
      await writeRegion(array, undefined, values);
      const python = readers.filter((reader) => reader !== "zarrita");
      const version = description.version;
      if (values.dtype.kind === "string") {
        manifest.push({ path: name, values: values.data, shape: values.shape, version, readers: python });
      } else {
        writeFileSync(join(written, `${name}.npy`), writeNpy(values));
        manifest.push({ path: name, npy: `${name}.npy`, version, readers: python });
      }
      if (readers.includes("zarrita")) {
        const detail = await sameInZarrita(join(written, name), version as 2 | 3, typed(values));
        rows.push({ path: name, reader: "zarrita", detail });
      }
    }
    for (const version of [2, 3] as const) {
      const group = (await openZarr(
        fileStore(join(fixtures("zarr"), `v${5 - version}/group_consolidated`)),
      )) as ZarrGroup;
      const path = `v${version}_consolidated`;
      await convertTree(group, store, Prefix.of(path), { version });
      const member = "a/b";
      writeFileSync(join(written, `${path}.npy`), writeNpy(await ((await group.open(member)) as ZarrArray).read()));
      const readers = ["zarr-python", "consolidated"];
      manifest.push({ path: `${path}/${member}`, member, npy: `${path}.npy`, version, readers });
    }
    writeFileSync(join(written, "manifest.json"), JSON.stringify(manifest));
    for (const line of runPeer("zarr", "peer_read.py", written).trim().split("\n")) rows.push(JSON.parse(line));
    expect(rows.length).toBeGreaterThan(250);
    expect(
      rows.filter(({ detail }) => detail !== "").map(({ path, reader, detail }) => `${path} in ${reader}: ${detail}`),
    ).toEqual([]);
  });
});

async function sameInZarrita(path: string, version: 2 | 3, expected: ArrayLike<number | bigint>): Promise<string> {
  try {
    const open = version === 2 ? zarrita.open.v2 : zarrita.open.v3;
    const array = await open(new FileSystemStore(path), { kind: "array" });
    const { data, shape, stride } = await zarrita.get(array);
    const values = data as unknown as { get?(i: number): unknown; [i: number]: unknown };
    for (let i = 0; i < expected.length; i++) {
      let [rest, at] = [i, 0];
      for (let axis = shape.length - 1; axis >= 0; axis--) {
        at += (rest % shape[axis]!) * stride[axis]!;
        rest = Math.floor(rest / shape[axis]!);
      }
      const found = values.get === undefined ? values[at] : Number(values.get(at));
      if (found !== expected[i]) return `element ${i} is ${found}, expected ${expected[i]}`;
    }
    return "";
  } catch (error) {
    return String(error);
  }
}
