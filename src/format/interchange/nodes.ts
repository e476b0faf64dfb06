/** What files of graphs have in common: nodes that are named, whatever their order, and keep their names as an attribute. */
import { Unsupported } from "../../errors.js";
import type { Column } from "../../model/attributes.js";
import type { Names } from "./names.js";
import { column } from "./surface.js";

/** The attribute that has the names: of whole numbers these, else texts. */
export const NAMES = { numbers: "node_id", texts: "node" } as const;

const KINDS = ["int32", "int64", "texts"] as const;

/** The names of all nodes as one attribute, of which nobody knows the type before all have come. */
export class NodeNames {
  readonly #where: string;
  #kind: 0 | 1 | 2 = 0;
  #count = 0;
  #bytes = 0;

  constructor(where: string) {
    this.#where = where;
  }

  take(names: Names): void {
    this.#count += names.length;
    this.#bytes += names.size;
    for (let row = 0; row < names.length && this.#kind < 2; row++)
      this.#kind = Math.max(this.#kind, kindOf(names.text(row))) as 0 | 1 | 2;
  }

  refuseBeyond(maxMemory: number | undefined): void {
    if (KINDS[this.#kind] === "texts") refuseTexts(this.#where, "names of nodes", this.#count, this.#bytes, maxMemory);
  }

  column(names: Names): Column {
    const texts = names.texts();
    switch (KINDS[this.#kind]) {
      case "int32":
        return column(NAMES.numbers, Int32Array.from(texts, Number));
      case "int64":
        return column(NAMES.numbers, BigInt64Array.from(texts, BigInt));
      default:
        return column(NAMES.texts, texts);
    }
  }
}

const TEXT = 400; // bytes for each text, with all that is made of it

/** Texts of vertices and edges are one list in a store, which is in memory when it is written. */
function refuseTexts(where: string, what: string, count: number, bytes: number, maxMemory = Infinity): void {
  const needed = TEXT * count + 8 * bytes;
  if (needed <= maxMemory) return;
  throw new Unsupported(
    `${where} has ${count} or more texts for ${what}, which a store holds in one list; that takes about ${needed} bytes of memory, and ${maxMemory} may be used`,
    { where, hint: "Allow more (--max-memory), or use whole numbers in place of texts." },
  );
}

/** The different texts of an attribute, as they come. */
export class Texts {
  readonly #seen = new Set<string>();
  readonly #refuse: (count: number, bytes: number) => void;
  #bytes = 0;

  constructor(where: string, what: string, maxMemory: number | undefined) {
    this.#refuse = (count, bytes) => refuseTexts(where, what, count, bytes, maxMemory);
  }

  add(text: string): void {
    if (this.#seen.has(text)) return;
    this.#seen.add(text);
    this.#bytes += text.length;
    this.#refuse(this.#seen.size, this.#bytes);
  }
}

function kindOf(name: string): 0 | 1 | 2 {
  if (/^(0|-?[1-9]\d{0,8})$/.test(name)) return 0;
  return /^-?[1-9]\d{9,18}$/.test(name) && BigInt.asIntN(64, BigInt(name)) === BigInt(name) ? 1 : 2;
}

/** The names of vertices, from `first` on where they have none; only where each is there once. */
export function namesOf(columns: ReadonlyMap<string, Column>, count: number, first: number): (row: number) => string {
  const { info, values } = columns.get(NAMES.texts) ?? columns.get(NAMES.numbers) ?? {};
  if (values === undefined || new Set<unknown>(values as Iterable<unknown>).size !== count)
    return (row) => `${first + row}`;
  return (row) => info?.categories?.[Number(values[row])] ?? `${values[row]}`;
}
