/**
 * numpy's .npy: one array, its type and shape as a Python literal, then the elements.
 *
 * | bytes    | what                                                                                   |
 * |----------|----------------------------------------------------------------------------------------|
 * | 6        | 0x93 "NUMPY"                                                                            |
 * | 2        | version: 1.0, 2.0 or 3.0                                                                |
 * | 2 or 4   | length of the header: u16 in version 1, u32 after                                       |
 * | …        | `{'descr': '<i4', 'fortran_order': False, 'shape': (3, 4), }`, spaces, newline          |
 * | the rest | the elements, in C or Fortran order, in the byte order of `descr`                       |
 *
 * The header is latin-1 up to version 2 and UTF-8 in version 3. Writers pad it so that the elements begin at 64 bytes.
 */
import { concat } from "../../bytes/concat.js";
import { type FixedDataType, isFixed, swapUnit } from "../../bytes/dtype.js";
import type { Json } from "../../bytes/json.js";
import { Reader } from "../../bytes/reader.js";
import { swapBytes } from "../../bytes/swap.js";
import { decodeUtf8, encodeUtf8 } from "../../bytes/text.js";
import { copyStrided } from "../../codec/strided.js";
import { Corrupt, LimitExceeded, Unsupported } from "../../errors.js";
import { type Limits, withLimits } from "../../limits.js";
import type { NdArray } from "../../model/array.js";
import { elementCount, strides } from "../../space/shape.js";
import { asObject, asShape, wrong } from "../zarr/document.js";
import { formatNumpyDtype, parseNumpyDtype } from "../zarr/dtype-numpy.js";
import { parseLiteral } from "./python-literal.js";

const MAGIC = Uint8Array.of(0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59);

export function readNpy(bytes: Uint8Array, limits?: Partial<Limits>, where = "the .npy file"): NdArray {
  const { dtype, shape, fortran, offset } = readNpyHeader(bytes, withLimits(limits), where);
  const count = elementCount(shape);
  const data = bytes.subarray(offset);
  if (data.length !== count * dtype.size) {
    throw new Corrupt(
      `${where} has ${data.length} bytes of elements, but its shape [${shape}] of ${dtype.size}-byte elements needs ${count * dtype.size}`,
      { where },
    );
  }
  const native = "endian" in dtype && dtype.endian === "big" ? swapBytes(data, swapUnit(dtype)) : data;
  if (!fortran || shape.length < 2) return { shape, dtype, data: native };
  const turned = new Uint8Array(data.length);
  const from = strides([...shape].reverse()).reverse();
  copyStrided(turned, { offset: 0, strides: strides(shape) }, native, { offset: 0, strides: from }, shape, dtype);
  return { shape, dtype, data: turned };
}

/** What an .npy file says of its elements, and where they begin. */
interface Header {
  readonly dtype: FixedDataType;
  readonly shape: readonly number[];
  readonly fortran: boolean;
  readonly offset: number;
}

export function readNpyHeader(bytes: Uint8Array, limits: Limits, where: string): Header {
  const reader = new Reader(bytes, where);
  if (!MAGIC.every((byte, i) => bytes[i] === byte))
    throw new Corrupt(`${where} does not begin with 0x93 NUMPY`, { where });
  reader.skip(MAGIC.length);
  const major = reader.u8();
  const minor = reader.u8();
  if (major < 1 || major > 3 || minor !== 0) {
    throw new Unsupported(`${where} is .npy version ${major}.${minor}, expected 1.0, 2.0 or 3.0`, { where });
  }
  const length = major === 1 ? reader.u16() : reader.u32();
  if (length > limits.metadataBytes) {
    throw new LimitExceeded(`${where} has a header of ${length} bytes, at most ${limits.metadataBytes} are allowed`, {
      where,
    });
  }
  const raw = reader.bytes(length);
  const text = major === 3 ? decodeUtf8(raw, where) : Array.from(raw, (byte) => String.fromCharCode(byte)).join("");
  const header = asObject(parseLiteral(text, limits, where), "a dictionary as header", where);
  const order = header.fortran_order;
  if (typeof order !== "boolean") throw wrong(where, "True or False as fortran_order", order);
  return {
    dtype: parseNumpyDtype(header.descr, where),
    shape: asShape(header.shape, "shape", where),
    fortran: order,
    offset: reader.offset,
  };
}

/** Elements of fixed size in C order, little-endian; a struct keeps the byte order of its fields. */
export function writeNpy(array: NdArray): Uint8Array {
  const { dtype, shape, data } = array;
  if (!isFixed(dtype)) {
    throw new Unsupported(`.npy holds elements of fixed size, not ${dtype.kind}`, {
      hint: "Write JSON or CSV instead.",
    });
  }
  const descr = formatNumpyDtype("endian" in dtype ? { ...dtype, endian: "little" } : dtype);
  const tuple = `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
  const text = `{'descr': ${literal(descr)}, 'fortran_order': False, 'shape': ${tuple}, }`;
  const version = /^[\0-\x7f]*$/.test(text) ? (text.length < 65_000 ? 1 : 2) : 3;
  const header = encodeUtf8(text, "the .npy header");
  const lead = version === 1 ? 10 : 12;
  const padded = Math.ceil((lead + header.length + 1) / 64) * 64 - lead;
  const head = new Uint8Array(lead + padded).fill(0x20);
  head.set(MAGIC);
  head[6] = version;
  head[7] = 0;
  const view = new DataView(head.buffer);
  if (version === 1) view.setUint16(8, padded, true);
  else view.setUint32(8, padded, true);
  head.set(header, lead);
  head[head.length - 1] = 0x0a;
  return concat([head, data as Uint8Array]);
}

/** A type as numpy writes it: lists of tuples. */
function literal(descr: Json): string {
  if (typeof descr === "string") return quoted(descr);
  const fields = (descr as readonly (readonly [string, Json, (readonly number[])?])[]).map(([name, type, shape]) => {
    const suffix = shape === undefined ? "" : `, (${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
    return `(${quoted(name)}, ${literal(type)}${suffix})`;
  });
  return `[${fields.join(", ")}]`;
}

const quoted = (text: string): string =>
  `'${text.replace(/[\\']/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r")}'`;
