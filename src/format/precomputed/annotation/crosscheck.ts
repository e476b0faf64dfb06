/**
 * Are the indexes of a collection about the same annotations? Of each a few numbers are kept: in which level and in how many
 * cells it was found, and a checksum of its record, which must be the same everywhere; of each pair of annotation and object
 * a checksum, which must come once from the annotation's side and once from the object's.
 */
import { murmur3 } from "../../../bytes/hash/murmur3.js";
import type { Finding } from "../../../model/format.js";
import { finding } from "../rules.js";
import type { AnnotationInfo } from "./info.js";
import { Layout } from "./layout.js";
import { type Annotations, encodeRecords, type RecordForm } from "./list.js";

interface Known {
  level: number;
  /** Cells in which it was found, and in how many it should be. */
  cells: number;
  expected: number;
  sum: number;
  stored: boolean;
}

export class Crosscheck {
  readonly #info: AnnotationInfo;
  readonly #form: RecordForm;
  readonly #known = new Map<bigint, Known>();
  /** For each relationship, annotation and object: +1 from one side, −1 from the other. */
  readonly #pairs = new Map<string, number>();
  readonly #levels: bigint[] = [];
  readonly #differs: bigint[] = [];
  #sums: { of: Annotations; sums: number[] } | undefined;

  constructor(info: AnnotationInfo) {
    this.#info = info;
    this.#form = { info, layout: Layout.of(info.properties) };
  }

  /** Found in a cell of a level; it touches so many. */
  cell(list: Annotations, row: number, level: number, expected: number): void {
    const [id, sum] = [list.ids[row]!, this.#sum(list, row)];
    const known = this.#known.get(id);
    if (known === undefined) this.#known.set(id, { level, cells: 1, expected, sum, stored: false });
    else {
      if (known.level !== level) this.#levels.push(id);
      else known.cells++;
      if (known.sum !== sum) this.#differs.push(id);
    }
  }

  /** Found by its id. */
  byId(one: Annotations): void {
    const [id, sum] = [one.ids[0]!, this.#sum(one, 0)];
    const known = this.#known.get(id);
    if (known === undefined) this.#known.set(id, { level: -1, cells: 0, expected: 1, sum, stored: true });
    else {
      known.stored = true;
      if (known.sum !== sum) this.#differs.push(id);
    }
    for (const [relationship, { ids }] of one.related ?? [])
      for (const object of new Set(ids)) this.#pair(relationship, id, object, 1);
  }

  /** Found among the annotations of an object. */
  related(list: Annotations, row: number, relationship: string, object: bigint): void {
    const id = list.ids[row]!;
    const known = this.#known.get(id);
    if (known === undefined || known.sum !== this.#sum(list, row)) this.#differs.push(id);
    this.#pair(relationship, id, object, -1);
  }

  /** What is wrong, when everything was seen. */
  *end(where: string): Generator<Finding> {
    const known = [...this.#known];
    const named = (ids: readonly bigint[]): string => `${ids.length} annotations; the first is ${ids[0]}`;
    const say = function* (rule: Parameters<typeof finding>[0], says: string, ids: readonly bigint[]) {
      if (ids.length > 0) yield finding(rule, where, `${says}: ${named(ids)}`);
    };
    const only = (test: (own: Known) => boolean): bigint[] => known.filter(([, own]) => test(own)).map(([id]) => id);
    yield* say("cell-repeats", "in more than one level", [...new Set(this.#levels)]);
    if (this.#info.spatial.length > 0) {
      yield* say(
        "cell-missing",
        "in no cell",
        only(({ level }) => level < 0),
      );
      yield* say(
        "cell-missing",
        "not in all cells that they touch",
        only(({ level, cells, expected }) => level >= 0 && cells < expected),
      );
    }
    yield* say(
      "index-differs",
      "not in the index of ids",
      only(({ stored }) => !stored),
    );
    yield* say("index-differs", "not the same in all indexes", [...new Set(this.#differs)]);
    const loose = [...this.#pairs].filter(([, sum]) => sum !== 0).map(([pair]) => BigInt(pair.split(" ")[0]!));
    yield* say("index-differs", "with objects that the other index does not have", loose);
  }

  #pair(relationship: string, id: bigint, object: bigint, by: 1 | -1): void {
    const pair = `${id} ${object} ${relationship}`;
    const sum = (this.#pairs.get(pair) ?? 0) + by;
    if (sum === 0) this.#pairs.delete(pair);
    else this.#pairs.set(pair, sum);
  }

  #sum(list: Annotations, row: number): number {
    if (this.#sums?.of !== list) {
      const { bytes, starts } = encodeRecords(list, this.#form);
      this.#sums = {
        of: list,
        sums: Array.from(list.ids, (_, i) => murmur3(bytes.subarray(starts[i]!, starts[i + 1]!))[0]),
      };
    }
    return this.#sums.sums[row]!;
  }
}
