/** `octavo validate`: every finding, and one word at the end. */
import { OctavoError } from "../errors.js";
import type { Finding, Severity, ValidateOptions } from "../model/format.js";
import { choice, text } from "./args.js";
import { counted } from "./output.js";
import { progressOption } from "./progress.js";
import { findSource, remarkForbidden, type Source, sourceOptions } from "./source.js";
import { type ExitCode, verb } from "./verb.js";

export const validate = verb({
  about:
    "Exit code 1 where there are errors, or where the store failed and not everything could be checked; 3 where not even " +
    "the root can be read. Warnings and remarks leave it at 0.",
  options: {
    ...sourceOptions,
    level: choice(
      ["1", "2", "3", "4", "5"],
      "1 metadata · 2 structure · 3 presence · 4 chunks decode · 5 everything (default)",
    ),
    for: choice(
      ["neuroglancer"],
      "also what keeps this client from showing it: how it is served, and what it does not draw (level 2 unless told)",
    ),
    origin: text("URL", "with --for: the page that shows it (default https://neuroglancer-demo.appspot.com)"),
    progress: progressOption,
  },
  examples: [
    ["octavo validate data.zarr", "everything, down to the last chunk"],
    ["octavo validate --level 1 s3://bucket/data.zarr", "the metadata only: a few requests"],
    ["octavo validate --for neuroglancer https://host/skeletons", "will a browser show it, and if not, why"],
  ],
  async run([url], options, session) {
    const { output, signal, report } = session;
    const source = await findSource(url!, options, session).catch((error: unknown) => {
      if (output.json && isAboutData(error)) output.document(unreadable(url!, error));
      throw error;
    });
    const level = Number(options.level ?? (options.for === undefined ? "5" : "2")) as 1 | 2 | 3 | 4 | 5;
    const counts: Record<Severity, number> = { error: 0, warning: 0, info: 0 };
    const findings: Finding[] = [];
    let unchecked = 0;
    if (!output.json) output.line(`${output.bold(source.match.summary)}  ${output.dim(url!)}`);
    const work = { level, signal, onProgress: report.update, file: source.file };
    const checks =
      options.for === undefined
        ? source.format.validate(source.store, source.at, work)
        : shown(url!, source, work, options.origin);
    for await (const finding of checks) {
      counts[finding.severity]++;
      if (finding.unchecked) unchecked++;
      if (output.json) findings.push(finding);
      else {
        const paint = { error: output.red, warning: output.yellow, info: output.dim }[finding.severity];
        output.line(
          `${paint(finding.severity.padEnd(7))}  ${finding.where}: ${finding.message}  ${output.dim(finding.rule)}`,
        );
        if (finding.fix !== undefined) output.line(`         ${output.dim(`fix: ${finding.fix}`)}`);
      }
    }
    report.end();
    const valid = counts.error === 0;
    const readable = valid || (await opens(source));
    const word = valid ? "valid" : !readable ? "unreadable" : unchecked < counts.error ? "invalid" : "unchecked";
    if (output.json) {
      const { format, version } = source.match;
      const verdict = { verdict: word, valid, readable, counts: { ...counts, unchecked } };
      output.document({ url, format, version, level, ...verdict, findings, ...source.forbidden() });
    } else {
      const verdict = {
        valid: output.green("valid"),
        invalid: output.red("invalid"),
        unreadable: output.red("unreadable"),
        unchecked: output.yellow("could not be checked"),
      }[word];
      const found = [counted(counts.error - unchecked, "error"), counted(counts.warning, "warning")];
      if (unchecked > 0) found.push(`${counted(unchecked, "failure")} of the store`);
      output.line(`${verdict}: ${found.join(", ")} at level ${level}`);
      remarkForbidden(source, output);
    }
    return (valid ? 0 : readable ? 1 : 3) satisfies ExitCode;
  },
});

/** What the format says, and what keeps Neuroglancer from showing it. */
async function* shown(
  url: string,
  source: Source,
  work: ValidateOptions,
  origin: string | undefined,
): AsyncGenerator<Finding> {
  const { checkForNeuroglancer, forNeuroglancer } = await import("../format/precomputed/client/check.js");
  for await (const found of source.format.validate(source.store, source.at, work)) yield forNeuroglancer(found);
  yield* checkForNeuroglancer(url, source, source.format.id, { signal: work.signal, origin });
}

/** Whether it is the data that cannot be read, and not the call that is wrong. */
const isAboutData = (error: unknown): error is OctavoError =>
  error instanceof OctavoError && error.kind !== "invalid-input";

/** The document where there is nothing to look at: as ever, and the one finding is why. */
function unreadable(url: string, { where = url, message }: OctavoError): unknown {
  const findings: Finding[] = [{ severity: "error", rule: "root", where, message }];
  const counts = { error: 1, warning: 0, info: 0, unchecked: 0 };
  return { url, verdict: "unreadable", valid: false, readable: false, counts, findings };
}

async function opens({ match }: Awaited<ReturnType<typeof findSource>>): Promise<boolean> {
  try {
    await match.open();
    return true;
  } catch (error) {
    if (error instanceof OctavoError) return false;
    throw error;
  }
}
