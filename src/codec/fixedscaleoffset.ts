/** `fixedscaleoffset` of numcodecs, decoding: stored / scale + offset, calculated as numpy does, then cast to `dtype`. */
import { Unsupported } from "../errors.js";
import { decodeOnly } from "./decode-only.js";
import { bytesOf, numericOption, numericView, putNumber, recast } from "./numeric.js";
import { numberOption, textOption } from "./options.js";
import type { CodecEntry } from "./types.js";

export const fixedScaleOffsetCodec: CodecEntry = {
  name: "fixedscaleoffset",
  async load(configuration) {
    const name = "fixedscaleoffset";
    const dtype = numericOption(configuration, name, "dtype");
    const astype = numericOption(configuration, name, "astype", textOption(configuration, name, "dtype"));
    const scale = numberOption(configuration, name, "scale");
    const offset = numberOption(configuration, name, "offset");
    for (const { kind, size } of [dtype, astype])
      if (kind === "float" && size === 2)
        throw new Unsupported(`the ${name} codec works on float32 and float64, found float16`);
    // float32 stays float32 all the way; everything else is calculated in float64.
    const round = astype.kind === "float" && astype.size === 4 ? Math.fround : (value: number): number => value;
    return {
      kind: "array-array",
      encodedSpec: (spec) => recast(name, dtype, astype, spec),
      decode: (data) => {
        const stored = numericView(astype, data as Uint8Array);
        const out = numericView(dtype, new Uint8Array(stored.length * dtype.size));
        for (let i = 0; i < stored.length; i++) {
          const value = round(round(Number(stored[i]!) / round(scale)) + round(offset));
          putNumber(out, i, value);
        }
        return bytesOf(out);
      },
      encode: decodeOnly(name),
    };
  },
};
