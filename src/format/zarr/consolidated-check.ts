/** Whether consolidated metadata still says what the nodes themselves say: one sentence per difference, or why the store did not tell. */
import { OctavoError } from "../../errors.js";
import type { FormatOptions } from "../../model/format.js";
import { isNotGiven } from "../../store/failure.js";
import type { Prefix } from "../../store/key.js";
import { groupNode, type ZarrGroup } from "./node.js";
import { openZarr } from "./open.js";
import type { NodeMeta } from "./types.js";

export async function* checkConsolidated(
  group: ZarrGroup,
  options: FormatOptions,
): AsyncGenerator<string | OctavoError> {
  const { store, at, meta } = group;
  if (meta.consolidated === undefined) return;
  for (const [path, { meta: told }] of meta.consolidated) {
    const own = await attempt(() => openZarr(store, `${at}${path}/` as Prefix, { ...options, consolidated: false }));
    const said = await attempt(async () => told());
    if (isNotGiven(own)) yield own as OctavoError;
    else if (own instanceof OctavoError) yield `consolidated metadata has ${path}, but ${own.message}`;
    else if (said instanceof OctavoError) yield `consolidated metadata of ${path} cannot be read: ${said.message}`;
    else if (!sameValue(bare(said), bare(own.meta))) yield `consolidated metadata of ${path} differs from its own`;
  }
  const direct = await groupNode(store, at, { ...meta, consolidated: undefined }).children(options);
  for (const { name } of direct ?? []) {
    if (!meta.consolidated.has(name)) yield `consolidated metadata does not have ${name}, which is there`;
  }
}

async function attempt<T>(work: () => Promise<T>): Promise<T | OctavoError> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof OctavoError) return error;
    throw error;
  }
}

/** What is said about the node itself: not what is below it, and not how its values are spelled. */
function bare(meta: NodeMeta): object {
  return { ...meta, notes: undefined, consolidated: undefined, fillAs: undefined };
}

function sameValue(a: unknown, b: unknown): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return Object.is(a, b);
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => sameValue((a as never)[key], (b as never)[key]));
}
