/**
 * The Zarr set: DIR/zarr/expected/<generation>__<name>.json says what the reference read from `store`, or that the store is
 * damaged and how. Stores without an expected file (groups, what zarr 0.4.0 could not re-open) are judged by what the set's
 * README says about them.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isFixed, swapUnit } from "../../src/bytes/dtype.js";
import { swapBytes } from "../../src/bytes/swap.js";
import { OctavoError } from "../../src/errors.js";
import { readNpy } from "../../src/format/interchange/npy.js";
import { openZarr, type ZarrArray, zarr } from "../../src/format/zarr/index.js";
import type { NdArray } from "../../src/model/array.js";
import { type Value, valueAt } from "../../src/model/elements.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { type Case, Failed } from "./case.js";

interface Expected {
  readonly store: string;
  readonly shape?: readonly number[];
  readonly dtype?: unknown;
  readonly npy?: string;
  readonly sha256_c_order?: string;
  readonly values?: unknown;
  readonly expect_error?: string;
}

/** `strict`: validation must agree as well, error for error. The set itself asks only for values, and for any error at all. */
export function zarrCases(folder: string, { strict = false } = {}): Case[] {
  const cases: Case[] = [];
  const covered = new Set<string>();
  const expected = join(folder, "expected");
  for (const file of existsSync(expected) ? readdirSync(expected).sort() : []) {
    if (!file.endsWith(".json")) continue;
    const want = JSON.parse(readFileSync(join(expected, file), "utf8")) as Expected;
    covered.add(want.store);
    const name = `zarr/${file.slice(0, -5)}`;
    const damage = want.expect_error;
    cases.push({
      name,
      run: () =>
        damage === undefined
          ? checkArray(folder, want, strict)
          : checkDamaged(join(folder, want.store), damage, strict),
    });
  }
  for (const generation of ["v0", "v0_pickle", "v0_odd", "v0_bad", "v1", "v2", "v3"]) {
    const stores = join(folder, generation);
    for (const store of existsSync(stores) ? readdirSync(stores).sort() : []) {
      const path = `${generation}/${store}`;
      if (!covered.has(path)) cases.push({ name: `zarr/${path}`, run: () => checkUnlisted(folder, path) });
    }
  }
  return cases;
}

async function openArray(path: string): Promise<ZarrArray> {
  const node = await openZarr(fileStore(path));
  if (node.kind !== "array") throw new Failed(`opened as a ${node.kind}, expected an array`);
  return node;
}

async function checkArray(folder: string, want: Expected, strict: boolean): Promise<string> {
  // zarr 1.1.0 bundled zstd 0.7, whose frames no current library reads; what is asked for there is a clear refusal.
  if (want.store === "v1/110_blosc_zstd") return refusal(join(folder, want.store), "unsupported");
  if (holdsObjects(join(folder, want.store))) return refusal(join(folder, want.store), "unsupported");
  const array = await openArray(join(folder, want.store));
  const got = await array.read();
  if (want.shape !== undefined && `${got.shape}` !== `${want.shape}`) {
    throw new Failed(`shape [${got.shape}], expected [${want.shape}]`);
  }
  if (want.npy !== undefined) {
    const { data } = readNpy(new Uint8Array(readFileSync(join(folder, "expected", want.npy))));
    compare(got, { ...got, data }); // the reference saved 0-d arrays as 1-d; the shape is checked above
  } else if (want.values !== undefined) {
    const seen = JSON.stringify(nested(got));
    if (seen !== JSON.stringify(want.values))
      throw new Failed(`values ${seen}, expected ${JSON.stringify(want.values)}`);
  }
  if (want.sha256_c_order !== undefined && isFixed(got.dtype)) {
    const bytes = got.data as Uint8Array;
    const big = typeof want.dtype === "string" && want.dtype.startsWith(">");
    const native = big ? swapBytes(bytes, swapUnit(got.dtype)) : bytes;
    const hash = createHash("sha256").update(native).digest("hex");
    if (hash !== want.sha256_c_order) throw new Failed(`sha256 ${hash}, expected ${want.sha256_c_order}`);
  }
  const findings = strict ? await errorsOf(join(folder, want.store)) : [];
  if (findings.length > 0) throw new Failed(`validate says ${findings[0]}`);
  return `${got.dtype.kind} [${got.shape}]`;
}

/** Filters that hold arbitrary Python objects, a pickle even programs: Octavo refuses them, and must say so. */
function holdsObjects(path: string): boolean {
  const document = join(path, ".zarray");
  if (!existsSync(document)) return false;
  const { filters } = JSON.parse(readFileSync(document, "utf8").replace(/\b-?(NaN|Infinity)\b/g, "0"));
  return (filters ?? []).some(({ id }: { id: string }) => ["pickle", "json2", "msgpack2", "categorize"].includes(id));
}

