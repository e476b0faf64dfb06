/** `octavo ls`: the nodes below a group, the stored chunks of an array, what geometry holds, or the keys as the store has them. */

import { dtypeText } from "../bytes/dtype.js";
import { InvalidInput, OctavoError, Unsupported } from "../errors.js";
import type { ArrayDataset, GroupDataset } from "../model/dataset.js";
import { count, flag, value } from "./args.js";
import { levelOf } from "./array-level.js";
import { shapeText } from "./info.js";
import { listVectors } from "./ls-vectors.js";
import { countText, table } from "./output.js";
import { findPlace, findSource, type Place, remarkForbidden, sourceOptions } from "./source.js";
import { type Session, verb } from "./verb.js";

export const ls = verb({
  about: "Of a group its nodes, of an array its shape, at each of its scales, of geometry its levels.",
  options: {
    ...sourceOptions,
    chunks: flag("the chunks that are there: of arrays place, size, key; of geometry place, vertices, box"),
    objects: flag("of geometry: the objects with their attributes"),
    groups: flag("of geometry: the groups of objects"),
    level: value("N", "of geometry and arrays of several scales: of which (default: the finest)", count),
    keys: flag("every key below, with its size, whatever it is"),
  },
  examples: [
    ["octavo ls data.zarr", "the arrays and groups in it"],
    ["octavo ls tracts.zv --objects --level 1", "the objects of a coarser level"],
    ["octavo ls s3://bucket/data.zarr --keys", "the keys as the store has them"],
  ],
  async run([url], options, session) {
    const asked = (["chunks", "objects", "groups", "keys"] as const).filter((name) => options[name]);
    if (asked.length > 1) throw new InvalidInput(`--${asked[0]} and --${asked[1]} are two questions; ask one of them`);
    const [what] = asked;
    if (what === "keys") await listKeys(await findPlace(url!, options, session), session);
    else {
      const source = await findSource(url!, options, session);
      const dataset = await source.match.open();
      if (dataset.kind === "vectors") await listVectors(dataset, what, options.level, session);
      else {
        const scales = dataset.kind === "array" ? (dataset.levels?.length ?? 1) : 1;
        const wrong =
          what === "objects" || what === "groups"
            ? what
            : options.level !== undefined && scales === 1
              ? "level"
              : undefined;
        if (wrong !== undefined)
          throw new InvalidInput(
            `--${wrong} is about geometry, and ${url} is ${dataset.kind === "array" ? "an array" : "a group"}`,
          );
        const one = dataset.kind === "array" ? levelOf(dataset, options.level) : dataset;
        await (what === "chunks" ? listChunks(one, session) : listNodes(one, source.at, session));
      }
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

async function listChunks(dataset: ArrayDataset | GroupDataset, { output, signal }: Session): Promise<void> {
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

async function listNodes(dataset: ArrayDataset | GroupDataset, at: string, { output, signal }: Session): Promise<void> {
  const found: Row[] = [];
  if (dataset.kind === "array" && dataset.levels !== undefined)
    for (const level of dataset === dataset.levels[0] ? dataset.levels : [dataset])
      found.push(rowOf(`${level.attributes.key}`, level));
  else if (dataset.kind === "array") found.push(rowOf(at.split("/").at(-2) ?? ".", dataset));
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
