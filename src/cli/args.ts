/**
 * The options of a verb, declared once: from one table come the parser and its types, the help, the shell completion and
 * the reference page.
 *
 *   --name value · --name=value · -n value · --name=value or --name alone, for some · flags, also together (-qv) · `--` ends the options · `-` alone is no option
 *
 * A value is whatever follows, also when it starts with "-": `--slice -3:` needs no ceremony.
 */
import { InvalidInput, OctavoError } from "../errors.js";

export interface Option<T = unknown> {
  readonly help: string;
  /** One letter, for `-o`. */
  readonly short?: string;
  /** What the value is called in help; absent for a flag. */
  readonly value?: string;
  /** The only values there are, for help and completion. */
  readonly choices?: readonly string[];
  readonly parse?: (text: string) => T;
  /** Given several times, its lists are one after the other. */
  readonly repeats?: true;
  /** The value only follows "=", and may be left out: it is "" then. */
  readonly inline?: true;
}

export type Options = { readonly [name: string]: Option };

/** A flag is true or false; anything else is what its parser gives, or undefined. */
export type Values<T extends Options> = {
  readonly [K in keyof T]: T[K] extends { parse: (text: string) => infer V } ? V | undefined : boolean;
};

export const flag = (help: string, short?: string) => ({ help, ...(short === undefined ? {} : { short }) });

export function value<T>(name: string, help: string, parse: (text: string) => T, short?: string) {
  return { value: name, help, parse, ...(short === undefined ? {} : { short }) };
}

export const text = (name: string, help: string, short?: string) => value(name, help, (given) => given, short);

/** A list with commas; the option may be given several times. */
export function list<T>(name: string, help: string, item: (text: string) => T) {
  const parse = (given: string): readonly T[] =>
    given.trim() === "" ? [] : given.split(",").map((part) => item(part.trim()));
  return { value: name, help, parse, repeats: true as const };
}

/** A flag that may say more: `--clip`, `--clip=vertices`. */
export function flagOr<const C extends string>(choices: readonly C[], help: string) {
  const { parse, value } = choice(choices, help);
  return {
    value,
    choices,
    help,
    inline: true as const,
    parse: (given: string): C | true => given === "" || parse(given),
  };
}

export function choice<const C extends string>(choices: readonly C[], help: string) {
  const parse = (given: string): C => {
    const found = choices.find((known) => known === given);
    if (found !== undefined) return found;
    throw new InvalidInput(`expected ${choices.join(", ")}, found ${JSON.stringify(given)}`, nearest(given, choices));
  };
  return { value: choices.join("|"), choices, help, parse };
}

/** 0, 1, 2 … */
export function count(given: string): number {
  if (/^\d{1,15}$/.test(given)) return Number(given);
  throw new InvalidInput(`expected a number such as 3, found ${JSON.stringify(given)}`);
}

/** Any finite number. */
export function number(given: string): number {
  const parsed = given.trim() === "" ? Number.NaN : Number(given);
  if (Number.isFinite(parsed)) return parsed;
  throw new InvalidInput(`expected a number such as -1.5, found ${JSON.stringify(given)}`);
}

/** "1,2.5,-3e4" */
export const numbers = (given: string): readonly number[] => given.split(",").map(number);

/** An id: a whole number of any size up to 64 bits. */
export function id(given: string): bigint {
  if (/^-?\d{1,20}$/.test(given)) return BigInt(given);
  throw new InvalidInput(`expected an id such as 42, found ${JSON.stringify(given)}`);
}

/** Bytes, as "512M", "1.5G" or "4096"; the letters are powers of 1024. */
export function size(given: string): number {
  const match = /^(\d+(?:\.\d+)?)([KMGT]?)(?:i?B)?$/i.exec(given);
  const bytes =
    match === null ? Number.NaN : Number(match[1]) * 1024 ** " KMGT".indexOf(match[2]!.toUpperCase() || " ");
  if (Number.isSafeInteger(Math.round(bytes)) && bytes >= 1) return Math.round(bytes);
  throw new InvalidInput(`expected a number of bytes such as 512M or 2G, found ${JSON.stringify(given)}`);
}

