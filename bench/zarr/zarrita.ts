/** zarrita on the benchmark's array: zarrita.ts lz4|zstd write|read DATA OUT. Prints one JSON line. */
import { readFileSync, rmSync } from "node:fs";
import FileSystemStore from "@zarrita/storage/fs";
import * as zarr from "zarrita";
import { CHUNK, SHAPE } from "./data.js";
import { best, peakMb, report, sameAsFile, storedBytes } from "./measure.js";

const [codec, what, data, out] = process.argv.slice(2) as [string, "write" | "read", string, string];

async function write(values: Int32Array): Promise<void> {
  const array = await zarr.create(new FileSystemStore(out), {
    shape: [...SHAPE],
    chunkShape: [...CHUNK],
    dtype: "int32",
    codecs: [
      { name: "bytes", configuration: { endian: "little" } },
      { name: "blosc", configuration: { cname: codec, clevel: 5, shuffle: "shuffle", typesize: 4, blocksize: 0 } },
    ],
  });
  const strides = [SHAPE[1] * SHAPE[2], SHAPE[2], 1];
  await zarr.set(array, null, { data: values, shape: [...SHAPE], stride: strides });
}

async function read(): Promise<Int32Array> {
  const array = await zarr.open.v3(new FileSystemStore(out), { kind: "array" });
  return (await zarr.get(array as zarr.Array<"int32", FileSystemStore>)).data as Int32Array;
}

if (what === "write") {
  const bytes = readFileSync(data);
  const values = new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
  const { wall, cpu } = await best(1, async () => {
    rmSync(out, { recursive: true, force: true });
    await write(values);
  });
  report({ wall, cpu, stored: storedBytes(out) });
} else {
  const { wall, cpu, value } = await best(2, read);
  report({ wall, cpu, peak: peakMb(), equal: sameAsFile(value, data) });
}
