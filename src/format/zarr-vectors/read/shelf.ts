/**
 * What was decoded and may be asked for again: tiles and pages of manifests of all levels together, the least recently used first
 * out, so that one number (`limits.keptBytes`) bounds what an opened store holds.
 */
export class Shelf {
  readonly #things = new Map<object, { readonly bytes: number; readonly forget: () => void }>();
  #bytes = 0;

  /** Takes a thing away, if it is here. */
  take(thing: object): void {
    this.#bytes -= this.#things.get(thing)?.bytes ?? 0;
    this.#things.delete(thing);
  }

  /** Keeps a thing, and forgets the oldest others where all of them are more than `most` bytes. */
  put(thing: object, bytes: number, forget: () => void, most: number): void {
    this.take(thing);
    this.#things.set(thing, { bytes, forget });
    this.#bytes += bytes;
    for (const [old, own] of this.#things) {
      if (this.#bytes <= most || old === thing) return;
      this.take(old);
      own.forget();
    }
  }
}
