/**
 * Listening to a signal that thousands of operations share. Each signal gets one real listener: with one per operation Node
 * warns of a leak from the eleventh on.
 */
const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/** Calls once when the signal is aborted; what comes back takes that away again. */
export function onAbort(signal: AbortSignal | undefined, call: () => void): () => void {
  if (signal === undefined) return () => {};
  const calls = listeners.get(signal) ?? listen(signal);
  const own = () => call();
  calls.add(own);
  return () => void calls.delete(own);
}

function listen(signal: AbortSignal): Set<() => void> {
  const calls = new Set<() => void>();
  listeners.set(signal, calls);
  const all = () => {
    for (const call of calls) call();
    calls.clear();
  };
  signal.addEventListener("abort", all, { once: true });
  return calls;
}
