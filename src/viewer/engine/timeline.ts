/** What happened when, for people who want to know why something takes long: looks, reads, pieces and memory. */
export interface Entry {
  /** Milliseconds since the engine began. */
  readonly at: number;
  readonly what: "look" | "read" | "piece" | "drop" | "error";
  readonly level?: number | undefined;
  readonly chunks?: number | undefined;
  readonly vertices?: number | undefined;
  /** Of pieces: what is in memory since then. */
  readonly bytes?: number | undefined;
}

const KEPT = 2000;

export class Timeline {
  readonly #began = performance.now();
  readonly #entries: Entry[] = [];
  #count = 0;

  add(what: Entry["what"], about: Omit<Entry, "at" | "what">): void {
    this.take([{ at: Math.round(performance.now() - this.#began), what, ...about }]);
  }

  /** As they happened elsewhere. */
  take(entries: readonly Entry[]): void {
    this.#entries.push(...entries);
    this.#count += entries.length;
    if (this.#entries.length > KEPT) this.#entries.splice(0, this.#entries.length - KEPT / 2);
  }

  /** How many there were. */
  get count(): number {
    return this.#count;
  }

  /** The latest, oldest first; of those after the first so many. */
  entries(after = 0): readonly Entry[] {
    return this.#entries.slice(Math.max(0, after - this.#count + this.#entries.length));
  }
}
