/** Relationships of annotations that are objects: the attributes that hold ids of others, and who has which of them. */
import type { Publication } from "../../convert/precomputed/publication.js";
import type { AttributeInfo } from "../../model/attributes.js";
import type { CallOptions } from "../../store/types.js";

/** Who is related to whom, by rows of objects. */
export interface Related {
  readonly names: readonly string[];
  /** What an object is related to, by each name. */
  of(row: number, options: CallOptions): Promise<BigUint64Array[]>;
  /** The objects that are related to this one by a name. */
  to(name: string, id: bigint, options: CallOptions): Promise<readonly bigint[]>;
  /** Everything that an object is related to by a name, each once. */
  ids(name: string, options: CallOptions): Promise<Iterable<bigint>>;
}

const ROWS = 1 << 16;

/** One relationship, all of it, in the order of ids. */
interface Index {
  readonly ids: BigUint64Array;
  readonly rows: Uint32Array;
}

export function relatedBy(
  { level, reading }: Publication,
  infos: readonly AttributeInfo[],
  own: BigInt64Array | BigUint64Array,
): Related {
  const objects = level.objects!;
  const indexes = new Map<string, Promise<Index>>();

  async function valuesOf(name: string, rows: Uint32Array): Promise<bigint[][]> {
    const { info, values } = (await objects.columns([name], rows, reading)).get(name)!;
    const { channels, absent } = info;
    return Array.from(rows, (_, i) =>
      Array.from({ length: channels }, (_, c) => values[i * channels + c] as bigint)
        .filter((id) => id !== absent)
        .map((id) => BigInt.asUintN(64, id)),
    );
  }

  async function read(name: string): Promise<Index> {
    const [ids, rows]: [bigint[], number[]] = [[], []];
    for (let from = 0; from < own.length; from += ROWS) {
      const some = Uint32Array.from({ length: Math.min(ROWS, own.length - from) }, (_, i) => from + i);
      for (const [i, found] of (await valuesOf(name, some)).entries())
        for (const id of found) {
          ids.push(id);
          rows.push(from + i);
        }
    }
    const order = Uint32Array.from(ids.keys()).sort((a, b) => (ids[a]! < ids[b]! ? -1 : ids[a]! > ids[b]! ? 1 : a - b));
    return { ids: BigUint64Array.from(order, (i) => ids[i]!), rows: order.map((i) => rows[i]!) };
  }

  /** Read once, when it is first asked for; whoever leaves does not end it for the others. */
  function indexOf(name: string): Promise<Index> {
    const known = indexes.get(name) ?? read(name);
    indexes.set(name, known);
    known.catch(() => indexes.delete(name));
    return known;
  }

  return {
    names: infos.map(({ name }) => name),
    of: (row) =>
      Promise.all(infos.map(async ({ name }) => BigUint64Array.from((await valuesOf(name, Uint32Array.of(row)))[0]!))),
    async to(name, id) {
      const { ids, rows } = await indexOf(name);
      let [low, high] = [0, ids.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        if (ids[middle]! < id) low = middle + 1;
        else high = middle;
      }
      const found = new Set<bigint>();
      for (; low < ids.length && ids[low] === id; low++) found.add(own[rows[low]!]!);
      return [...found];
    },
    ids: async (name) => new Set((await indexOf(name)).ids),
  };
}
