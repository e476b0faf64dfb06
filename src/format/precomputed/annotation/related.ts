/**
 * What annotations are related to, as attributes of points and of objects: the ids of each relationship, as many channels as the annotation has that is related to
 * most; 2^64 − 1 is none (attributes of points have no other way to say so). They are stored with each annotation under its id only, and all of them are looked at once to know how many.
 */
import { U64 } from "../../../bytes/u64.js";
import { Unsupported } from "../../../errors.js";
import type { AttributeInfo, Column } from "../../../model/attributes.js";
import type { ReadOptions } from "../../../model/dataset.js";
import type { Columns } from "../../../model/vectors.js";
import { present } from "../ids.js";
import { type Annotations, parseOne } from "./list.js";
import type { AnnotationCollection } from "./read.js";

export interface Relations {
  readonly infos: readonly AttributeInfo[];
  /** A row for each of these annotations, which were read one by one, by their ids. */
  columns(annotations: readonly Annotations[]): Columns;
  /** A row for each of the annotations with these ids. */
  read(ids: BigUint64Array, options: ReadOptions): Promise<Columns>;
}

/** `names`: what the attributes are called, in the order of relationships. */
export async function relationsOf(
  { info, url, form, byId }: AnnotationCollection,
  names: readonly string[],
  options: ReadOptions,
): Promise<Relations> {
  const keys = info.relationships.map(({ id }) => id);
  const parse = (bytes: Uint8Array | undefined, id: bigint): Annotations => {
    const where = `${url}, annotation ${id}`;
    return parseOne(present(bytes, where), id, form, where);
  };
  const most = keys.map(() => 1);
  const least = keys.map(() => Number.POSITIVE_INFINITY);
  for await (const { ids, values } of byId.values.entries(options))
    for (let row = 0; row < ids.length; row++) {
      const { related } = parse(values[row], ids[row]!);
      for (const [i, key] of keys.entries()) {
        const own = related!.get(key)!.ids;
        most[i] = Math.max(most[i]!, own.length);
        least[i] = Math.min(least[i]!, own.length);
        if (own.includes(U64.MAX))
          throw new Unsupported(`${url}: annotation ${ids[row]} has ${key} ${U64.MAX}, which stands for none here`, {
            where: url,
          });
      }
    }
  const infos = names.map(
    (name, i): AttributeInfo => ({
      name,
      dtype: { kind: "uint", size: 8, endian: "little" },
      channels: most[i]!,
      ...(info.type !== "point" && least[i]! < most[i]! && { absent: U64.MAX }),
    }),
  );
  const columns = (annotations: readonly Annotations[]): Columns =>
    new Map(
      infos.map((own, i): [string, Column] => {
        const values = new BigUint64Array(annotations.length * own.channels).fill(U64.MAX);
        for (const [row, { related }] of annotations.entries())
          values.set(related!.get(keys[i]!)!.ids, row * own.channels);
        return [own.name, { info: own, values }];
      }),
    );
  return {
    infos,
    columns,
    async read(ids, now) {
      const found: Annotations[] = new Array(ids.length);
      for await (const { rows, values } of byId.values.getMany(ids, now))
        for (let i = 0; i < rows.length; i++) found[rows[i]!] = parse(values[i], ids[rows[i]!]!);
      return columns(found);
    },
  };
}
