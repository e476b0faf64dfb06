/** One promise of the reliability table, and the program that tries to break it. */
export type Scale = "push" | "proof";

export interface Outcome {
  /** What was tried, in numbers: "10,000 flips". */
  readonly tried: string;
  /** What broke the promise; empty is good. */
  readonly broken: readonly string[];
  /** What a reader of the table should know. */
  readonly note?: string;
}

export interface Row {
  readonly id: string;
  readonly promise: string;
  run(scale: Scale): Promise<Outcome>;
}

export const many = (n: number): string => n.toLocaleString("en-US");
