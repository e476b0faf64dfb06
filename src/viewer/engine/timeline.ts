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

  add(what: Entry["what"], about: Omit<Entry, "at" | "what">): void {
    this.#entries.push({ at: Math.round(performance.now() - this.#began), what, ...about });
    if (this.#entries.length > KEPT) this.#entries.splice(0, KEPT / 2);
  }

  /** The latest, oldest first. */
  entries(): readonly Entry[] {
    return this.#entries;
  }
}
