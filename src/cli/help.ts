/** Help, made from the tables: one screen for the command, a page with three examples for each verb. */
import type { Options } from "./args.js";
import { common, type Verb } from "./verb.js";
import { type Entry, verbs } from "./verbs.js";

const WIDTH = 80;

export function overview(version: string): string {
  const rows = verbs.flatMap(({ name, operands, summary, together }, i): (readonly [string, string])[] => {
    if (together === undefined) return [[`${name} ${operands}`, summary]];
    if (verbs[i - 1]?.together === together) return [];
    const names = verbs.filter((other) => other.together === together).map((other) => other.name);
    return [[names.join(", "), together]];
  });
  const wide = Math.max(...rows.map(([called]) => called.length));
  return [
    `octavo ${version}: chunked spatial data, from any store, in any of its formats`,
    "",
    "usage: octavo VERB URL… [options]",
    "",
    ...rows.map(([called, does]) => `  ${called.padEnd(wide)}  ${does}`),
    "",
    "A URL is a path, file:, http(s):, s3:, gs:, memory:, a zip file, or a pipeline",
    "such as https://host/a.zip|zip:inner/path. The format is detected.",
    "",
    "octavo VERB --help shows its options, with examples; --version the version.",
    "exit code: 0 done, 1 invalid or absent, 2 wrong call, 3 unreadable, 4 stopped",
  ].join("\n");
}

export function page(entry: Entry, verb: Verb): string {
  const own = Object.keys(verb.options).length > 0 ? ["", "options", ...list(verb.options)] : [];
  return [
    `octavo ${entry.name}: ${entry.summary}`,
    "",
    `usage: octavo ${`${entry.name} ${entry.operands}`.trim()} [options]`,
    ...(verb.about === undefined ? [] : ["", ...wrap(verb.about, WIDTH)]),
    ...own,
    "",
    "with every verb",
    ...list(common),
    "",
    "examples",
    ...verb.examples.flatMap(([command, does]) => [`  ${command}`, `      ${does}`]),
  ].join("\n");
}

/** "  -o, --output FILE   what it does", the text in a column of its own. */
function list(options: Options): string[] {
  const rows = Object.entries(options).map(([name, { short, value, inline, help }]) => {
    const given = value === undefined ? "" : inline ? `[=${value}]` : ` ${value}`;
    const spelled = `${short === undefined ? "    " : `-${short}, `}--${name}${given}`;
    return [spelled, help] as const;
  });
  const wide = Math.min(30, Math.max(...rows.map(([spelled]) => spelled.length)));
  return rows.flatMap(([spelled, help]) => {
    const lines = wrap(help, WIDTH - wide - 4);
    const indent = " ".repeat(wide + 4);
    if (spelled.length > wide) return [`  ${spelled}`, ...lines.map((line) => indent + line)];
    return lines.map((line, i) => (i === 0 ? `  ${spelled.padEnd(wide)}  ${line}` : indent + line));
  });
}

function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = word;
    } else line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}
