/** docs/cli.md is made from the command's own tables; `npx vitest run test/cli/reference.test.ts -u` writes it anew. */
import { expect, test } from "vitest";
import { page } from "../../src/cli/help.js";
import { verbs } from "../../src/cli/verbs.js";

const HEAD = `# The command line

\`octavo VERB URL… [options]\`

| exit code | when |
|---|---|
| 0 | done, valid, equal; also when nothing matched |
| 1 | \`validate\` found errors, or could not check everything; what was asked for by name is not there |
| 2 | the call is wrong, or would replace what is there without \`--overwrite\` |
| 3 | the data cannot be read or written; for \`validate\`: not even its root |
| 4 | interrupted; nothing half-written is visible |

Results go to stdout, everything else to stderr. With \`--json\` stdout is one JSON document, in which integers beyond 2^53 and
the floats that JSON lacks are strings. An error is one sentence, and a hint where there is one; \`-v\` adds the stack.

Everyday tasks, each one command, are in the [cookbook](cookbook.md); what \`pyramid\` keeps is shown in [levels of detail](pyramids.md).
`;

test("docs/cli.md says what the command says", async () => {
  let text = HEAD;
  for (const entry of verbs) text += `\n## ${entry.name}\n\n\`\`\`\n${page(entry, await entry.load())}\n\`\`\`\n`;
  await expect(text).toMatchFileSnapshot("../../docs/cli.md");
});
