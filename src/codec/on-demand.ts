/**
 * Code that only a chunk itself asks for. Decoding waits for nothing, so a decoder that meets such a chunk throws, and the
 * error knows how to load what is missing; whoever waits anyway, around the chunk, loads it and decodes once more.
 */
import { Unsupported } from "../errors.js";

const loaders = new WeakMap<object, () => Promise<void>>();

/** The error to throw; after `load` the same call succeeds, or fails for another reason. */
export function missingCode(message: string, load: () => Promise<void>): Unsupported {
  const error = new Unsupported(message);
  loaders.set(error, load);
  return error;
}

export const isMissingCode = (error: unknown): boolean => loaders.has(Object(error));

/** Does what decodes chunks; again, where code had to be loaded first. */
export async function withMissingCode<T>(work: () => T | Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const load = loaders.get(Object(error));
      if (load === undefined) throw error;
      await load();
    }
  }
}
