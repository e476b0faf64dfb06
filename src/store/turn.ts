/**
 * Turns of the event loop. What reads from this machine's own disk or memory waits for nothing, so that a long piece of work would be one
 * task: meanwhile no request is answered, no signal arrives, no key is heard. Loops over chunks ask here whether it is time to give way:
 *
 *     if (heldLong()) await nextTurn();
 */

const LONG = 25; // ms

let last = 0;
let next: Promise<void> | undefined;

/** Whether the thread has been held for long, or somebody waits for its next turn already. */
export const heldLong = (): boolean => next !== undefined || performance.now() - last >= LONG;

/** Resolves when everything else that was ready has had its turn. */
export function nextTurn(): Promise<void> {
  next ??= new Promise((go) =>
    afterThisTask(() => {
      next = undefined;
      last = performance.now();
      go();
    }),
  );
  return next;
}

/** Not setTimeout, which browsers slow down to a second in a tab that nobody looks at. */
export function afterThisTask(work: () => void): void {
  if (typeof setImmediate === "function") return void setImmediate(work);
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    work();
  };
  port2.postMessage(0);
}
