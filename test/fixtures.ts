/**
 * The golden data: `fixtures("zarr")` unpacks test/fixtures/zarr.tgz once per content, and answers the folder.
 *
 * A tar archive is a row of 512-byte blocks, a header and then the file's bytes padded to whole blocks:
 *
 * | offset | bytes | what                                                      |
 * |--------|-------|-----------------------------------------------------------|
 * | 0      | 100   | name                                                      |
 * | 124    | 12    | size, octal                                               |
 * | 156    | 1     | type: 0 file, 5 folder, L GNU long name, x and g pax      |
 * | 257    | 5     | "ustar": then 345 holds a prefix of the name, 155 bytes   |
 */
import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve, sep } from "node:path";
import { gunzipSync } from "node:zlib";

export type FixtureSet = "zarr" | "zarr-vectors" | "precomputed" | "packed-tree" | "hdf5";

const folders = new Map<FixtureSet, string>();

export function fixtures(name: FixtureSet): string {
  let folder = folders.get(name);
  if (folder === undefined) {
    folder = join(unpackOnce(join(import.meta.dirname, "fixtures", `${name}.tgz`)), name);
    folders.set(name, folder);
  }
  return folder;
}

/** Unpacks under a temporary name and renames, so that test processes which start together see all of it or none. */
function unpackOnce(archive: string): string {
  const packed = readFileSync(archive);
  const target = join(tmpdir(), `octavo-fixtures-${createHash("sha256").update(packed).digest("hex").slice(0, 16)}`);
  if (existsSync(target)) return target;
  const partial = `${target}.${randomUUID()}.partial`;
  for (const file of untar(gunzipSync(packed))) {
    const path = resolve(partial, file.name);
    if (!path.startsWith(partial + sep))
      throw new Error(`${archive} has the name ${file.name}, which leaves its folder`);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, file.bytes);
  }
  try {
    renameSync(partial, target);
  } catch (error) {
    rmSync(partial, { recursive: true });
    if (!existsSync(target)) throw error; // else another process was first
  }
  return target;
}

export function* untar(tar: Uint8Array): Generator<{ name: string; bytes: Uint8Array }> {
  let longName: string | undefined;
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + 512);
    const size = Number.parseInt(text(header, 124, 12), 8);
    const type = String.fromCharCode(header[156]!);
    const bytes = tar.subarray(at + 512, at + 512 + size);
    if (bytes.length !== size) throw new Error(`the tar archive ends inside a file, at ${at}`);
    at += 512 + Math.ceil(size / 512) * 512;
    if (type === "L") {
      longName = text(bytes, 0, size);
    } else if (type === "x") {
      longName = paxPath(bytes) ?? longName;
    } else {
      const prefix = text(header, 257, 5) === "ustar" ? text(header, 345, 155) : "";
      const name = longName ?? (prefix === "" ? "" : `${prefix}/`) + text(header, 0, 100);
      longName = undefined;
      if (type === "0" || type === "\0") yield { name, bytes };
      else if (type !== "5" && type !== "g") throw new Error(`the tar archive has ${name} of type ${type}`);
    }
  }
}

/** Pax records are `<length> <key>=<value>\n`, the length counting all of the record. */
function paxPath(bytes: Uint8Array): string | undefined {
  for (let at = 0; at < bytes.length; ) {
    const length = Number.parseInt(text(bytes, at, 20), 10);
    if (!(length > 0)) throw new Error(`the pax record at ${at} has no length`);
    const [, key, value] = /^\d+ ([^=]+)=(.*)\n$/s.exec(text(bytes, at, length)) ?? [];
    if (key === "path") return value;
    at += length;
  }
  return undefined;
}

/** A field of text, up to its first NUL. */
function text(bytes: Uint8Array, offset: number, length: number): string {
  const field = bytes.subarray(offset, offset + length);
  const end = field.indexOf(0);
  return Buffer.from(end < 0 ? field : field.subarray(0, end)).toString("utf8");
}