/** "64,64,32" or "64x64x32". */
export function shape(given: string): readonly number[] {
  const parts = given.split(/[,x\u00d7]/).map((part) => (/^\d+$/.test(part.trim()) ? Number(part) : Number.NaN));
  if (parts.every((part) => Number.isSafeInteger(part) && part >= 1)) return parts;
  throw new InvalidInput(`expected positive numbers such as 64,64,32, found ${JSON.stringify(given)}`);
}

/** "64,64,64" or "12.5x12.5": chunks of geometry are sizes in space. */
export function sizes(given: string): readonly number[] {
  const found = given.split(/[,x\u00d7]/).map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (found.every((size) => size > 0 && Number.isFinite(size))) return found;
  throw new InvalidInput(`expected sizes above 0 such as 64,64,32, found ${JSON.stringify(given)}`);
}

export interface Parsed<T extends Options> {
  readonly options: Values<T>;
  readonly operands: readonly string[];
}

export function parse<T extends Options>(table: T, args: readonly string[]): Parsed<T> {
  const given: Record<string, unknown> = {};
  for (const [name, option] of Object.entries(table)) given[name] = option.parse === undefined ? false : undefined;
  const operands: string[] = [];

  const assign = (name: string, spelled: string, inline: string | undefined, next: () => string | undefined): void => {
    const option = table[name]!;
    if (option.parse === undefined) {
      if (inline !== undefined) throw new InvalidInput(`${spelled} takes no value, found ${JSON.stringify(inline)}`);
      given[name] = true;
      return;
    }
    const found = inline ?? (option.inline ? "" : next());
    if (found === undefined) throw new InvalidInput(`${spelled} needs a value: ${spelled} ${option.value}`);
    try {
      const parsed = option.parse(found);
      given[name] = option.repeats ? [...((given[name] as unknown[]) ?? []), ...(parsed as unknown[])] : parsed;
    } catch (error) {
      if (!(error instanceof OctavoError)) throw error;
      throw new InvalidInput(`${spelled}: ${error.message}`, error.hint === undefined ? {} : { hint: error.hint });
    }
  };

  for (let i = 0; i < args.length; i++) {
    const arg = args[i]!;
    if (arg === "--") {
      operands.push(...args.slice(i + 1));
      break;
    }
    if (arg.startsWith("--")) {
      const at = arg.indexOf("=");
      const name = at < 0 ? arg.slice(2) : arg.slice(2, at);
      if (!Object.hasOwn(table, name)) {
        const names = Object.keys(table).map((known) => `--${known}`);
        throw new InvalidInput(`there is no option --${name}`, nearest(`--${name}`, names));
      }
      assign(name, `--${name}`, at < 0 ? undefined : arg.slice(at + 1), () => args[++i]);
    } else if (arg.startsWith("-") && arg !== "-") {
      for (let j = 1; j < arg.length; j++) {
        const name = Object.keys(table).find((known) => table[known]!.short === arg[j]);
        if (name === undefined) throw new InvalidInput(`there is no option -${arg[j]}`);
        const takesRest = table[name]!.parse !== undefined && j + 1 < arg.length;
        assign(name, `-${arg[j]}`, takesRest ? arg.slice(j + 1) : undefined, () => args[++i]);
        if (takesRest) break;
      }
    } else operands.push(arg);
  }
  return { options: given as Values<T>, operands };
}

/** A hint that names the known word nearest to what was typed, where one is near. */
export function nearest(typed: string, known: readonly string[]): { hint?: string } {
  let best: string | undefined;
  let least = Math.max(2, Math.floor(typed.length / 3)) + 1;
  for (const word of known) {
    const d = word.startsWith(typed) && typed.length > 2 ? 1 : distance(typed, word);
    if (d < least && d < typed.length) [best, least] = [word, d];
  }
  return best === undefined ? {} : { hint: `did you mean ${best}?` };
}

/** How many letters must be added, dropped, changed or swapped with their neighbour to get from one word to the other. */
function distance(a: string, b: string): number {
  let before: number[] = [];
  let above = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      let cost = Math.min(row[j - 1]! + 1, above[j]! + 1, above[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1);
      row.push(cost);
    }
    [before, above] = [above, row];
  }
  return above[b.length]!;
}
