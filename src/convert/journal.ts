/** Work in a store that is there whole, or not at all: a journal marks it while it is under way, and what fails is taken back. */
import { JOURNAL } from "../format/zarr/room.js";
import { Key, type Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";

export async function journaled<T>(
  store: Store,
  at: Prefix,
  signal: AbortSignal | undefined,
  work: () => Promise<T>,
  takeBack: () => Promise<unknown>,
): Promise<T> {
  const journal = Key.join(at, JOURNAL);
  const cleans = store.can.conditional; // a zip file under way is thrown away as a whole
  if (cleans) await store.set(journal, new Uint8Array(), { signal });
  try {
    const result = await work();
    if (cleans) await store.delete(journal, { signal });
    return result;
  } catch (error) {
    if (cleans) await takeBack().catch(() => undefined); // the first error is what happened
    throw error;
  }
}
