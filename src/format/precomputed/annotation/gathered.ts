/** Annotations that come in batches, gathered into one list of records, with the objects that each belongs to. */
import { concat } from "../../../bytes/concat.js";
import { radixOrder } from "../../../bytes/radix.js";
import { InvalidInput } from "../../../errors.js";
import { wordsOf } from "../sharded/place.js";
import type { AnnotationInfo } from "./info.js";
import { type Annotations, encodeRecords, type RecordForm, type Records } from "./list.js";

/** All of them. */
export interface Gathered extends Pick<Annotations, "ids" | "points" | "offsets"> {
  readonly records: Records;
  /** For each relationship, for each annotation, the objects. */
  readonly related: readonly (readonly BigUint64Array[])[];
}

/** Checks a batch, and makes its records; InvalidInput where it does not fit. */
export function gatherBatch(annotations: Annotations, form: RecordForm): Gathered {
  const { ids, points, offsets } = annotations;
  const records = encodeRecords(annotations, form);
  if (!points.every(Number.isFinite))
    throw new InvalidInput("annotations should have finite coordinates: others are in no cell of a spatial index");
  const related = form.info.relationships.map(({ id }) => {
    const own = annotations.related?.get(id);
    if (own === undefined) return Array.from(ids, () => NONE);
    if (own.offsets.length !== ids.length + 1 || own.offsets[ids.length] !== own.ids.length)
      throw new InvalidInput(
        `the relationship ${id} should have ${ids.length + 1} offsets into its ids, found ${own.offsets.length} into ${own.ids.length}`,
      );
    return Array.from(ids, (_, i) => own.ids.slice(own.offsets[i]!, own.offsets[i + 1]!));
  });
  return { ids: ids.slice(), points: points.slice(), offsets: offsets.slice(), records, related };
}

const NONE = new BigUint64Array();

/** The batches as one; InvalidInput where an id comes twice. */
export function gatherAll(batches: readonly Gathered[], relationships: AnnotationInfo["relationships"]): Gathered {
  const ids = joined(
    batches.map((own) => own.ids),
    BigUint64Array,
  );
  const points = joined(
    batches.map((own) => own.points),
    Float32Array,
  );
  const offsets = new Uint32Array(ids.length + 1);
  const starts = new Float64Array(ids.length + 1);
  let [row, point, byte] = [0, 0, 0];
  for (const own of batches) {
    for (let i = 0; i < own.ids.length; i++) {
      offsets[row + i + 1] = point + own.offsets[i + 1]!;
      starts[row + i + 1] = byte + own.records.starts[i + 1]!;
    }
    row += own.ids.length;
    point = offsets[row]!;
    byte = starts[row]!;
  }
  refuseRepeats(ids);
  return {
    ids,
    points,
    offsets,
    records: { bytes: concat(batches.map((own) => own.records.bytes)), starts },
    related: relationships.map((_, r) => batches.flatMap((own) => own.related[r]!)),
  };
}

function joined<T extends BigUint64Array | Float32Array>(pieces: readonly T[], Type: new (length: number) => T): T {
  const out = new Type(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    (out as Float32Array).set(piece as Float32Array, at);
    at += piece.length;
  }
  return out;
}

function refuseRepeats(ids: BigUint64Array): void {
  const words = wordsOf(ids);
  const half = (which: 0 | 1) => Uint32Array.from(ids, (_, i) => words[2 * i + which]!);
  const order = radixOrder([half(0), half(1)], ids.length);
  for (let i = 1; i < order.length; i++)
    if (ids[order[i]!] === ids[order[i - 1]!])
      throw new InvalidInput(`the annotation ${ids[order[i]!]} comes twice, but an id may come once`);
}
