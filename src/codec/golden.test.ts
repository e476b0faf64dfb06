/** Against test/golden/codecs.json: what numcodecs and zarr-python made of small arrays. */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { DataType } from "../bytes/dtype.js";
import { isJsonObject, type Json } from "../bytes/json.js";
import { defaultLimits as limits } from "../limits.js";
import { CodecChain } from "./chain.js";
import { numericOption } from "./numeric.js";
import type { ChunkSpec, CodecSpec, VlenValue } from "./types.js";

interface Golden {
  readonly origin: string;
  readonly cases: { codec: { [key: string]: Json }; dtype: string; decoded: string; encoded: string }[];
  readonly vlen: { codec: { [key: string]: Json }; values: (string | number[])[]; encoded: string }[];
  readonly chains: { codecs: CodecSpec[]; shape: number[]; decoded: string; encoded: string }[];
}
const golden: Golden = JSON.parse(readFileSync(new URL("../../test/golden/codecs.json", import.meta.url), "utf8"));

const bytes = (text: string): Uint8Array => Uint8Array.from(Buffer.from(text, "base64"));
const plain: CodecSpec = { name: "bytes", configuration: { endian: "little" } };
const big: CodecSpec = { name: "bytes", configuration: { endian: "big" } };
const onArrays = ["delta", "fixedscaleoffset", "packbits"];
const decodeOnly = ["bz2", "lzma", "fixedscaleoffset", "packbits"];
/** Codecs of which there is only one correct output. */
const exact = ["crc32", "crc32c", "adler32", "shuffle", "delta"];

const dtypeOf = (text: string): DataType =>
  text === "|b1" ? { kind: "bool", size: 1 } : numericOption({ dtype: text }, "test", "dtype");

describe(golden.origin, () => {
  test.each(golden.cases.map((one) => [`${JSON.stringify(one.codec)} on ${one.dtype}`, one] as const))(
    "%s",
    async (_name, one) => {
      const { id, ...configuration } = one.codec;
      const spec: CodecSpec = { name: `numcodecs.${id}`, configuration };
      const decoded = bytes(one.decoded);
      // A delta or scale decodes to the type that it names, which numpy's own cast may have made another than the source's.
      const dtype = typeof configuration.dtype === "string" ? dtypeOf(configuration.dtype) : dtypeOf(one.dtype);
      const size = "size" in dtype ? dtype.size : 1;
      const chunk: ChunkSpec = { shape: [decoded.length / size], dtype, fill: new Uint8Array(size) };
      const stored = isBig(configuration) ? big : plain;
      const codec = (await CodecChain.load(onArrays.includes(`${id}`) ? [spec, stored] : [plain, spec])).bind(chunk);
      expect(codec.decode(bytes(one.encoded), limits)).toEqual(decoded);
      if (decodeOnly.includes(`${id}`)) expect(() => codec.encode(decoded)).toThrow("can be read but not written");
      else if (exact.includes(`${id}`) && !lossy(configuration))
        expect(codec.encode(decoded)).toEqual(bytes(one.encoded));
      else expect(codec.decode(codec.encode(decoded), limits)).toHaveLength(decoded.length);
    },
  );

  test.each(golden.vlen.map((one) => [JSON.stringify(one.codec), one] as const))("%s", async (_name, one) => {
    const { id, ...configuration } = one.codec;
    const codec = (await CodecChain.load([{ name: `${id}`, configuration }])).bind({
      shape: [one.values.length],
      dtype: { kind: "string" },
      fill: "",
    });
    const values = codec.decode(bytes(one.encoded), limits) as VlenValue[];
    expect(values.map((value) => (typeof value === "string" ? value : [...value].map(Number)))).toEqual(one.values);
    expect(codec.encode(values)).toEqual(bytes(one.encoded));
  });

  test.each(golden.chains.map((one) => [one.codecs.map(show).join(" → "), one] as const))("%s", async (_name, one) => {
    const specs = one.codecs.map(({ name, configuration = {} }) => ({ name, configuration }));
    const dtype: DataType = { kind: "int", size: 2, endian: "little" };
    const codec = (await CodecChain.load(specs)).bind({ shape: one.shape, dtype, fill: Uint8Array.of(9, 0) });
    const decoded = bytes(one.decoded);
    expect(codec.decode(bytes(one.encoded), limits)).toEqual(decoded);
    expect(codec.decode(codec.encode(decoded), limits)).toEqual(decoded);
    expect(codec.decode(codec.encode(decoded, { keepEmpty: true }), limits)).toEqual(decoded);
  });
});

const isBig = ({ dtype, astype }: { [key: string]: Json }): boolean => `${astype ?? dtype}`.startsWith(">");

/** A delta through a narrower type cannot be told back from its decoded side alone. */
const lossy = ({ dtype, astype }: { [key: string]: Json }): boolean => astype !== undefined && astype !== dtype;

function show(spec: Json | CodecSpec): string {
  if (!isJsonObject(spec as Json)) return `${spec}`;
  const { name, configuration } = spec as CodecSpec;
  const inner = configuration?.codecs as readonly Json[] | undefined;
  return inner === undefined ? name : `${name}(${inner.map(show).join(" → ")})`;
}
