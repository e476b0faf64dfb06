/** The first address after the tables that the loops keep for themselves. */
export function start(): usize {
  return __heap_base;
}
