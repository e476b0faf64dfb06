/** What `octavo tree` is asked about: a `.ptree` file, a packed tree alone, or particles of another kind. */
import { InvalidInput, NotFound } from "../errors.js";
import { openNpy } from "../format/interchange/npy-rows.js";
import { isMagic, MAGIC } from "../format/packed-tree/file/magic.js";
import { TreeHeader } from "../format/packed-tree/header.js";
import { TreeBox, type Triple } from "../format/packed-tree/index.js";
import { typed } from "../model/elements.js";
import type { Positions } from "../model/vectors.js";
import { openLocation } from "../node.js";
import type { Key } from "../store/key.js";
import type { Store } from "../store/types.js";
import { findPlace } from "./source.js";
import type { TreeOptions } from "./tree.js";
import type { Session } from "./verb.js";

export type Place = TreePlace | OtherPlace;

/** A file with a tree in it. */
export interface TreePlace {
  readonly kind: "ptree" | "tree";
  readonly url: string;
  readonly store: Store;
  readonly file: Key;
}

/** Whatever else is there. */
export interface OtherPlace {
  readonly kind: "other";
  readonly url: string;
  readonly store: Store;
  readonly file: Key | undefined;
}

export async function placeAt(url: string, options: TreeOptions, session: Session): Promise<Place> {
  const { signal } = session;
  const { store, file } = await findPlace(url, { ...options, as: undefined }, session);
  if (file === undefined) return { store, file, url, kind: "other" };
  const stat = await store.stat(file, { signal });
  if (stat === undefined) throw new NotFound(`${url} is not there`, { where: url });
  if (stat.size < MAGIC.length) return { store, file, url, kind: "tree" };
  const start = (await store.get(file, { signal, range: { offset: 0, length: MAGIC.length } }))!;
  const kind = isMagic(start, 0) ? "ptree" : TreeHeader.endianOf(start) !== undefined ? "tree" : "other";
  return { store, file, url, kind };
}

/** The positions in an .npy file, n × 3 floats. */
export async function positionsAt(url: string, { signal }: Session): Promise<Positions> {
  const { store, file } = await openLocation(url, { signal });
  if (file === undefined) throw new NotFound(`${url} is not there, or no file`, { where: url });
  const { shape, dtype, read } = await openNpy(store, file, { signal });
  if (shape.length !== 2 || shape[1] !== 3 || dtype.kind !== "float" || dtype.size === 2)
    throw new InvalidInput(
      `${url} should be an array of n × 3 float32 or float64, found ${dtype.kind} of ${shape.join(" × ")}`,
    );
  return typed(await read(0, shape[0]!, { signal })) as Positions;
}

/** The box that --box says, by its corners. */
export function boxOf({ box }: TreeOptions): TreeBox | undefined {
  if (box === undefined) return undefined;
  if (box.length !== 6) throw new InvalidInput(`--box should be six numbers, found ${box.length}`);
  const size = [0, 1, 2].map((axis) => box[axis + 3]! - box[axis]!);
  return TreeBox.check({ origin: box.slice(0, 3) as unknown as Triple, size: size as unknown as Triple });
}