function compare(got: NdArray, want: NdArray): void {
  if (`${got.shape}` !== `${want.shape}`) throw new Failed(`shape [${got.shape}], expected [${want.shape}]`);
  const a = got.data as Uint8Array;
  const b = want.data as Uint8Array;
  if (Buffer.compare(a, b) === 0) return;
  const at = a.findIndex((byte, i) => byte !== b[i]);
  throw new Failed(`${a.length} bytes that differ from the ${b.length} expected, first at ${at}`);
}

/** Elements as the set lists them: lists by axis; bytes as latin-1 text, arrays as lists. */
function nested(array: NdArray): unknown {
  const plain = (value: Value): unknown => {
    if (value instanceof Uint8Array && array.dtype.kind === "vlen-bytes") return Buffer.from(value).toString("latin1");
    if (ArrayBuffer.isView(value)) return Array.from(value as Int32Array);
    return value;
  };
  const level = (axis: number, from: number): unknown => {
    if (axis === array.shape.length) return plain(valueAt(array, from));
    const step = array.shape.slice(axis + 1).reduce((product, n) => product * n, 1);
    return Array.from({ length: array.shape[axis]! }, (_, i) => level(axis + 1, from + i * step));
  };
  return level(0, 0);
}

async function errorsOf(path: string): Promise<string[]> {
  const out: string[] = [];
  for await (const finding of zarr.validate(fileStore(path), Prefix.root)) {
    if (finding.severity === "error") out.push(`${finding.rule}: ${finding.message}`);
  }
  return out;
}

/** Reads everything; the error of Octavo that this ends with, or undefined. Other errors pass through. */
async function reading(path: string): Promise<OctavoError | undefined> {
  try {
    await (await openArray(path)).read();
    return undefined;
  } catch (error) {
    if (error instanceof OctavoError) return error;
    throw error;
  }
}

async function checkDamaged(path: string, damage: string, strict: boolean): Promise<string> {
  const findings = await errorsOf(path);
  const error = await reading(path);
  const seen = error?.message ?? findings[0];
  if (damage === "chunk" || damage === "metadata") {
    if (seen === undefined) throw new Failed(`no error, though the ${damage} is damaged`);
    if (strict && findings.length === 0) throw new Failed(`reading says "${seen}", but validate reports no error`);
  }
  return seen ?? `read without an error, as "${damage}" allows`;
}

async function refusal(path: string, kind: string): Promise<string> {
  const error = await reading(path);
  if (error?.kind !== kind)
    throw new Failed(`${error?.message ?? "read without an error"}, expected an error of kind ${kind}`);
  return error.message;
}

async function checkUnlisted(folder: string, path: string): Promise<string> {
  if (path.endsWith("/group_consolidated")) return checkGroup(join(folder, path));
  if (path === "v0_odd/dtype_struct_subarray") return checkSubarray(join(folder, path));
  if (path === "v0_odd/fill_complex" || path === "v0_odd/fill_numpy_scalar")
    return refusal(join(folder, path), "corrupt");
  if (path === "v0_odd/d0") {
    const array = await openArray(join(folder, path));
    const got = await array.read();
    if (got.shape.length !== 0) throw new Failed(`shape [${got.shape}], expected a single element`);
    compare(got, { shape: [], dtype: array.dtype, data: array.fill as Uint8Array });
    return "the fill value";
  }
  const error = await reading(join(folder, path)); // nothing is known but that only Octavo's errors may come out
  return error?.message ?? "read without an error; no expected values";
}

/** Both groups hold a/b = int64 in [10], and t = 1: through consolidated metadata and without. */
async function checkGroup(path: string): Promise<string> {
  const store = fileStore(path);
  for (const consolidated of [true, false]) {
    const root = await openZarr(store, Prefix.root, { consolidated });
    if (root.kind !== "group" || root.attributes.t !== 1) throw new Failed(`a ${root.kind} without t = 1`);
    const names = JSON.stringify(await root.children());
    if (names !== '[{"name":"a","kind":"group"}]') throw new Failed(`children ${names}`);
    const array = await root.open("a/b");
    if (array.kind !== "array" || `${array.shape}` !== "10") throw new Failed("a/b is no array of 10 elements");
    const got = await array.read();
    const direct = await (await openArray(join(path, "a/b"))).read();
    compare(got, direct);
    for (let i = 0; i < 10; i++) {
      if (valueAt(got, i) !== BigInt(i)) throw new Failed(`a/b[${i}] is ${valueAt(got, i)}, expected ${i}`);
    }
  }
  const findings = await errorsOf(path);
  if (findings.length > 0) throw new Failed(`validate says ${findings[0]}`);
  return "a/b through both ways";
}

/** v = arange(60) as (20, 3) float32, k = 7. */
async function checkSubarray(path: string): Promise<string> {
  const got = await (await openArray(path)).read();
  for (let i = 0; i < 20; i++) {
    const { v, k } = valueAt(got, i) as { v: number[]; k: number | bigint };
    if (`${v}` !== `${[3 * i, 3 * i + 1, 3 * i + 2]}` || Number(k) !== 7)
      throw new Failed(`element ${i} is v ${v}, k ${k}`);
  }
  return "v = arange(60), k = 7";
}
