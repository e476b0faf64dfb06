/**
 * Geometry becomes a `.ptree` file: its vertices are particles, with those of their attributes that are numbers. The tree is built in
 * scratch files, within the memory that is allowed, and what has no place in such a file is told.
 */
import { InvalidInput } from "../errors.js";
import { buildTreeOnDisk } from "../format/packed-tree/external.js";
import type { ParticleBatch, ParticleStream } from "../format/packed-tree/external-types.js";
import { ORIGINAL } from "../format/packed-tree/file/description.js";
import { encodeRows } from "../format/packed-tree/file/write.js";
import type { AttributeInfo } from "../model/attributes.js";
import type { ScratchFile } from "../store/scratch.js";
import type { Sink } from "../store/types.js";
import type { ConvertReport } from "./arrays.js";
import { type Feed, type FeedOptions, MEMORY } from "./feed.js";
import { refuseLosses, type Strictness } from "./losses.js";

export interface ConvertParticlesOptions extends FeedOptions, Strictness {
  /** Makes the files that the tree is built in; without, memory is used. */
  readonly scratch?: (() => ScratchFile) | undefined;
}

/** Writes the file, which is there when it is whole. */
export async function convertToParticles(
  feed: Feed,
  sink: Sink,
  { signal, maxMemory = MEMORY, scratch = memoryScratch, ...options }: ConvertParticlesOptions = {},
): Promise<ConvertReport> {
  try {
    const losses = await lossesOf(feed);
    refuseLosses(options, losses);
    // Without the time at which it was built: the same input is the same file.
    const built = await buildTreeOnDisk(streamOf(feed), { signal, maxMemory: maxMemory / 2, scratch, created: 0 });
    try {
      for await (const piece of encodeRows(built, aboutOf(feed))) {
        signal?.throwIfAborted();
        await sink.write(piece);
      }
    } finally {
      built.close();
    }
    await sink.commit();
    return { chunksCopied: 0, chunksRecoded: 0, vertices: built.count, objects: 0, losses };
  } finally {
    await sink.abort();
  }
}

/** What its owner keeps with it; the units of the axes are there as well, because a file has no other place for them. */
export function aboutOf({ attributes, axes }: Pick<Feed, "attributes" | "axes">): Feed["attributes"] {
  const units = axes.map(({ unit }) => unit ?? null);
  return units.some((unit) => unit !== null) ? { ...attributes, units } : attributes;
}

/** Attributes that a file can have: numbers, and not by the name of its own. */
export const isKept = ({ name, dtype, categories }: AttributeInfo): boolean =>
  name !== ORIGINAL && categories === undefined && ["int", "uint", "float"].includes(dtype.kind);

function streamOf({ url, schema, batches }: Feed): ParticleStream {
  const kept = schema.vertex.filter(isKept).map(({ name }) => name);
  return {
    async *batches(options): AsyncGenerator<ParticleBatch> {
      for await (const { dims, positions, vertexColumns, repeats } of batches(options)) {
        if (dims !== 3) throw new InvalidInput(`the vertices of ${url} have ${dims} coordinates, and a tree needs 3`);
        if (repeats === true || positions.length === 0) continue;
        yield { positions, columns: kept.map((name) => vertexColumns.get(name)!) };
      }
    },
  };
}

async function lossesOf(feed: Feed): Promise<string[]> {
  const { geometry, schema, linkWidth, hasObjects, headers, crs } = feed;
  const own: string[] = [];
  if (geometry !== "points") own.push(`what joins its vertices: ${geometry} become particles`);
  if (hasObjects) own.push("which object a vertex belongs to");
  const { members } = await feed.groups();
  if (members.length > 0) own.push(`its groups, ${members.length} of them`);
  for (const domain of ["object", "group", "fragment", "link"] as const)
    if (domain !== "link" || linkWidth > 0)
      for (const { name } of schema[domain]) own.push(`the attribute ${name} of each ${domain}`);
  for (const info of schema.vertex)
    if (info.name === ORIGINAL) own.push(`the attribute ${ORIGINAL}: it is the number in this dataset now`);
    else if (!isKept(info)) own.push(`the attribute ${info.name}, which is no number`);
  for (const format of headers.keys()) own.push(`the header of ${format}`);
  if (crs !== undefined && crs !== null) own.push("the reference system of its coordinates");
  return [...feed.losses, ...own.map((loss) => `${feed.url}: ${loss}`)];
}

/** Memory in place of a file. */
function memoryScratch(): ScratchFile {
  let bytes = new Uint8Array(1 << 16);
  return {
    read: (at, into) => into.set(bytes.subarray(at, at + into.length)),
    write(at, given) {
      if (at + given.length > bytes.length) {
        const grown = new Uint8Array(2 * (at + given.length));
        grown.set(bytes);
        bytes = grown;
      }
      bytes.set(given, at);
    },
    close() {
      bytes = new Uint8Array();
    },
  };
}
