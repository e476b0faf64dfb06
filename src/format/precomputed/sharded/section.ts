/**
 * A part of a shard on its way: values, as they are stored, in the order of a shard, with the bytes before each. What was put
 * into memory, what was put aside, and the shard that is already there are such parts; build.ts makes one shard of them.
 */
import { radixOrder } from "../../../bytes/radix.js";

/** Rows in the order of minishards, in each by id. */
export interface Section {
  readonly idLow: Uint32Array;
  readonly idHigh: Uint32Array;
  readonly minishard: Uint32Array;
  /** Bytes of each value; `GONE` for one that is to be deleted. */
  readonly sizes: Uint32Array;
  /** Bytes before each value that belong to it. */
  readonly befores: Uint32Array;
  /** Rows from `from` up to `to`, one after the other: what is before the value, then the value. */
  read(from: number, to: number): Promise<Uint8Array>;
}

export const GONE = 0xffffffff;

/** Where each row begins among the bytes that `read` gives for all, and where the last one ends. */
export function offsetsOf({ sizes, befores }: Pick<Section, "sizes" | "befores">): Float64Array {
  const offsets = new Float64Array(sizes.length + 1);
  for (let i = 0; i < sizes.length; i++)
    offsets[i + 1] = offsets[i]! + befores[i]! + (sizes[i] === GONE ? 0 : sizes[i]!);
  return offsets;
}

/** Several sections as one list of rows. */
export interface Merged {
  readonly sections: readonly Section[];
  /** For each row that stays, in the order of the shard: its section, and its place there. */
  readonly owner: Uint32Array;
  readonly row: Uint32Array;
}

/**
 * Rows of all sections in order. Where an id comes several times, "last" keeps what came last, and drops what is to be
 * deleted; "once" says which id it was.
 */
export function merge(sections: readonly Section[], repeats: "once" | "last"): Merged | { readonly twice: bigint } {
  const total = sections.reduce((sum, { sizes }) => sum + sizes.length, 0);
  const all = sections.length === 1 ? sections[0]! : joined(sections, total);
  const [owner, row] = [new Uint32Array(total), new Uint32Array(total)];
  let at = 0;
  for (const [s, { sizes }] of sections.entries())
    for (let i = 0; i < sizes.length; i++, at++) {
      owner[at] = s;
      row[at] = i;
    }
  const { idLow, idHigh, minishard } = all;
  const order = radixOrder([idLow, idHigh, minishard], total);
  const [owners, rows] = [new Uint32Array(total), new Uint32Array(total)];
  let kept = 0;
  for (let i = 0; i < total; i++) {
    const one = order[i]!;
    const next = order[i + 1];
    if (next !== undefined && idLow[one] === idLow[next] && idHigh[one] === idHigh[next]) {
      if (repeats === "once") return { twice: (BigInt(idHigh[one]!) << 32n) | BigInt(idLow[one]!) };
      continue;
    }
    if (sections[owner[one]!]!.sizes[row[one]!] === GONE) continue;
    owners[kept] = owner[one]!;
    rows[kept++] = row[one]!;
  }
  return { sections, owner: owners.subarray(0, kept), row: rows.subarray(0, kept) };
}

function joined(sections: readonly Section[], total: number): Pick<Section, "idLow" | "idHigh" | "minishard"> {
  const out = { idLow: new Uint32Array(total), idHigh: new Uint32Array(total), minishard: new Uint32Array(total) };
  let at = 0;
  for (const section of sections) {
    out.idLow.set(section.idLow, at);
    out.idHigh.set(section.idHigh, at);
    out.minishard.set(section.minishard, at);
    at += section.sizes.length;
  }
  return out;
}
