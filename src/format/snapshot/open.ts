/** What is in an HDF5 file: a snapshot, or Cubes and the particles that they are about. */
import type { VectorDataset } from "../../model/vectors.js";
import type { Key } from "../../store/key.js";
import type { Store } from "../../store/types.js";
import { snapshotDataset } from "./dataset.js";
import type { SourceOptions } from "./hdf5-source.js";
import { openSnapshot } from "./snapshot.js";

/** The particles in a file, of one type. */
export async function openParticles(
  store: Store,
  key: Key,
  type: string | undefined,
  options: SourceOptions = {},
): Promise<VectorDataset> {
  return snapshotDataset(await openSnapshot(store, key, options), type, options);
}
