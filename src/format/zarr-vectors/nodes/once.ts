/** What many ask for is loaded once. Failures are not kept: who asks later gets another try. */
import type { ReadOptions } from "../../../model/dataset.js";
import { type Shared, share } from "../../../store/share.js";

/** `load` by key; whoever asks meanwhile waits for the same, and may leave by its own signal. */
export function oncePerKey<T>(
  load: (key: string, signal: AbortSignal) => Promise<T>,
): (key: string, signal: AbortSignal | undefined) => Promise<T> {
  const known = new Map<string, Shared<T>>();
  return (key, signal) => {
    let shared = known.get(key);
    if (shared === undefined || shared.abandoned) {
      const own = share((end) => load(key, end));
      known.set(key, own);
      own.join(undefined).catch(() => known.get(key) === own && known.delete(key));
      shared = own;
    }
    return shared.join(signal);
  };
}

/** One value; the first caller's limits hold. */
export function once<T>(load: (options: ReadOptions) => Promise<T>): (options?: ReadOptions) => Promise<T> {
  let limits: ReadOptions["limits"];
  const loaded = oncePerKey((_, signal) => load({ signal, limits }));
  return (options) => {
    limits ??= options?.limits;
    return loaded("", options?.signal);
  };
}
