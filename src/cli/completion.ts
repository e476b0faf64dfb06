/**
 * Completion scripts for three shells, made from the same tables as the help: verbs first, then the options of the verb,
 * the choices of an option, and file names everywhere else.
 */
import { InvalidInput } from "../errors.js";
import type { Option, Options } from "./args.js";
import { common, verb } from "./verb.js";
import { type Entry, verbs } from "./verbs.js";

interface Known {
  readonly entry: Entry;
  readonly options: Options;
  /** Words that can only stand as the operand. */
  readonly words: readonly string[];
}

const shells: { readonly [shell: string]: (known: readonly Known[]) => string } = { bash, zsh, fish };

export const completion = verb({
  about: "Prints a script; your shell's start-up file evaluates it.",
  options: {},
  words: Object.keys(shells),
  examples: [
    ['eval "$(octavo completion bash)"', "in ~/.bashrc"],
    ['eval "$(octavo completion zsh)"', "in ~/.zshrc, after compinit"],
    ["octavo completion fish > ~/.config/fish/completions/octavo.fish", "once"],
  ],
  async run([shell = ""], _options, { output }) {
    if (!Object.hasOwn(shells, shell)) {
      throw new InvalidInput(`expected one of ${Object.keys(shells).join(", ")}, found ${JSON.stringify(shell)}`);
    }
    const known: Known[] = [];
    for (const entry of verbs) {
      const { options, words = [] } = await entry.load();
      known.push({ entry, options: { ...options, ...common }, words });
    }
    await output.bytes(shells[shell]!(known));
    return 0;
  },
});

const spelled = (name: string, { short }: Option): string[] => [
  `--${name}`,
  ...(short === undefined ? [] : [`-${short}`]),
];
const names = (options: Options): string =>
  Object.entries(options)
    .flatMap(([name, { inline, choices = [] }]) => [
      `--${name}`,
      ...(inline ? choices.map((choice) => `--${name}=${choice}`) : []),
    ])
    .join(" ");
const verbNames = (known: readonly Known[]): string => known.map(({ entry }) => entry.name).join(" ");
/** One line of a help text, safe between single quotes. */
const quoted = (text: string): string => text.replaceAll("'", "’");

function bash(known: readonly Known[]): string {
  const cases = known.map(({ entry, options, words }) => {
    const choices = Object.entries(options)
      .filter(([, { choices, inline }]) => choices !== undefined && !inline)
      .map(([name, option]) => `--${name}) words="${option.choices!.join(" ")}" ;;`);
    return `    ${entry.name})
      case $before in
        ${[...choices, `*) words="${words.join(" ")}"; [[ $word == -* ]] && words="${names(options)}" ;;`].join("\n        ")}
      esac ;;`;
  });
  return `_octavo() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words=""
  if ((COMP_CWORD == 1)); then words="${verbNames(known)} --help --version"; fi
  case \${COMP_WORDS[1]} in
${cases.join("\n")}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  if [[ -z $words ]]; then COMPREPLY=($(compgen -f -- "$word")); compopt -o filenames 2>/dev/null; fi
}
complete -F _octavo octavo
`;
}

function zsh(known: readonly Known[]): string {
  const spec = (name: string, option: Option): string => {
    const action =
      option.value === undefined
        ? ""
        : option.choices === undefined
          ? ":value:_files"
          : `:value:(${option.choices.join(" ")})`;
    const help = quoted(option.help).replace(/[[\]:\\]/g, "\\$&");
    if (option.inline) return `'--${name}=-[${help}]:${action}'`; // a second colon: it may be left out
    const both = spelled(name, option);
    return both.length === 1 ? `'${both[0]}[${help}]${action}'` : `{${both.join(",")}}'[${help}]${action}'`;
  };
  const cases = known.map(({ entry, options, words }) => {
    const operand = words.length > 0 ? `'*:word:(${words.join(" ")})'` : "'*:file:_files'";
    const specs = Object.entries(options).map(([name, option]) => spec(name, option));
    return `      ${entry.name}) _arguments -s ${[...specs, operand].join(" \\\n        ")} ;;`;
  });
  return `#compdef octavo
_octavo() {
  local -a verbs
  verbs=(
${known.map(({ entry }) => `    '${entry.name}:${quoted(entry.summary).replaceAll(":", "\\:")}'`).join("\n")}
  )
  if ((CURRENT == 2)); then
    _describe verb verbs
  else
    shift words; ((CURRENT--))
    case $words[1] in
${cases.join("\n")}
    esac
  fi
}
compdef _octavo octavo
`;
}

function fish(known: readonly Known[]): string {
  const lines = known.flatMap(({ entry, options, words }) => {
    const within = `complete -c octavo -n '__fish_seen_subcommand_from ${entry.name}'`;
    return [
      `complete -c octavo -n __fish_use_subcommand -f -a ${entry.name} -d '${quoted(entry.summary)}'`,
      ...(words.length > 0 ? [`${within} -f -a '${words.join(" ")}'`] : []),
      ...Object.entries(options).map(([name, { short, value, choices, inline, help }]) => {
        const how =
          value === undefined || inline ? "" : choices === undefined ? " -r" : ` -x -a '${choices.join(" ")}'`;
        return `${within} -l ${name}${short === undefined ? "" : ` -s ${short}`}${how} -d '${quoted(help)}'`;
      }),
    ];
  });
  return `${lines.join("\n")}\n`;
}
