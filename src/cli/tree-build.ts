/** `octavo tree build`: from positions, wherever they are, to a `.ptree` file or to the bytes of a packed tree. */
import { dirname } from "node:path";
import type { JsonObject } from "../bytes/json.js";
import { InvalidInput } from "../errors.js";
import {
  type BuildTreeOptions,
  buildTree,
  buildTreeOnDisk,
  encodeParticles,
  encodeRows,
  encodeTree,
  joinParticles,
  type PackedTree,
  type ParticleStream,
} from "../format/packed-tree/index.js";
import { scratchFile } from "../store/scratch-file.js";
import { createPool } from "../worker/pool.js";
import { bytesText, counted } from "./output.js";
import { openSink } from "./sink.js";
import type { TreeOptions } from "./tree.js";
import { collected, particlesAt } from "./tree-input.js";
import { boxOf, placeAt, positionsAt } from "./tree-place.js";
import { treeAt } from "./tree-query.js";
import type { ExitCode, Session } from "./verb.js";

export async function build(
  from: readonly string[],
  to: string,
  options: TreeOptions,
  session: Session,
): Promise<ExitCode> {
  const { output, signal, report } = session;
  const { stream, about, left } = options.positions === undefined ? await particlesAt(from, options, session) : NOTHING;
  const sink = await openSink(to, options.overwrite, session); // first, because to build may take an hour
  let built: Built | undefined;
  let bytes = 0;
  try {
    built =
      stream === undefined ? await paired(from, options, session) : await treeOf(stream, about, to, options, session);
    for await (const piece of built.pieces) {
      signal.throwIfAborted();
      await sink.write(piece);
      bytes += piece.length;
    }
    await sink.commit();
  } catch (error) {
    await sink.abort();
    throw error;
  } finally {
    built?.close();
    report.end();
  }
  const { count, nodes } = built.tree;
  if (left.size > 0) output.remark(`note: a tree has no place for this, and it is left out: ${[...left].join(", ")}`);
  if (output.json) output.document({ to, particles: count, nodes: nodes.length, bytes, left: [...left] });
  else if (to !== "-")
    output.line(`${counted(count, "particle")}, ${counted(nodes.length, "node")}: ${bytesText(bytes)}`);
  return 0;
}

const NOTHING = { stream: undefined, about: {}, left: new Set<string>() };

/** A packed tree that is there, with its particles; Corrupt where they do not belong together. */
async function paired(from: readonly string[], options: TreeOptions, session: Session): Promise<Built> {
  const [url, ...more] = from;
  if (more.length > 0) throw new InvalidInput("--positions are those of one packed tree, and there are several");
  const tree = await treeAt(await placeAt(url!, options, session), session);
  const particles = await joinParticles({ tree, positions: await positionsAt(options.positions!, session) });
  return { tree, pieces: encodeParticles(particles), close() {} };
}

interface Built {
  readonly tree: PackedTree;
  readonly pieces: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
  close(): void;
}

/** In memory, or with as much of it as is allowed, and the rest on the disk that the result goes to. */
async function treeOf(
  stream: ParticleStream,
  about: JsonObject,
  to: string,
  options: TreeOptions,
  { signal, report }: Session,
): Promise<Built> {
  const maxMemory = options["max-memory"];
  const how: BuildTreeOptions = { threshold: options.threshold, box: boxOf(options) };
  const isFile = to.toLowerCase().endsWith(".ptree");
  if (maxMemory !== undefined) {
    const isLocal = to !== "-" && !/^[a-z][a-z0-9+.-]+:/i.test(to);
    const scratch = () => scratchFile(isLocal ? dirname(to) : undefined);
    const built = await buildTreeOnDisk(stream, { ...how, scratch, maxMemory, signal, onProgress: report.update });
    return {
      tree: built.tree,
      pieces: isFile ? encodeRows(built, about) : [encodeTree(built.tree)],
      close: built.close,
    };
  }
  const { positions, columns } = await collected(stream);
  const built = await buildTree(positions, { ...how, pool: createPool() });
  const pieces = isFile
    ? encodeParticles(await joinParticles(built), { attributes: columns, about })
    : [encodeTree(built.tree)];
  return { tree: built.tree, pieces, close() {} };
}
