/** Changes of several files, together where the store can do that, else one after the other. */
import type { Prefix } from "../../store/key.js";
import { Transaction } from "../../store/transaction.js";
import type { Store } from "../../store/types.js";

/** Does the work in a transaction, as often as others come in between; directly where the store cannot, or must not. */
export async function together<T>(
  store: Store,
  at: Prefix,
  options: { readonly transaction?: boolean | undefined; readonly signal?: AbortSignal | undefined },
  work: (store: Store) => Promise<T>,
): Promise<T> {
  if (options.transaction === false || !store.can.conditional) return work(store);
  return (await Transaction.run(store, at, work, { signal: options.signal })).result;
}
