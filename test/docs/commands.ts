/** The commands of a page, run one after another: each must print what the page shows below it, losses included. */
import { expect } from "vitest";
import { octavo } from "../cli/run.js";

/** Those in ```console blocks, from "$ octavo" on: what is typed, and what is printed. */
export const commandsOf = (page: string): { readonly line: string; readonly printed: string }[] =>
  [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)]
    .flatMap(([, text = ""]) => text.split(/^\$ octavo /m).slice(1))
    .map((command) => {
      const [line = "", ...printed] = command.trimEnd().split("\n");
      return { line, printed: printed.join("\n") };
    });

/** As a shell reads it: blanks part words, quotes of either kind hold them together. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, one, two, plain]) => one ?? two ?? plain!);

/** On the page, the folder is called /data. */
export async function checkCommands(page: string, cwd: string): Promise<void> {
  for (const { line, printed } of commandsOf(page)) {
    const { stdout, stderr } = await octavo(wordsOf(line), { cwd });
    expect({ line, printed: `${stdout}${stderr}`.trimEnd().replaceAll(cwd, "/data") }).toEqual({ line, printed });
  }
}
