/**
 * Many small waits at once, but never more than `limit`. The first failure stops the taking of new items; what is already
 * under way is waited for, so that nothing goes on behind the caller's back.
 */
export async function forEachConcurrent<T>(
  items: Iterable<T>,
  limit: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const iterator = items[Symbol.iterator]();
  let failed = false;
  const lane = async (): Promise<void> => {
    while (!failed) {
      const next = iterator.next();
      if (next.done === true) return;
      try {
        await work(next.value);
      } catch (error) {
        failed = true;
        throw error;
      }
    }
  };
  const lanes = Array.from({ length: limit }, lane);
  await Promise.allSettled(lanes);
  await Promise.all(lanes);
}
