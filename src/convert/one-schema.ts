/**
 * Several inputs with the attributes of all of them, each of one type that holds the values of all: whole numbers of another width
 * or sign, whole numbers and floats, texts of another width or as codes, lengths in another unit. Nothing is rounded for it: where a
 * value has no place in the type of all, that is an error.
 */
import { type DataType, type FixedDataType, memorySize } from "../bytes/dtype.js";
import { isBig } from "../codec/numeric.js";
import { meaningOf } from "../diff/values.js";
import { Unsupported } from "../errors.js";
import { valuesOf } from "../format/interchange/table-types.js";
import type { AttributeInfo, Column } from "../model/attributes.js";
import type { Columns, Domain, Schema } from "../model/vectors.js";
import { absentColumn, absentValue } from "../query/columns.js";
import { comparedAs } from "../query/where-test.js";
import { inRatio, type Ratio, ratioOf } from "../space/units.js";

const DOMAINS = ["vertex", "link", "fragment", "object", "group"] as const satisfies readonly Domain[];
const FLOAT64 = { kind: "float", size: 8, endian: "little" } as const;

const isText = (info: AttributeInfo): boolean => comparedAs(info) === "text";
const isWhole = ({ kind }: DataType): boolean => kind === "int" || kind === "uint";
/** Also one of several channels; codes that stand for something are none. */
const isNumber = ({ dtype, categories }: AttributeInfo): boolean =>
  categories === undefined && (isWhole(dtype) || dtype.kind === "float");

export const sameType = (a: AttributeInfo | undefined, b: AttributeInfo): boolean =>
  a !== undefined &&
  a.channels === b.channels &&
  JSON.stringify([a.dtype, a.categories]) === JSON.stringify([b.dtype, b.categories]) &&
  rescaling(a, b) === undefined;

/** From the unit of one to that of the other, where those are not the same. */
function rescaling(from: AttributeInfo, to: AttributeInfo): Ratio | undefined {
  const ratio = isNumber(from) && isNumber(to) ? ratioOf(from.unit, to.unit) : undefined;
  return ratio === undefined || ratio.times === ratio.per ? undefined : ratio;
}

/** The attributes of all so far and those of one more; `name` is what errors call that. */
export function joined(known: Schema, more: Schema, name: string): Schema {
  const of = (domain: Domain): AttributeInfo[] => {
    const infos = new Map(known[domain].map((info) => [info.name, info]));
    for (const info of more[domain]) {
      const before = infos.get(info.name);
      const both = before === undefined ? info : oneOf(before, info);
      if (both === undefined) throw otherType(name, domain, info);
      infos.set(info.name, both);
    }
    return [...infos.values()];
  };
  return Object.fromEntries(DOMAINS.map((domain) => [domain, of(domain)])) as unknown as Schema;
}

const otherType = (where: string, domain: Domain, { name }: AttributeInfo): Unsupported =>
  new Unsupported(`${where} has another type of the ${domain} attribute ${name} than the inputs before`, {
    where,
    hint: `Leave it out of one of them: octavo convert --attributes. Of tables, say which type it has: --property ${name}:string.`,
  });

/** An attribute that holds the values of both; undefined where there is none. */
function oneOf(a: AttributeInfo, b: AttributeInfo): AttributeInfo | undefined {
  if (sameType(a, b)) return withNone(a, a, b);
  if (isText(a) && isText(b)) return { ...a, dtype: { kind: "string" }, categories: undefined, absent: undefined };
  if (a.channels !== b.channels || !isNumber(a) || !isNumber(b)) return undefined;
  const dtype = rescaling(b, a) === undefined ? wider(a.dtype, b.dtype) : FLOAT64;
  return withNone({ ...a, dtype, absent: undefined }, a, b);
}

/** With a value that stands for none, where one of them has such. */
function withNone(info: AttributeInfo, a: AttributeInfo, b: AttributeInfo): AttributeInfo {
  if (info.absent !== undefined || (a.absent === undefined && b.absent === undefined)) return info;
  return isWhole(info.dtype) && info.categories === undefined ? { ...info, absent: absentValue(info) } : info;
}

