/** R4: 64-bit honesty. The numbers around 2^53, 2^63 and 2^64 in every size, offset and id are exact or refused, never rounded. */
import { Writer } from "../../src/bytes/writer.js";
import { OctavoError } from "../../src/errors.js";
import { readNpy } from "../../src/format/interchange/npy.js";
import { openZarr, type ZarrArray } from "../../src/format/zarr/index.js";
import { typed } from "../../src/model/elements.js";
import { Key } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import { many, type Row } from "./row.js";

const NUMBERS = [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 2n, 2n ** 64n - 1n];

/** Each gives the number back as Octavo understood it, or throws. */
const places: { readonly [name: string]: (n: bigint) => Promise<bigint | undefined> } = {
  "v3 shape": async (n) => BigInt((await v3(n, "1", "0")).shape[0]!),
  "v3 chunk shape": async (n) => BigInt((await v3(1n, n.toString(), "0")).chunkShape[0]!),
  "v3 uint64 fill": async (n) => typed(await (await v3(1n, "1", n.toString())).read())[0] as bigint,
  "v3 attribute": async (n) => BigInt((await v3(1n, "1", "0", n.toString())).attributes.n as bigint),
  "v2 shape": async (n) => BigInt((await v2(n)).shape[0]!),
  "v0 shape": async (n) => BigInt((await v0(n.toString(), "0")).shape[0]!),
  "v0 fill": async (n) => typed(await (await v0("1", n.toString())).read())[0] as bigint,
  "npy shape": async (n) => {
    const header = `{'descr': '<u8', 'fortran_order': False, 'shape': (${n},), }`.padEnd(117).concat("\n");
    const text = new TextEncoder().encode(header);
    const file = new Uint8Array([0x93, 78, 85, 77, 80, 89, 1, 0, text.length, 0, ...text]);
    return BigInt(readNpy(file).shape[0]!);
  },
  "shard offset": (n) => shard(n, 4n),
  "shard length": (n) => shard(0n, n),
};

export const honesty: Row = {
  id: "R4",
  promise: "64-bit honesty",
  async run() {
    const broken: string[] = [];
    let tried = 0;
    for (const [name, place] of Object.entries(places)) {
      for (const n of NUMBERS) {
        tried++;
        try {
          const found = await place(n);
          if (found !== undefined && found !== n) broken.push(`${name}: ${n} became ${found}`);
        } catch (error) {
          if (!(error instanceof OctavoError)) broken.push(`${name}: ${n} gave ${(error as Error).stack}`);
        }
      }
    }
    return { tried: `${many(tried)} numbers in ${Object.keys(places).length} places`, broken };
  },
};

async function open(documents: { [name: string]: string | Uint8Array }): Promise<ZarrArray> {
  const store = memoryStore();
  for (const [name, value] of Object.entries(documents)) {
    await store.set(Key.of(name), typeof value === "string" ? new TextEncoder().encode(value) : value);
  }
  return (await openZarr(store)) as ZarrArray;
}

const document = (shape: bigint, chunk: string, fill: string, attribute: string, codecs: string): string =>
  `{"zarr_format":3,"node_type":"array","shape":[${shape}],"data_type":"uint64","fill_value":${fill},"attributes":{"n":${attribute}},
    "chunk_grid":{"name":"regular","configuration":{"chunk_shape":[${chunk}]}},"chunk_key_encoding":{"name":"default"},"codecs":[${codecs}]}`;
const BYTES = '{"name":"bytes","configuration":{"endian":"little"}}';

const v3 = (shape: bigint, chunk: string, fill: string, attribute = "0"): Promise<ZarrArray> =>
  open({ "zarr.json": document(shape, chunk, fill, attribute, BYTES) });

const v2 = (shape: bigint): Promise<ZarrArray> =>
  open({
    ".zarray": `{"zarr_format":2,"shape":[${shape}],"chunks":[1],"dtype":"<u8","compressor":null,"fill_value":0,"order":"C","filters":null}`,
  });

const v0 = (shape: string, fill: string): Promise<ZarrArray> =>
  open({
    __zmeta__: `{"chunks":[1],"clevel":5,"cname":"lz4","dtype":"<u8","fill_value":${fill},"shape":[${shape}],"shuffle":1}`,
  });

/** A shard of one chunk of 8 bytes whose index says something else; reading must notice. */
async function shard(offset: bigint, length: bigint): Promise<undefined> {
  const writer = new Writer();
  writer.bytes(new Uint8Array(8).fill(1));
  writer.u64(offset);
  writer.u64(length);
  const codec = `{"name":"sharding_indexed","configuration":{"chunk_shape":[1],"codecs":[${BYTES}],"index_codecs":[${BYTES}]}}`;
  const array = await open({ "zarr.json": document(1n, "1", "0", "0", codec), "c/0": writer.finish() });
  const [value] = typed(await array.read());
  throw new Error(`a shard entry of ${offset}, ${length} read as ${value}`);
}
