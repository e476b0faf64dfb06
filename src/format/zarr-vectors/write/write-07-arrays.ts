/**
 * The arrays of a new store in format 0.7.0, by the same calls as those of 0.9.2. What is one array there is a group here, with a
 * 1-D array of bytes for each chunk, or for each of a few names:
 *
 * | call                          | 0.7.0                                                                                |
 * |-------------------------------|--------------------------------------------------------------------------------------|
 * | cells `vertices`              | group `vertices`, array `vertices/0.0.0` (its `zarr.json` and `c/0`) …                |
 * | table `object_attributes/a`   | group, array `data`, and `present_mask` where some rows have no value                 |
 * | table `object_index/object_ids` | nothing: the id is the row                                                          |
 * | blobs `object_index/manifests`| an array of blobs, as later                                                          |
 * | blobs `groups`                | group, arrays `data` (ids) and `offsets` (the byte at which each group starts)       |
 *
 * The codecs are those of the format's description: blosc with zstd 5, bytes shuffled, of links bits. blosc notices no damage, so
 * a crc32c follows.
 */
import type { DataType } from "../../../bytes/dtype.js";
import { isJsonObject, type JsonObject } from "../../../bytes/json.js";
import { CodecChain } from "../../../codec/chain.js";
import type { BytesCodec, CodecSpec } from "../../../codec/types.js";
import { InvalidInput } from "../../../errors.js";
import type { NdArray } from "../../../model/array.js";
import { forEachConcurrent } from "../../../model/concurrent.js";
import { typed } from "../../../model/elements.js";
import { Key, type Prefix } from "../../../store/key.js";
import type { Store } from "../../../store/types.js";
import { bloscSpec } from "../../zarr/chain.js";
import { codecsFor, describeArray } from "../../zarr/create.js";
import { encodeNode } from "../../zarr/encode.js";
import { Blobs } from "../payload/blobs.js";
import { sentinelOf } from "../read/schema.js";
import type { Plan } from "./description.js";
import type { Arrays } from "./write-arrays.js";
import { groupDocument } from "./write-documents.js";

/** As in 0.9.2, and single blobs. */
export interface Arrays07 extends Arrays {
  /** An array of bytes at a path; elements of `unit` bytes, which is what they are shuffled by. */
  blob(path: string, bytes: Uint8Array, unit: number): Promise<void>;
}

const BYTES: DataType = { kind: "uint", size: 1, endian: "little" };
const BLOBS: DataType = { kind: "vlen-bytes" };
const MANIFESTS = 16384; // rows of one vlen chunk: the description's "about 16K"

export function arrays07(store: Store, at: Prefix, plan: Plan, signal: AbortSignal | undefined): Arrays07 {
  const put = (path: string, bytes: Uint8Array): Promise<void> => store.set(Key.join(at, path), bytes, { signal });
  const document = (path: string, bytes: Uint8Array): Promise<void> =>
    put(path === "" ? "zarr.json" : `${path}/zarr.json`, bytes);
  const coders = new Map<string, Promise<Coder>>();
  const coderFor = (dtype: DataType, path: string, unit: number): Promise<Coder> => {
    const codecs = chainFor(plan, dtype, path, unit);
    const key = JSON.stringify(codecs);
    const known = coders.get(key) ?? coderOf(codecs);
    coders.set(key, known);
    return known;
  };
  const blob = async (path: string, bytes: Uint8Array, unit: number): Promise<void> => {
    const { codecs, compress } = await coderFor(BYTES, path, unit);
    const size = bytes.length;
    if (size > 0) await put(`${path}/c/0`, compress(bytes));
    const meta = describeArray({ shape: [size], dtype: BYTES, chunkShape: [Math.max(1, size)], codecs });
    await put(`${path}/zarr.json`, encodeNode(meta).get("zarr.json")!);
  };

  return {
    document,
    blob,

    async cells(path, { dims, coords }, unit = 8) {
      return {
        async put(chunks, payloads) {
          const all = Array.from({ length: chunks.length }, (_, i) => i).filter((i) => payloads[i]!.length > 0);
          await forEachConcurrent(all, 8, (i) => {
            const name = coords.subarray(chunks[i]! * dims, (chunks[i]! + 1) * dims).join(".");
            return blob(`${path}/${name}`, payloads[i]!, unit);
          });
        },
        finish: (attributes) => document(path, groupDocument(attributes)),
      };
    },

    async table(path, values, _fill, _rows, attributes) {
      if (path.endsWith("object_index/object_ids")) return checkDense(values);
      const { data, dtype, shape } = values;
      const mask = attributes.fill_sentinel_meaning === "absent" ? presentRows(values) : undefined;
      const isObject = attributes.zv_array === "object_attribute";
      await blob(`${path}/data`, data as Uint8Array, "size" in dtype ? dtype.size : 1);
      if (mask !== undefined) await blob(`${path}/present_mask`, mask, 1);
      const { fill_sentinel_meaning: _, ...rest } = attributes;
      const masked = isObject ? { has_present_mask: mask !== undefined } : {};
      await document(path, groupDocument({ ...rest, num_channels: shape[1] ?? 1, ...masked }));
    },

    async blobs(path, count, chunk, attributes) {
      if (path.endsWith("groups")) return groupBlobs(path, count, await chunk(0, count, count), attributes);
      const size = Math.max(1, Math.min(MANIFESTS, count));
      const { codecs, compress } = await coderFor(BLOBS, path, 8);
      for (let from = 0; from < count; from += size)
        await put(`${path}/c/${from / size}`, compress(await chunk(from, Math.min(count, from + size), size)));
      const meta = describeArray({ shape: [count], dtype: BLOBS, chunkShape: [size], codecs, attributes });
      await put(`${path}/zarr.json`, encodeNode(meta).get("zarr.json")!);
    },
  };

  /** Members as a list, also those of ranges: there was no other way. */
  async function groupBlobs(path: string, count: number, chunk: Uint8Array, attributes: JsonObject): Promise<void> {
    const { group_ranges: ranges, ...rest } = attributes;
    const { bytes, starts, ends } = Blobs.parseChunk(chunk, count, path);
    const pieces = Array.from({ length: count }, (_, g) => {
      const range = isJsonObject(ranges) ? ranges[`${g}`] : undefined;
      if (!Array.isArray(range)) return bytes.subarray(starts[g], ends[g]);
      const [start, stop] = range.map((id) => BigInt(id as number | bigint)) as [bigint, bigint];
      const ids = BigInt64Array.from({ length: Number(stop - start) }, (_, i) => start + BigInt(i));
      return new Uint8Array(ids.buffer);
    });
    const { data, offsets } = Blobs.encodeOffsets(Blobs.of(pieces));
    await blob(`${path}/data`, data, 8);
    await blob(`${path}/offsets`, offsets, 8);
    await document(path, groupDocument(rest));
  }
}

