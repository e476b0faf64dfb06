import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixtures, untar } from "./fixtures.js";

test("the zarr fixtures are unpacked once, byte for byte", () => {
  const folder = fixtures("zarr");
  expect(readFileSync(join(folder, "README.md"), "utf8")).toContain("expected");
  expect(statSync(join(folder, "expected/npy/ede588ed63495592-47887a.npy")).size).toBe(7280);
  expect(fixtures("zarr")).toBe(folder);
});

describe.each(["ustar", "gnu", "pax"])("%s archives written by tar", (format) => {
  const names = ["a", `${"d/".repeat(70)}file`, `${"n".repeat(180)}`, "ünï"];
  test.skipIf(!hasGnuTar())("keep long names and lengths", () => {
    const folder = mkdtempSync(join(tmpdir(), "octavo-tar-"));
    const kept = format === "ustar" ? names.filter((name) => name.length < 100 || name.includes("/")) : names;
    for (const name of kept) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), name.repeat(30));
    }
    const tar = execFileSync("tar", [`--format=${format}`, "-C", folder, "-cf", "-", ...kept]);
    rmSync(folder, { recursive: true });
    const found = [...untar(tar)].map((file) => [file.name, Buffer.from(file.bytes).toString()]);
    expect(found).toEqual(kept.map((name) => [name, name.repeat(30)]));
  });
});

test("an archive that ends inside a file is refused", () => {
  const header = Buffer.alloc(512);
  header.write("a");
  header.write("00000000010\0", 124);
  header.write("0", 156);
  expect(() => [...untar(Buffer.concat([header, Buffer.alloc(7)]))]).toThrow(/ends inside a file/);
  expect([...untar(Buffer.concat([header, Buffer.alloc(512)]))]).toHaveLength(1);
});

function hasGnuTar(): boolean {
  try {
    return execFileSync("tar", ["--version"]).toString().includes("GNU tar");
  } catch {
    return false;
  }
}
