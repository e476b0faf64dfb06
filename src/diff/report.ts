/** What a comparison has to say: everything is counted, and the first places of each kind of difference are told. */

/** What may differ. */
export type Kind =
  | "geometry"
  | "space"
  | "levels"
  | "objects"
  | "vertices"
  | "positions"
  | "links"
  | "attributes"
  | "values"
  | "groups"
  | "shape"
  | "elements";

/** One place where two datasets differ. */
export interface Difference {
  readonly kind: Kind;
  /** "level 0, object 12, vertex 3". */
  readonly where: string;
  /** One sentence: what the first has, and what the second. */
  readonly message: string;
}

/** Whether two datasets hold the same. */
export interface DiffReport {
  readonly equal: boolean;
  /** The first places of each kind. */
  readonly differences: readonly Difference[];
  /** How many there are of each kind. */
  readonly counts: { readonly [K in Kind]?: number };
  /** What is not the same and no difference of the data: types that hold the same values, coordinates within the tolerance. */
  readonly notes: readonly string[];
  readonly compared: { readonly levels: number; readonly objects: number; readonly vertices: number };
}

/** Takes differences. */
export class Findings {
  readonly differences: Difference[] = [];
  readonly counts: { [K in Kind]?: number } = {};
  readonly notes = new Set<string>();
  readonly compared = { levels: 0, objects: 0, vertices: 0 };
  /** How far coordinates are from each other that were taken for the same. */
  furthest = 0;
  readonly #most: number;

  constructor(most: number) {
    this.#most = most;
  }

  /** `message` is asked for when it is told. */
  tell(kind: Kind, where: string, message: () => string, times = 1): void {
    const before = this.counts[kind] ?? 0;
    this.counts[kind] = before + times;
    if (before < this.#most) this.differences.push({ kind, where, message: message() });
  }

  report(): DiffReport {
    const { differences, counts, notes, compared, furthest } = this;
    if (furthest > 0) notes.add(`coordinates are up to ${Number(furthest.toPrecision(3))} apart`);
    const equal = Object.keys(counts).length === 0; // of what is not told as well
    return { equal, differences, counts, notes: [...notes], compared };
  }
}
