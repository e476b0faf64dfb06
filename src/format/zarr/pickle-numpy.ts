/**
 * What a pickle of zarr 0.3.0 is made of, and how that becomes the JSON of zarr 0.4.0: tuples are lists, a numpy dtype is
 * its text or list of fields (gaps become padding), a numpy scalar is its value.
 */
import type { Json } from "../../bytes/json.js";
import { Corrupt, LimitExceeded } from "../../errors.js";
import { valueAt } from "../../model/elements.js";
import { parseNumpyDtype } from "./dtype-numpy.js";

type Atom = null | boolean | number | bigint | string;
export type Value = Atom | Sequence | Dict | Global | Dtype | Scalar;
/** Bytes are text of one character per byte, as Python 2 has them anyway. */
interface Sequence {
  readonly kind: "tuple" | "list";
  readonly items: Value[];
}
export interface Dict {
  readonly kind: "dict";
  readonly items: Map<string, Value>;
}
export interface Global {
  readonly kind: "global";
  readonly name: "dtype" | "scalar" | "encode";
}
interface Dtype {
  readonly kind: "dtype";
  readonly code: string;
  state?: Sequence;
}
interface Scalar {
  readonly kind: "scalar";
  readonly dtype: Dtype;
  readonly bytes: string;
}

const MAX_VALUES = 100_000; // a shared value counts each time it is reached: small files must not unfold into large ones
const MAX_DEPTH = 64;

export function is<Kind extends Exclude<Value, Atom>["kind"]>(
  value: Value | undefined,
  kind: Kind,
): value is Extract<Value, { kind: Kind | "tuple" | "list" }> & { kind: Kind } {
  return typeof value === "object" && value !== null && value.kind === kind;
}

/** The values as JSON, each type in numpy's spelling. */
export function unfold(root: Value, where: string): Json {
  let budget = MAX_VALUES;
  const broken = (what: string): Corrupt => new Corrupt(`${where}, as a pickle, has ${what}`, { where });

  const json = (value: Value, depth: number): Json => {
    if (--budget < 0 || depth > MAX_DEPTH)
      throw new LimitExceeded(`${where} is a pickle of more than ${MAX_VALUES} values or ${MAX_DEPTH} levels`, {
        where,
      });
    if (value === null || typeof value !== "object") return value;
    switch (value.kind) {
      case "tuple":
      case "list":
        return value.items.map((item) => json(item, depth + 1));
      case "dict": {
        const object: { [key: string]: Json } = Object.create(null);
        for (const [key, item] of value.items) object[key] = json(item, depth + 1);
        return object;
      }
      case "dtype":
        return dtype(value, depth);
      case "scalar":
        return scalar(value, depth);
      case "global":
        throw broken(`the name ${value.name} as a value`);
    }
  };

  /** State: version, byte order, (base, shape), names, {name: (type, offset)}, size, alignment, flags, (…, (unit, scale, …)) */
  const dtype = ({ code, state }: Dtype, depth: number): Json => {
    const [, order, , names, fields, size, , , metadata] = state?.items ?? [];
    if (is(names, "tuple") && is(fields, "dict")) return struct(names, fields, size, depth);
    const mark = order === "<" || order === ">" || order === "|" ? order : "";
    const unit = is(metadata, "tuple") ? metadata.items.at(-1) : undefined;
    if (!is(unit, "tuple")) return mark + code;
    const [name, scale] = unit.items;
    return name === "generic" ? mark + code : `${mark}${code}[${scale === 1 ? "" : String(scale)}${String(name)}]`;
  };

  const struct = (names: Sequence, fields: Dict, size: Value | undefined, depth: number): Json => {
    const list: Json[] = [];
    let end = 0;
    const padTo = (offset: number): void => {
      if (offset > end) list.push(["", `|V${offset - end}`]);
    };
    for (const name of names.items) {
      const [type, offset] = typeof name === "string" ? sequence(fields.items.get(name)) : [];
      if (typeof name !== "string" || !is(type, "dtype") || typeof offset !== "number" || offset < end)
        throw broken("a structured type whose fields do not follow each other");
      padTo(offset);
      const base = sequence(type.state?.items[2]);
      const entry = base.length === 2 ? base : [type];
      const parts = entry.map((part) => json(part, depth + 1));
      list.push([name, ...parts]);
      const lengths = Array.isArray(parts[1]) ? (parts[1] as readonly Json[]) : [];
      const item = parseNumpyDtype(parts[0], where).size;
      end = offset + lengths.reduce<number>((product, length) => product * Number(length), item);
    }
    if (typeof size === "number") padTo(size);
    return list;
  };

  const scalar = ({ dtype: type, bytes }: Scalar, depth: number): Json => {
    const parsed = parseNumpyDtype(json(type, depth + 1), where);
    const data = Uint8Array.from(bytes, (character) => character.charCodeAt(0));
    if (data.length !== parsed.size || ("endian" in parsed && parsed.endian === "big"))
      throw broken("a scalar that is not as long as its type");
    const value = valueAt({ shape: [], dtype: parsed, data }, 0);
    if (typeof value === "object") throw broken("a scalar that is no single value");
    return value;
  };

  return json(root, 0);
}

const sequence = (value: Value | undefined): readonly Value[] => (is(value, "tuple") ? value.items : []);
