/** The answers to items in their order, `lanes` of them under way at a time: what comes next is fetched while this one is used. */
export async function* ahead<T, R>(
  items: Iterable<T>,
  lanes: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const underWay: Promise<R>[] = [];
  try {
    for (const item of items) {
      const next = work(item);
      next.catch(() => {}); // it is thrown when its turn comes
      underWay.push(next);
      if (underWay.length >= lanes) yield await underWay.shift()!;
    }
    while (underWay.length > 0) yield await underWay.shift()!;
  } finally {
    await Promise.allSettled(underWay); // nothing goes on behind the caller's back
  }
}
