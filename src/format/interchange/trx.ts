/**
 * TRX, streamlines as arrays in a zip file (or in a folder): each array is one entry, whose name says its type, little-endian throughout.
 *
 * | entry                      | what                                                                                       |
 * |----------------------------|--------------------------------------------------------------------------------------------|
 * | header.json                | VOXEL_TO_RASMM, DIMENSIONS of the image, NB_VERTICES, NB_STREAMLINES                         |
 * | positions.3.TYPE           | x y z of every vertex in millimetres (RAS+), float16, float32 or float64                     |
 * | offsets.TYPE               | where each streamline begins, uint32 or uint64, and after them all where the last one ends    |
 * | dpv/NAME[.N].TYPE          | N values for each vertex                                                                    |
 * | dps/NAME[.N].TYPE          | N values for each streamline                                                                |
 * | groups/NAME.TYPE           | the numbers of the streamlines in a group                                                   |
 * | dpg/GROUP/NAME[.N].TYPE    | N values for a group                                                                        |
 *
 * TYPE is a name of numpy's, or "bit": a byte that is 0 or 1. Entries that are stored are read where they lie; those that are deflated are
 * unpacked into memory, or where that is too much as they are read, each from its start on.
 */
import type { FixedDataType } from "../../bytes/dtype.js";
import { isJsonObject, type JsonObject, parseJson } from "../../bytes/json.js";
import { Corrupt, LimitExceeded, NotFound, Unsupported } from "../../errors.js";
import { type Limits, withLimits } from "../../limits.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { ReadOptions } from "../../model/dataset.js";
import { Key, Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { zipStore } from "../../store/zip.js";
import { type InputFile, roomToHold } from "./file.js";
import { STREAMLINES } from "./streamlines.js";
import { indexTrx } from "./trx-index.js";
import { typeName, writeTrx } from "./trx-write.js";
import type { FileContent, FileFormat, OpenFileOptions } from "./types.js";

export const file: FileFormat = {
  holdsEmpty: true,
  units: "millimeter",
  holdsGroups: true,
  open: openTrx,
  write: writeTrx,
};

const SMALL = 1 << 20; // bytes of an entry that is unpacked as a whole in any case

/** One of its arrays. */
export interface TrxArray {
  readonly key: Key;
  /** "dpv", "dps", "groups", "dpg/GROUP"; "" of positions and offsets. */
  readonly folder: string;
  readonly info: AttributeInfo & { readonly dtype: FixedDataType };
  /** Rows of `channels` values. */
  readonly rows: number;
}

/** What is in it, and how to read it. */
export interface Trx {
  readonly where: string;
  readonly header: JsonObject;
  readonly vertices: number;
  readonly streamlines: number;
  readonly arrays: readonly TrxArray[];
  /** Rows from … from + count of an array. */
  read(array: TrxArray, from: number, count: number, options: ReadOptions): Promise<Uint8Array>;
}

async function openTrx(input: InputFile, options: OpenFileOptions): Promise<FileContent> {
  const { where, store, key, size } = input;
  if (size === undefined) throw new Unsupported(`${where} is a zip file within gzip; unpack it first`, { where });
  const zip = await zipStore(store, key, { ...options, most: SMALL });
  return trxContent(await openArrays(zip, where, size, options));
}

/** The same, unpacked: its arrays are the files of a folder. */
export const openUnpacked = async (store: Store, options: OpenFileOptions): Promise<FileContent> =>
  trxContent(await openArrays(store, store.url, Number.POSITIVE_INFINITY, options));

function trxContent(trx: Trx): FileContent {
  const { header, arrays, vertices, streamlines } = trx;
  const typeOf = (name: string): string | undefined => {
    const found = arrays.find(({ folder, info }) => folder === "" && info.name === name);
    return found && typeName(found.info.dtype);
  };
  return {
    ...STREAMLINES,
    version: "TRX",
    header: {
      ...header,
      positions_dtype: typeOf("positions") ?? "float32",
      offsets_dtype: typeOf("offsets") ?? "uint64",
    },
    vertices,
    objects: streamlines,
    index: (now) => indexTrx(trx, now),
  };
}

/** The arrays of a store; `size` is that of the zip file. */
async function openArrays(store: Store, where: string, size: number, options: OpenFileOptions): Promise<Trx> {
  const limits = withLimits(options.limits);
  const { signal } = options;
  const keys: { readonly key: Key; readonly size: number }[] = [];
  for await (const { key, size: bytes = 0 } of store.list(Prefix.root, { signal })) keys.push({ key, size: bytes });
  const total = keys.reduce((sum, entry) => sum + entry.size, 0);
  const isHeld = total > size && total <= roomToHold(options); // packed
  const header = await readHeader(store, where, limits, options);
  const arrays = keys.filter(({ key }) => !key.endsWith(".json")).map((entry) => arrayOf(entry, where));
  const unpacked = new Map<Key, Promise<Uint8Array>>();
  const whole = (key: Key): Promise<Uint8Array> => {
    const known = unpacked.get(key) ?? store.get(key, {}).then((bytes) => bytes ?? missing(where, key));
    unpacked.set(key, known);
    known.catch(() => unpacked.delete(key));
    return known;
  };
  return {
    where,
    header,
    vertices: countOf(header, "NB_VERTICES", where),
    streamlines: countOf(header, "NB_STREAMLINES", where),
    arrays,
    async read({ key, info }, from, count, now) {
      const row = info.dtype.size * info.channels;
      if (count === 0) return new Uint8Array();
      if (count * row > limits.resultBytes)
        throw new LimitExceeded(
          `${where}: ${key} has ${count * row} bytes to be read at once, more than limits.resultBytes`,
          {
            where,
          },
        );
      if (isHeld) return (await whole(key)).slice(from * row, (from + count) * row);
      const range = { offset: from * row, length: count * row };
      return (await store.get(key, { range, signal: now.signal })) ?? missing(where, key);
    },
  };
}

function missing(where: string, key: string): never {
  throw new NotFound(`${where} has no ${key}`, { where });
}

async function readHeader(store: Store, where: string, limits: Limits, options: ReadOptions): Promise<JsonObject> {
  const bytes = await store.get(Key.of("header.json"), { signal: options.signal, most: limits.metadataBytes });
  if (bytes === undefined) throw new Corrupt(`${where} has no header.json, which every TRX has`, { where });
  const header = parseJson(bytes, limits, `header.json of ${where}`);
  if (!isJsonObject(header)) throw new Corrupt(`header.json of ${where} is no object`, { where });
  return header;
}

function countOf(header: JsonObject, name: string, where: string): number {
  const count = header[name];
  if (typeof count === "number" && Number.isSafeInteger(count) && count >= 0 && count < 2 ** 32) return count;
  throw new Corrupt(`header.json of ${where} should have a count as ${name}, found ${JSON.stringify(count)}`, {
    where,
  });
}

/** The array that an entry is, by its name. */
function arrayOf({ key, size }: { readonly key: Key; readonly size: number }, where: string): TrxArray {
  const slash = key.lastIndexOf("/") + 1;
  const [, name, width = "1", type = ""] = /^([^.]+)(?:\.(\d{1,9}))?\.([a-z0-9]+)$/.exec(key.slice(slash)) ?? [];
  const dtype = typeNamed(type);
  if (name === undefined || dtype === undefined)
    throw new Unsupported(`${where} has an entry ${key}, expected NAME.TYPE or NAME.N.TYPE with a type of numpy's`, {
      where,
    });
  const channels = Number(width);
  const rows = size / (dtype.size * channels);
  if (!Number.isSafeInteger(rows))
    throw new Corrupt(`${where}: ${key} has ${size} bytes, which are no rows of ${channels} × ${type}`, { where });
  return { key, folder: key.slice(0, Math.max(0, slash - 1)), info: { name, dtype, channels }, rows };
}

/** Types by the names that numpy has for them. */
function typeNamed(name: string): FixedDataType | undefined {
  if (name === "bit" || name === "bool") return { kind: "bool", size: 1 };
  const [, kind, bits] = /^(int|uint|float)(8|16|32|64)$/.exec(name) ?? [];
  if (kind === undefined || name === "float8") return undefined;
  return { kind, size: Number(bits) / 8, endian: "little" } as FixedDataType;
}
