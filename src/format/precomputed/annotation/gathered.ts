/**
 * Annotations on their way into the indexes of a collection, in bounded memory: by their ids, by the objects that they belong to,
 * and in the random order that the spatial index takes them in. What does not fit is put aside.
 *
 * | row                    | bytes                                                          |
 * |------------------------|----------------------------------------------------------------|
 * | by id                  | the value itself: record, objects of each relationship          |
 * | by object, by order    | id of 8 bytes, record                                           |
 */
import { murmur3OfWords } from "../../../bytes/hash/murmur3.js";
import { U64 } from "../../../bytes/u64.js";
import { InvalidInput } from "../../../errors.js";
import { wordsOf } from "../sharded/place.js";
import { extent } from "./cells.js";
import type { Grouped } from "./grouped.js";
import { type Annotations, encodeRecords, putOne, type RecordForm, sizeOfOne } from "./list.js";

export interface Gathering {
  /** Checks a batch and takes it in; InvalidInput where it does not fit, and then nothing of it is taken. */
  add(annotations: Annotations): Promise<void>;
  readonly byId: Grouped;
  /** For each relationship. */
  readonly byObject: readonly Grouped[];
  readonly byOrder: Grouped;
  /** The corners of what all of them take; nothing where there are none. */
  readonly lower: number[];
  readonly upper: number[];
  /** When nothing is being taken in; whether all of it came in whole. */
  settled(): Promise<boolean>;
}

/** `seed` is that of the random order. */
export function gathering(form: RecordForm, seed: number, group: (order?: "any" | "ascending") => Grouped): Gathering {
  const { type, dimensions, relationships } = form.info;
  const rank = dimensions.length;
  const byId = group();
  const byOrder = group("ascending");
  const byObject = relationships.map(() => group());
  const lower: number[] = new Array(rank).fill(Number.POSITIVE_INFINITY);
  const upper: number[] = new Array(rank).fill(Number.NEGATIVE_INFINITY);
  const hash = new Uint32Array(2);
  let room = new Uint8Array(1024);
  let last: Promise<void> = Promise.resolve();
  let whole = true;

  async function add(annotations: Annotations): Promise<void> {
    const { ids, points, offsets } = annotations;
    const records = encodeRecords(annotations, form);
    if (!points.every(Number.isFinite))
      throw new InvalidInput("annotations should have finite coordinates: others are in no cell of a spatial index");
    const related = relationships.map(({ id }) => objectsOf(annotations, id));
    const before = whole;
    whole = false; // until all of it is in
    const words = wordsOf(ids);
    for (let i = 0; i < ids.length; i++) {
      const [low, high] = [words[2 * i]!, words[2 * i + 1]!];
      const own = related.map((objects) => objects(i));
      const record = records.bytes.subarray(records.starts[i]!, records.starts[i + 1]!);
      const size = 8 + sizeOfOne(record, own);
      if (size > room.length) room = new Uint8Array(2 * size); // used again for all: what is freed is not at once free
      U64.set(room, 0, ids[i]!);
      putOne(room, 8, record, own);
      const row = room.subarray(0, 8 + record.length);
      await byId.add(low, high, room.subarray(8, size));
      murmur3OfWords((low ^ seed) >>> 0, high, hash);
      await byOrder.add(hash[1]!, hash[0]!, row);
      for (const [r, objects] of own.entries()) {
        // An annotation that names an object twice is there once.
        for (const object of new Set(objects))
          await byObject[r]!.add(Number(object & 0xffffffffn), Number(object >> 32n), row);
      }
      const [min, max] = extent(type, points, offsets[i]!, offsets[i + 1]!, rank);
      for (let axis = 0; axis < rank; axis++) {
        lower[axis] = Math.min(lower[axis]!, min[axis]!);
        upper[axis] = Math.max(upper[axis]!, max[axis]!);
      }
    }
    whole = before;
  }

  return {
    ...{ byId, byObject, byOrder, lower, upper },
    add(annotations) {
      const mine = last.then(() => add(annotations)); // one after the other, also where nobody waits
      last = mine.catch(() => {});
      return mine;
    },
    async settled() {
      await last;
      return whole;
    },
  };
}

/** The objects of each annotation by a relationship. */
function objectsOf({ ids, related }: Annotations, id: string): (row: number) => BigUint64Array {
  const own = related?.get(id);
  if (own === undefined) return () => NONE;
  if (own.offsets.length !== ids.length + 1 || own.offsets[ids.length] !== own.ids.length)
    throw new InvalidInput(
      `the relationship ${id} should have ${ids.length + 1} offsets into its ids, found ${own.offsets.length} into ${own.ids.length}`,
    );
  return (row) => own.ids.subarray(own.offsets[row]!, own.offsets[row + 1]!);
}

const NONE = new BigUint64Array();
