/** `octavo ls`: the nodes below a group, the stored chunks of an array, or the keys as the store has them. */
import { InvalidInput, OctavoError, Unsupported } from "../errors.js";
import type { ArrayDataset, Dataset } from "../model/dataset.js";
import { flag } from "./args.js";
import { shapeText } from "./info.js";
import { countText, table } from "./output.js";
import { findPlace, findSource, type Place, remarkForbidden, sourceOptions } from "./source.js";
import { dtypeText } from "./values.js";
import { type Session, verb } from "./verb.js";

export const ls = verb({
  options: {
    ...sourceOptions,
    chunks: flag("the chunks that are stored: place in the grid, key, size"),
    keys: flag("every key below, with its size, whatever it is"),
  },
  examples: [
    ["octavo ls data.zarr", "the arrays and groups in it"],
    ["octavo ls data.zarr/image --chunks", "the chunks that are there"],
    ["octavo ls s3://bucket/data.zarr --keys", "the keys as the store has them"],
  ],
  async run([url], options, session) {
    if (options.chunks && options.keys)
      throw new InvalidInput("--chunks and --keys are two questions; ask one of them");
    if (options.keys) await listKeys(await findPlace(url!, options, session), session);
    else {
      const source = await findSource(url!, options, session);
      const dataset = await source.match.open();
      await (options.chunks ? listChunks(dataset, session) : listNodes(dataset, source.at, session));
      remarkForbidden(source, session.output);
    }
    return 0;
  },
});

async function listKeys({ store, at }: Place, { output, signal }: Session): Promise<void> {
  const found: { key: string; size: number | undefined }[] = [];
  for await (const { key, size } of store.list(at, { signal })) found.push({ key: key.slice(at.length), size });
  found.sort((a, b) => (a.key < b.key ? -1 : 1));
  if (output.json) output.document(found);
  else {
    const rows = found.map(({ key, size }) => [size === undefined ? "?" : countText(size), key]);
    for (const line of table(rows, [0])) output.line(line);
  }
}

async function listChunks(dataset: Dataset, { output, signal }: Session): Promise<void> {
  if (dataset.kind !== "array") {
    throw new InvalidInput(`${dataset.url} is a group; --chunks is about one array`, {
      hint: "octavo ls shows its arrays",
    });
  }
  const listing = dataset.stored?.({ signal });
  if (listing === undefined) throw cannotList(dataset.url);
  const found: { index: readonly number[]; key: string; size: number | undefined }[] = [];
  for await (const { index, key, size } of listing) found.push({ index, key, size });
  found.sort((a, b) => compare(a.index, b.index));
  if (output.json) output.document(found);
  else {
    const rows = found.map(({ index, key, size }) => [
      `(${index.join(", ")})`,
      size === undefined ? "?" : countText(size),
      key,
    ]);
    for (const line of table(rows, [1])) output.line(line);
  }
}

function compare(a: readonly number[], b: readonly number[]): number {
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return a[i]! - b[i]!;
  return 0;
}

interface Row {
  readonly name: string;
  readonly kind: "array" | "group" | "unreadable";
  readonly dtype?: string;
  readonly shape?: readonly number[];
  readonly error?: string;
}

async function listNodes(dataset: Dataset, at: string, { output, signal }: Session): Promise<void> {
  const found: Row[] = [];
  if (dataset.kind === "array") found.push(rowOf(at.split("/").at(-2) ?? ".", dataset));
  else if (dataset.kind === "vectors")
    throw new Unsupported(`${dataset.url} is geometry, which ls cannot list`, { where: dataset.url });
  else {
    const children = await dataset.children({ signal });
    if (children === undefined) throw cannotList(dataset.url);
    for (const { name } of children) {
      try {
        const child = await dataset.open(name, { signal });
        found.push(child.kind === "array" ? rowOf(name, child) : { name, kind: "group" });
      } catch (error) {
        if (!(error instanceof OctavoError)) throw error;
        found.push({ name, kind: "unreadable", error: error.message });
      }
    }
  }
  if (output.json) output.document(found);
  else {
    const rows = found.map(({ name, kind, dtype = "", shape, error }) =>
      kind === "array"
        ? [name, dtype, shapeText(shape!)]
        : [kind === "group" ? `${name}/` : name, error === undefined ? "" : output.red(error)],
    );
    for (const line of table(rows)) output.line(line);
  }
}

const rowOf = (name: string, { dtype, shape }: ArrayDataset): Row => ({
  name,
  kind: "array",
  dtype: dtypeText(dtype),
  shape,
});

const cannotList = (url: string): Unsupported =>
  new Unsupported(`what is below ${url} cannot be listed: this kind of store has no directory`, {
    where: url,
    hint: "Name an array in it, as in octavo info URL/path/to/array.",
  });
