/**
 * `fragment_attributes/object_id`: whose each fragment of a chunk is.
 *
 * | int64 | meaning                                                                                             |
 * |-------|-----------------------------------------------------------------------------------------------------|
 * | ≥ 0   | the id of the one object whose manifest names the fragment, once                                    |
 * | −1    | nobody's                                                                                            |
 * | −2    | manifests name it more than once: those of several objects, or that of a path that comes back to it |
 */
export const NOBODY = -1;
export const SEVERAL = -2;

/** The owner of a fragment that had `before`, when one more manifest names it; both are rows, or the numbers above. */
export const alsoOf = (before: number, row: number): number => (before === NOBODY ? row : SEVERAL);
