/** Geometry at a place, or a sentence that says that it is none. */
import { InvalidInput } from "../errors.js";
import type { VectorDataset } from "../model/vectors.js";
import type { Source } from "./source.js";

export async function vectorsAt({ match }: Pick<Source, "match">, url: string): Promise<VectorDataset> {
  const dataset = await match.open();
  if (dataset.kind === "vectors") return dataset;
  throw new InvalidInput(`${url} is a ${match.summary}: objects can only be changed in geometry`);
}
