/**
 * Feeds a decoder damaged bytes and watches it. For each input one thing may happen within 250 ms: a value, or one of
 * Octavo's errors; and no more memory than the target's own cap and 64 MiB on top. Anything else is a find.
 */
import { OctavoError } from "../../src/errors.js";
import { mutate, random } from "./mutate.js";

export interface Target {
  readonly name: string;
  /** Bytes that one call may allocate by the limits that it is given. */
  readonly cap: number;
  load(): Promise<Decoder>;
}

export interface Decoder {
  /** Good bytes; the driver insists that they decode. */
  readonly seeds: readonly Uint8Array[];
  run(bytes: Uint8Array): unknown;
  /** A way to damage these seeds that gets further than changing bytes; takes every second run. */
  readonly mutate?: typeof mutate;
}

export interface Find {
  readonly run: number;
  readonly problem: string;
  readonly bytes: Uint8Array;
}

export interface Report {
  readonly runs: number;
  /** How many inputs decoded all the same; the others were refused. */
  readonly accepted: number;
  readonly slowest: number;
  readonly finds: readonly Find[];
}

export interface FuzzOptions {
  readonly runs: number;
  readonly seed: number;
  /** Called before each run, so that somebody else can tell which one does not return. */
  readonly onRun?: (run: number) => void;
}

const MILLISECONDS = 250;
const SPARE_BYTES = 64 << 20;
const ENOUGH = 20; // finds; one mistake is usually met many times

export async function fuzz(target: Target, { runs, seed, onRun }: FuzzOptions): Promise<Report> {
  const decoder = await target.load();
  if (decoder.seeds.length === 0) throw new Error(`${target.name} has no seeds`);
  for (const [i, bytes] of decoder.seeds.entries()) {
    try {
      await decoder.run(bytes.slice());
    } catch (cause) {
      throw new Error(`${target.name}: seed ${i} should decode, but: ${cause}`, { cause });
    }
  }
  const finds: Find[] = [];
  let accepted = 0;
  let slowest = 0;
  let run = 0;
  for (; run < runs && finds.length < ENOUGH; run++) {
    onRun?.(run);
    const bytes = inputOf(decoder, seed, run);
    const outcome = await observe(target, decoder, bytes);
    if (outcome.accepted) accepted++;
    slowest = Math.max(slowest, outcome.milliseconds);
    if (outcome.problem !== undefined) finds.push({ run, problem: outcome.problem, bytes });
  }
  return { runs: run, accepted, slowest, finds };
}

/** The input of one run: always the same for the same seed and number. */
export function inputOf({ seeds, mutate: special }: Decoder, seed: number, run: number): Uint8Array {
  const dice = random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(run + 1, 0x85ebca77));
  const damage = special !== undefined && run % 2 === 1 ? special : mutate;
  return damage(seeds[dice.below(seeds.length)]!, seeds[dice.below(seeds.length)]!, dice);
}

export interface Outcome {
  readonly accepted: boolean;
  readonly milliseconds: number;
  /** What must not happen and did. */
  readonly problem: string | undefined;
}

export async function observe(target: Target, decoder: Decoder, bytes: Uint8Array): Promise<Outcome> {
  let outcome = await once(target, decoder, bytes);
  // A machine with other work to do is slow by itself: only what is slow three times is slow.
  for (let again = 0; again < 2 && outcome.problem === undefined && outcome.milliseconds > MILLISECONDS; again++) {
    outcome = await once(target, decoder, bytes);
  }
  if (outcome.problem !== undefined || outcome.milliseconds <= MILLISECONDS) return outcome;
  return { ...outcome, problem: `took ${Math.round(outcome.milliseconds)} ms` };
}

async function once(target: Target, decoder: Decoder, bytes: Uint8Array): Promise<Outcome> {
  const input = bytes.slice(); // a decoder that writes into its input would change what is kept of a find
  const before = process.memoryUsage();
  const start = performance.now();
  let accepted = true;
  let problem: string | undefined;
  try {
    const value = decoder.run(input);
    if (value instanceof Promise) await value;
  } catch (error) {
    accepted = false;
    if (!(error instanceof OctavoError))
      problem = error instanceof Error ? (error.stack ?? `${error}`) : `threw ${error}`;
  }
  const milliseconds = performance.now() - start;
  const after = process.memoryUsage();
  // Memory that nobody touched does not show in the resident set, memory inside WebAssembly not among the buffers.
  const grown = Math.max(after.rss - before.rss, after.arrayBuffers - before.arrayBuffers);
  if (problem === undefined && grown > target.cap + SPARE_BYTES) problem = `took ${grown >> 20} MiB`;
  return { accepted, milliseconds, problem };
}
