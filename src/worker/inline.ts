/** No workers: where there are none, and where a caller has none to give. */
import type { Pool } from "./pool.js";

/** The same tasks on the caller's own thread. */
export const inlinePool: Pool = {
  size: 0,
  async run(task, payload, options) {
    options?.signal?.throwIfAborted();
    const { tasks } = await import("./tasks.js");
    return (tasks[task] as (payload: unknown) => never)(payload);
  },
  async close() {},
};
