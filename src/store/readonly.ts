/** A store that is only read, whatever it could do. */
import type { Store } from "./types.js";
import { withoutWriting, wrap } from "./wrap.js";

/** The store without its writing half: every write is Unsupported. */
export function readonlyStore(store: Store): Store {
  return wrap(store, { can: { ...store.can, write: false, conditional: false }, ...withoutWriting(store.url) });
}
