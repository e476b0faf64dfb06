/** The tasks themselves: in a worker and on this thread they give the same. */
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { workerUrl } from "../../test/worker-url.js";
import type { ChunkSpec, CodecSpec } from "../codec/types.js";
import { defaultLimits } from "../limits.js";
import { fileStore } from "../store/file.js";
import { Key } from "../store/key.js";
import { PlainFiles } from "./file-task.js";
import { inlinePool } from "./inline.js";
import { createPool, type Pool } from "./pool.js";

const int32 = { kind: "int", size: 4, endian: "little" } as const;
const chunk: ChunkSpec = { shape: [3, 4], dtype: int32, fill: new Uint8Array(4) };
const specs: CodecSpec[] = [
  { name: "bytes", configuration: { endian: "big" } },
  { name: "gzip", configuration: { level: 1 } },
];
const limits = defaultLimits;

let workers: Pool;
beforeAll(async () => {
  workers = createPool({ size: 1, workerUrl: await workerUrl() });
});
afterAll(() => workers?.close());
const pools = () => [workers, inlinePool];

describe("codec tasks", () => {
  it("give the same with and without workers", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 48, maxLength: 48 }), async (data) => {
        const encoded = await Promise.all(pools().map((pool) => pool.run("codec.encode", { specs, chunk, data })));
        expect(encoded[0]).toEqual(encoded[1]);
        for (const pool of pools()) {
          const bytes = encoded[0]!.slice();
          expect(await pool.run("codec.decode", { specs, chunk, bytes, limits }, { transfer: [bytes.buffer] })).toEqual(
            data,
          );
        }
      }),
      { numRuns: 20 },
    );
  });

  it("carry elements of variable size", async () => {
    const strings: ChunkSpec = { shape: [3], dtype: { kind: "string" }, fill: "" };
    const vlen: CodecSpec[] = [{ name: "vlen-utf8", configuration: {} }];
    for (const pool of pools()) {
      const bytes = await pool.run("codec.encode", { specs: vlen, chunk: strings, data: ["a", "", "ß"] });
      expect(await pool.run("codec.decode", { specs: vlen, chunk: strings, bytes, limits })).toEqual(["a", "", "ß"]);
    }
  });

  it("load what only the chunk asks for", async () => {
    const blosc = (cname: string): CodecSpec[] => {
      const configuration = { cname, clevel: 5, shuffle: "shuffle", typesize: 4, blocksize: 0 };
      return [
        { name: "bytes", configuration: { endian: "little" } },
        { name: "blosc", configuration },
      ];
    };
    const long: ChunkSpec = { ...chunk, shape: [1000] };
    const data = new Uint8Array(Int32Array.from({ length: 1000 }, (_, i) => i).buffer);
    for (const pool of pools()) {
      for (const cname of ["zstd", "zlib"]) {
        const bytes = await pool.run("codec.encode", { specs: blosc(cname), chunk: long, data });
        expect(await pool.run("codec.decode", { specs: blosc("lz4"), chunk: long, bytes, limits })).toEqual(data);
      }
    }
  });

  it("fail the same with and without workers", async () => {
    for (const pool of pools()) {
      const bytes = new Uint8Array([1, 2, 3]);
      await expect(pool.run("codec.decode", { specs, chunk, bytes, limits })).rejects.toMatchObject({
        name: "Corrupt",
      });
      const unknown = [{ name: "nonsense", configuration: {} }];
      await expect(pool.run("codec.decode", { specs: unknown, chunk, bytes, limits })).rejects.toMatchObject({
        name: "Unsupported",
      });
      await expect(
        pool.run("codec.decode", { specs, chunk, bytes, limits }, { signal: AbortSignal.abort("x") }),
      ).rejects.toBe("x");
    }
  });
});

describe("file.decode", () => {
  const folder = mkdtempSync(join(tmpdir(), "octavo-worker-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const plain: CodecSpec[] = [{ name: "bytes", configuration: { endian: "little" } }];
  const data = Uint8Array.from({ length: 48 }, (_, i) => i);
  writeFileSync(join(folder, "whole"), data);
  writeFileSync(join(folder, "within"), new Uint8Array([9, ...data, 9]));
  writeFileSync(join(folder, "short"), data.subarray(1));
  mkdirSync(join(folder, "directory"));
  symlinkSync(join(folder, "whole"), join(folder, "link"));
  const path = (name: string) => fileStore(folder).pathOf(Key.of(name))!;
  const base = { specs: plain, chunk, limits };

  it("reads plain files, whole or in part", async () => {
    for (const pool of pools()) {
      expect(await pool.run("file.decode", { ...base, path: path("whole") })).toEqual(data);
      const range = { offset: 1, length: 48 };
      expect(await pool.run("file.decode", { ...base, path: path("within"), range })).toEqual(data);
    }
  });

  it("leaves to the store what is absent, no plain file, reached by a link, or too short for the range", async () => {
    const range = { offset: 40, length: 48 };
    for (const pool of pools()) {
      for (const name of ["absent", "absent/below", "whole/below", "directory", "link"])
        expect(await pool.run("file.decode", { ...base, path: path(name) })).toBeUndefined();
      expect(await pool.run("file.decode", { ...base, path: path("within"), range })).toBeUndefined();
    }
    expect(fileStore(folder).pathOf(Key.of("a.partial"))).toBeUndefined();
  });

  it("says that a file is damaged", async () => {
    for (const pool of pools())
      await expect(pool.run("file.decode", { ...base, path: path("short") })).rejects.toMatchObject({
        name: "Corrupt",
      });
  });
});

describe("many plain files", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "octavo-plain-")));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  const text = (files: PlainFiles, name: string): string | undefined => {
    const bytes = files.read(join(folder, name), limits);
    return bytes && Buffer.from(bytes).toString();
  };

  it("are read as they are; links, directories and what is too large are left to the store", () => {
    for (const name of ["a", "b"]) mkdirSync(join(folder, name), { recursive: true });
    for (const name of ["a/1", "a/2", "b/1"]) writeFileSync(join(folder, name), `this is ${name}`);
    writeFileSync(join(folder, "b/large"), "x".repeat(1 << 20));
    writeFileSync(join(folder, "b/empty"), "");
    symlinkSync("1", join(folder, "a/link"));
    symlinkSync("a", join(folder, "linked"));
    const files = new PlainFiles();
    expect(["a/1", "a/2", "b/1", "a/1", "b/empty"].map((name) => text(files, name))).toEqual([
      "this is a/1",
      "this is a/2",
      "this is b/1",
      "this is a/1",
      "",
    ]);
    expect(text(files, "b/large")).toHaveLength(1 << 20);
    for (const name of ["a/link", "linked/1", "a/none", "none/1", "b"]) expect(text(files, name)).toBeUndefined();
    expect(files.read(join(folder, "a/1"), { ...limits, chunkBytes: 3 })).toBeUndefined();
    files.close();
  });

  it("of a folder that is put in the place of another are read after closing", () => {
    const files = new PlainFiles();
    expect(text(files, "a/1")).toBe("this is a/1");
    files.close();
    renameSync(join(folder, "a"), join(folder, "old"));
    renameSync(join(folder, "b"), join(folder, "a"));
    expect(text(files, "a/1")).toBe("this is b/1");
    files.close();
  });
});
