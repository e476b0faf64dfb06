/** `octavo publish`: the read-only web form of a store, for which a plain web server is enough. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { into } from "../convert/index.js";
import { InvalidInput } from "../errors.js";
import type { ZarrVectors } from "../format/zarr-vectors/index.js";
import { planPublish, publishZarrVectors } from "../format/zarr-vectors/publish/publish.js";
import { openLocation } from "../node.js";
import { fileStore } from "../store/file.js";
import { Prefix } from "../store/key.js";
import type { Store } from "../store/types.js";
import { flag, size, value } from "./args.js";
import { matchAt } from "./convert-plan.js";
import { bytesText, counted, type Output } from "./output.js";
import { progressOption } from "./progress.js";
import { findSource, remarkForbidden, sourceOptions } from "./source.js";
import { verb } from "./verb.js";

export const publish = verb({
  about:
    "Chunks go into few large shards, the metadata of everything into one document, and what is small into a pack beside them, " +
    "so that opening takes one request, an object a few, and nothing is ever listed. Stores of other versions become 0.9.2 " +
    "on the way. OUT is for readers: edit STORE, and publish it again.",
  options: {
    ...sourceOptions,
    "max-memory": value("SIZE", "how much may be held while another version is converted (default 256M)", size),
    overwrite: flag("replace the dataset at OUT"),
    progress: progressOption,
    "dry-run": flag("say what would happen, and write nothing"),
  },
  examples: [
    ["octavo publish tracts.zv www/tracts.zv", "into the folder of a web server"],
    ["octavo publish tracts.zv s3://bucket/tracts.zv --overwrite", "once more, after an edit"],
    ["octavo publish old.zarrvectors web.zv --dry-run", "what would be written"],
  ],
  async run([from, to], given, session) {
    const { output, signal, report: progress } = session;
    const source = await findSource(from!, given, session);
    if (source.format.id !== "zarr-vectors")
      throw new InvalidInput(`${from} is a ${source.match.summary}, and only Zarr Vectors are published so far`, {
        where: from!,
      });
    const dataset = (await source.match.open()) as ZarrVectors;
    const { overwrite } = given;
    if (given["dry-run"]) {
      const there = await matchAt(to!, signal);
      explain(await planPublish(dataset, { signal }), there?.summary, overwrite, output);
      return there === undefined || overwrite ? 0 : 2;
    }
    const work = { overwrite, maxMemory: given["max-memory"], signal, onProgress: progress.update };
    const report = await into(openLocation, to!, { signal, overwrite }, async ({ store, at }) => {
      if ("pathOf" in store) return publishZarrVectors(dataset, store, at, work);
      return inTemporary((scratch) => publishZarrVectors(dataset, store, at, { ...work, scratch }));
    });
    progress.end();
    const { keys, bytes, copiedFrom, losses } = report;
    if (output.json) output.document({ keys, bytes, copiedFrom: copiedFrom ?? null, losses, ...source.forbidden() });
    else {
      output.line(`${counted(keys, "value")} of ${bytesText(bytes)} published`);
      for (const loss of losses) output.line(`${output.yellow("loss")} ${loss}`);
    }
    remarkForbidden(source, output);
    return 0;
  },
});

/** What is copied on the way to a server or into a zip file lies in a folder meanwhile. */
async function inTemporary<T>(work: (scratch: { store: Store; at: Prefix }) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "octavo-publish-"));
  try {
    return await work({ store: fileStore(folder), at: Prefix.root });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function explain(
  { arrays, copiedFrom }: Awaited<ReturnType<typeof planPublish>>,
  there: string | undefined,
  overwrite: boolean,
  output: Output,
): void {
  if (output.json) {
    output.document({ dryRun: true, replaces: there ?? null, copiedFrom: copiedFrom ?? null, arrays: arrays ?? null });
    return;
  }
  if (arrays === undefined)
    output.line(`a store of version ${copiedFrom}, which would first be copied to 0.9.2 with owners of its fragments`);
  for (const { path, chunks, keys } of arrays ?? [])
    output.line(`  ${path}: ${counted(chunks, "chunk")} in ${counted(keys, "value")}`);
  if (there !== undefined)
    output.line(`OUT holds a ${there}: ${overwrite ? "it would be replaced" : "add --overwrite to replace it"}`);
  output.line("nothing was written");
}
