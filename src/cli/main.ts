/**
 * The command: finds the verb, loads it alone, and turns what becomes of it into an exit code.
 *
 * | code | when                                                                                            |
 * |------|-------------------------------------------------------------------------------------------------|
 * | 0    | done, valid, equal; also when nothing matched                                                   |
 * | 1    | `validate` found errors or could not check all; what was asked for by name is not there         |
 * | 2    | the call is wrong: InvalidInput, or Conflict with what already exists                           |
 * | 3    | the data cannot be read (or written): NotFound, Corrupt, Unsupported, LimitExceeded, or a bug   |
 * | 4    | interrupted; writers commit at the end, so nothing half-written is visible                      |
 */
import { InvalidInput, OctavoError } from "../errors.js";
import { nearest, parse } from "./args.js";
import { createOutput, type Output, visible } from "./output.js";
import { createReport } from "./progress.js";
import { common, type ExitCode } from "./verb.js";
import { type Entry, verbs } from "./verbs.js";

declare const OCTAVO_VERSION: string; // scripts/build.mjs puts it in

async function main(args: readonly string[]): Promise<ExitCode> {
  const [name = "--help", ...rest] = args;
  if (["--help", "-h", "help"].includes(name) && rest.length === 0) {
    const { overview } = await import("./help.js");
    process.stdout.write(`${overview(OCTAVO_VERSION)}\n`);
    return args.length === 0 ? 2 : 0;
  }
  if (["--version", "-V", "version"].includes(name)) {
    process.stdout.write(`${OCTAVO_VERSION}\n`);
    return 0;
  }
  if (name === "help") return main([...rest, "--help"]);
  const entry = verbs.find((known) => known.name === name);
  if (entry !== undefined) return run(entry, rest);
  const at = args.findIndex((arg) => !arg.startsWith("-")); // flags may stand before the verb
  if (at > 0 && verbs.some((known) => known.name === args[at])) {
    return main([args[at]!, ...args.slice(0, at), ...args.slice(at + 1)]);
  }
  if (name.startsWith("-")) throw new InvalidInput(`the verb comes first: octavo VERB ${name} …`);
  const names = verbs.map((known) => known.name);
  throw new InvalidInput(`there is no verb ${JSON.stringify(name)}`, {
    hint: nearest(name, names).hint ?? `the verbs are ${names.join(", ")}`,
  });
}

async function run(entry: Entry, args: readonly string[]): Promise<ExitCode> {
  const verb = await entry.load();
  if (args.includes("--help") || args.includes("-h")) {
    const { page } = await import("./help.js");
    process.stdout.write(`${page(entry, verb)}\n`);
    return 0;
  }
  const { options, operands } = parse({ ...verb.options, ...common }, args);
  const { json, progress }: Readonly<Record<string, unknown>> = options; // of those verbs that have them
  checkOperands(entry, operands);

  output = createOutput(
    {
      json: json === true,
      quiet: options.quiet,
      verbose: options.verbose,
      color: !options["no-color"] && !noColor(),
    },
    process.stdout,
    process.stderr,
  );
  const line = progress !== "none" && process.stderr.isTTY && !options.quiet;
  const mode = progress === "json" ? "json" : line ? "line" : "none";
  const report = createReport(mode, (text) => void process.stderr.write(text));
  const interrupted = new AbortController();
  const interrupt = (): void => {
    if (interrupted.signal.aborted) process.exit(4); // the second time, whatever is still going on
    interrupted.abort(new Interrupted());
  };
  process.on("SIGINT", interrupt);
  process.on("SIGTERM", interrupt);
  try {
    return await verb.run(operands, options, { output, signal: interrupted.signal, report });
  } catch (error) {
    throw interrupted.signal.aborted ? interrupted.signal.reason : error;
  } finally {
    report.end();
  }
}

class Interrupted extends Error {}

function checkOperands(entry: Entry, operands: readonly string[]): void {
  const names = entry.operands === "" ? [] : entry.operands.split(" ");
  const least = names.filter((name) => !name.startsWith("[")).length;
  const most = entry.operands.includes("…") ? Number.POSITIVE_INFINITY : names.length;
  if (operands.length >= least && operands.length <= most) return;
  const missing = names[operands.length];
  const what =
    operands.length < least ? `${missing} is missing` : `${JSON.stringify(operands[names.length])} is one too many`;
  throw new InvalidInput(`${what}: octavo ${`${entry.name} ${entry.operands}`.trim()}`, {
    hint: `octavo ${entry.name} --help shows examples`,
  });
}

const noColor = (): boolean => (process.env.NO_COLOR ?? "") !== "" || process.env.TERM === "dumb";

function exitCode(error: unknown): ExitCode {
  if (error instanceof Interrupted) return 4;
  const kind = error instanceof OctavoError ? error.kind : undefined;
  return kind === "invalid-input" || kind === "conflict" ? 2 : 3;
}

/** One sentence, and what to try; the stack only on request. */
function explain(error: unknown, verbose: boolean): string {
  if (error instanceof Interrupted) return "interrupted; nothing half-written was left visible";
  if (!(error instanceof Error)) return String(error);
  const known = error instanceof OctavoError;
  const hint = known ? error.hint : "this is a bug in octavo; with -v it shows where";
  const stack = verbose
    ? `\n${error.stack}${error.cause instanceof Error ? `\ncaused by ${error.cause.stack}` : ""}`
    : "";
  return `${error.message}${hint === undefined ? "" : `\n  ${hint}`}${stack}`;
}

let output: Output | undefined;

// The reader of a pipe has left (`octavo ls … | head`): no more is wanted, and that is no failure.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  process.exit(error.code === "EPIPE" ? 0 : 3);
});

void (async () => {
  let code: ExitCode;
  try {
    code = await main(process.argv.slice(2));
  } catch (error) {
    code = exitCode(error);
    process.stderr.write(`octavo: ${visible(explain(error, output?.verbose ?? false))}\n`);
  }
  // Idle connections and workers must not keep a finished command alive; what was printed must arrive first.
  process.stdout.write("", () => process.exit(code));
})();
