/**
 * One request for many callers. Whoever joins may leave by its own signal without harm to the others; when everybody has
 * left, the request itself is aborted.
 */
import { onAbort } from "../signal.js";

export interface Shared<T> {
  join(signal: AbortSignal | undefined): Promise<T>;
  /** Everybody has left: nobody should join any more. */
  readonly abandoned: boolean;
}

export function share<T>(start: (signal: AbortSignal) => Promise<T>): Shared<T> {
  const controller = new AbortController();
  const request = Promise.resolve().then(() => start(controller.signal));
  request.catch(() => {}); // everybody may have left before it fails
  let waiting = 0;

  return {
    get abandoned() {
      return controller.signal.aborted;
    },
    join(signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      waiting++;
      if (signal === undefined) return request;
      return new Promise<T>((done, fail) => {
        const stay = onAbort(signal, () => {
          fail(signal.reason);
          if (--waiting === 0) controller.abort(signal.reason);
        });
        request.then(done, fail).finally(stay);
      });
    },
  };
}