/** 0.7.0 has no table of ids. */
function checkDense(values: NdArray): void {
  const ids = typed(values) as BigInt64Array;
  for (let row = 0; row < ids.length; row++)
    if (ids[row] !== BigInt(row))
      throw new InvalidInput(`format 0.7.0 numbers objects 0, 1, 2 …, found the id ${ids[row]} in row ${row}`, {
        hint: 'Keep a row for every id ("preserve"), or give the objects new ids ("dense", --ids dense).',
      });
}

/** 1 for every row that has a value; undefined where all have. */
function presentRows({ data, dtype, shape }: NdArray): Uint8Array | undefined {
  const sentinel = sentinelOf(dtype);
  if (sentinel === undefined || !("size" in dtype)) return undefined;
  const isText = typeof sentinel === "string";
  const values = typed({ shape, dtype: isText ? BYTES : dtype, data });
  const half = dtype.kind === "float" && dtype.size === 2;
  const absent = (value: number | bigint): boolean =>
    isText ? value === 0 : half ? (Number(value) & 0x7fff) > 0x7c00 : Object.is(value, sentinel);
  const mask = new Uint8Array(shape[0]!);
  const width = values.length / Math.max(1, mask.length);
  for (let row = 0; row < mask.length; row++)
    for (let i = row * width; i < (row + 1) * width && mask[row] === 0; i++) if (!absent(values[i]!)) mask[row] = 1;
  return mask.includes(0) ? mask : undefined;
}

interface Coder {
  readonly codecs: readonly CodecSpec[];
  /** What the codecs after the first make of bytes. */
  readonly compress: (bytes: Uint8Array) => Uint8Array;
}

async function coderOf(codecs: readonly CodecSpec[]): Promise<Coder> {
  const chain = (await CodecChain.load(codecs)).codecs.filter((c): c is BytesCodec => c.kind === "bytes-bytes");
  return { codecs, compress: (bytes) => chain.reduce((stage, codec) => codec.encode(stage), bytes) };
}

const SHUFFLE = { bytes: 1, bits: 2 } as const;

function chainFor(plan: Plan, dtype: DataType, path: string, unit: number): CodecSpec[] {
  const { codecs, checksums = true, encoding } = plan;
  const [first] = codecsFor(3, dtype, "none");
  if (typeof codecs === "object") return [first!, ...codecs];
  const links = /(^|\/)(cross_chunk_)?links\//.test(path);
  const draco = encoding === "draco" && /(^|\/)vertices\//.test(path); // they are as small as they get
  const blosc = bloscSpec("zstd", 5, SHUFFLE[links ? "bits" : "bytes"], 0, unit, "");
  const own = draco ? [] : codecs === undefined ? [blosc] : codecsFor(3, dtype, codecs).slice(1);
  const chain = own.filter(({ name }) => name !== "crc32c");
  const noticed = chain.some(({ name }) => name === "zstd");
  if (!checksums)
    return [
      first!,
      ...chain.map((spec) =>
        spec.name === "zstd" ? { name: "zstd", configuration: { level: 3, checksum: false } } : spec,
      ),
    ];
  return [first!, ...chain, ...(noticed ? [] : [{ name: "crc32c", configuration: {} }])];
}
