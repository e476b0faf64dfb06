/**
 * `delta` of numcodecs: the first element, then each one's difference from the one before, stored as `astype`. Integers wrap
 * around, as numpy's do; floats are summed in the precision that holds both types.
 */
import { Unsupported } from "../errors.js";
import {
  bytesOf,
  isBig,
  type NumericType,
  numericOption,
  numericView,
  putNumber,
  recast,
  rounding,
} from "./numeric.js";
import { textOption } from "./options.js";
import type { CodecEntry, NumericArray } from "./types.js";

export const deltaCodec: CodecEntry = {
  name: "delta",
  async load(configuration) {
    const dtype = numericOption(configuration, "delta", "dtype");
    const astype = numericOption(configuration, "delta", "astype", textOption(configuration, "delta", "dtype"));
    for (const { kind, size } of [dtype, astype])
      if (kind === "float" && size === 2)
        throw new Unsupported("the delta codec works on float32 and float64, found float16");
    const floats = dtype.kind === "float" || astype.kind === "float";
    const round = rounding(dtype, astype);
    return {
      kind: "array-array",
      encodedSpec: (spec) => recast("delta", dtype, astype, spec),
      decode: (data) => {
        const stored = numericView(astype, data as Uint8Array);
        const out = numericView(dtype, new Uint8Array(stored.length * dtype.size));
        if (floats) sumFloats(stored, out, round);
        else sum(stored, out);
        return bytesOf(out);
      },
      encode: (data) => {
        const values = numericView(dtype, data as Uint8Array);
        const out = numericView(astype, new Uint8Array(values.length * astype.size));
        differences(values, out, dtype);
        return bytesOf(out);
      },
    };
  },
};

/** The typed array wraps every intermediate sum, so reading it back keeps numpy's arithmetic. */
function sum(stored: NumericArray, out: NumericArray): void {
  if (isBig(out)) {
    for (let i = 0, last = 0n; i < out.length; i++) {
      out[i] = last + BigInt(stored[i]!);
      last = out[i]!;
    }
  } else {
    for (let i = 0, last = 0; i < out.length; i++) {
      out[i] = last + Number(stored[i]!);
      last = out[i]!;
    }
  }
}

/** Where one of the types is a float, numpy sums in floats and casts the sums. */
function sumFloats(stored: NumericArray, out: NumericArray, round: (value: number) => number): void {
  for (let i = 0, last = 0; i < out.length; i++) {
    last = round(last + Number(stored[i]!));
    putNumber(out, i, last);
  }
}

function differences(values: NumericArray, out: NumericArray, dtype: NumericType): void {
  const room = numericView(dtype, new Uint8Array(dtype.size)); // wraps or rounds as the type does
  const wraps = !(out instanceof Float32Array || out instanceof Float64Array);
  for (let i = 0; i < values.length; i++) {
    if (isBig(values)) (room as BigInt64Array)[0] = values[i]! - (i === 0 ? 0n : values[i - 1]!);
    else (room as Int32Array)[0] = values[i]! - (i === 0 ? 0 : (values[i - 1]! as number));
    const difference = room[0]!;
    if (typeof difference === "number") putNumber(out, i, difference);
    else if (isBig(out)) out[i] = difference;
    else out[i] = Number(wraps ? BigInt.asIntN(32, difference) : difference);
  }
}