/** The type for numbers of both. Integers of 64 bits are unsigned where one is, because nobody takes that without need. */
function wider(a: DataType, b: DataType): DataType {
  const [small, large] = memorySize(a) <= memorySize(b) ? [a, b] : [b, a];
  if (small.kind === large.kind) return large;
  if (!isWhole(small) || !isWhole(large)) {
    const [whole, float] = isWhole(a) ? [a, b] : [b, a];
    return memorySize(whole) < memorySize(float) ? float : FLOAT64;
  }
  const [signed, other] = a.kind === "int" ? [a, b] : [b, a];
  const size = Math.max(memorySize(signed), 2 * memorySize(other));
  return size > 8 ? { ...FLOAT64, kind: "uint" } : ({ ...FLOAT64, kind: "int", size } as DataType);
}

/** Whether values of one may stand in the other as they are. */
const fits = (own: AttributeInfo | undefined, info: AttributeInfo): boolean =>
  sameType(own, info) && (!isNumber(info) || own!.absent === undefined || own!.absent === info.absent);

/** A column in the type of all; undefined where that does not hold a value of it. */
function asType(column: Column, info: AttributeInfo): Column | undefined {
  if (fits(column.info, info)) return column;
  if (isText(column.info) && isText(info)) return spelled(column, info);
  if (!isNumber(column.info) || !isNumber(info) || column.info.channels !== info.channels) return undefined;
  const meant = meaningOf(column);
  const ratio = rescaling(column.info, info);
  const out = valuesOf(info.dtype as FixedDataType, column.values.length);
  const none = isWhole(info.dtype) ? info.absent : Number.NaN;
  for (let i = 0; i < out.length; i++) {
    const own = meant(i) as number | bigint | undefined;
    const value = own === undefined || ratio === undefined ? (own ?? none) : inRatio(Number(own), ratio);
    if (typeof value !== "number" && typeof value !== "bigint") return undefined;
    (out as unknown as (number | bigint)[])[i] = isBig(out) ? BigInt(value) : Number(value);
    const isKept =
      typeof value === "bigint" || isBig(out) ? BigInt(out[i]!) === BigInt(value) : Object.is(out[i], value);
    if (!isKept || (own !== undefined && isWhole(info.dtype) && out[i] === none)) return undefined;
  }
  return { info, values: out };
}

/** Texts of another width, or codes into another list of texts, as texts of any width. */
function spelled(column: Column, info: AttributeInfo): Column {
  const meant = meaningOf(column);
  const none = `${absentValue(info)}`;
  const values = Array.from(column.values as ArrayLike<unknown>, (_, i) => `${meant(i) ?? none}`);
  const isWhole = values.every((_, i) => meant(i) !== undefined);
  return { info: isWhole ? info : { ...info, absent: none }, values };
}

/** Columns in the types of all, where those are there; `name` is what errors call their input. */
export function inTypes(infos: readonly AttributeInfo[], columns: Columns, domain: Domain, name: string): Columns {
  const types = new Map(infos.map((info) => [info.name, info]));
  return new Map(
    Array.from(columns, ([own, column]): [string, Column] => {
      const info = types.get(own) ?? column.info;
      const fitted = asType(column, info);
      if (fitted === undefined) throw otherType(name, domain, info);
      return [own, fitted];
    }),
  );
}

/** The columns of all attributes: what an input has not is absent there, and what is in none of them is told. */
export function unify(
  infos: readonly AttributeInfo[],
  columns: Columns,
  rows: number,
  domain: Domain,
  name: string,
  lose: (sentence: string) => void = () => undefined,
): Columns {
  if (columns.size === infos.length && infos.every((info) => fits(columns.get(info.name)?.info, info))) return columns;
  for (const other of columns.keys())
    if (infos.every((info) => info.name !== other)) lose(`the ${domain} attribute ${other}, which not all files have`);
  const fitted = inTypes(infos, columns, domain, name);
  return new Map(infos.map((info) => [info.name, fitted.get(info.name) ?? absentColumn(info, rows)]));
}
