/** The verbs there are, in the order of help. Each is loaded when it is called for; `octavo --help` loads none. */
import type { Verb } from "./verb.js";

export interface Entry {
  readonly name: string;
  /** What follows the name: "IN OUT"; "[X]" may be left out. */
  readonly operands: string;
  readonly summary: string;
  load(): Promise<Verb>;
}

export const verbs: readonly Entry[] = [
  {
    name: "completion",
    operands: "bash|zsh|fish",
    summary: "a completion script for your shell",
    load: async () => (await import("./completion.js")).completion,
  },
];
