/** Many pieces come at once: what is drawn changes a few times a second. */
export interface Soon {
  /** Once, however often it is asked for. */
  soon(): void;
  /** At once, and not again for what was to come soon. */
  now(): void;
  cancel(): void;
}

const SOON = 50; // ms

export function soonOf(call: () => void): Soon {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = (): void => {
    clearTimeout(timer);
    timer = undefined;
  };
  const now = (): void => {
    cancel();
    call();
  };
  return {
    soon() {
      timer ??= setTimeout(now, SOON);
    },
    now,
    cancel,
  };
}
