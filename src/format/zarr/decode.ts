/** From an array's metadata to what decodes and encodes its chunks, loaded once per description. */
import { type ChunkCodec, CodecChain } from "../../codec/chain.js";
import { Corrupt, InvalidInput } from "../../errors.js";
import type { ArrayMeta } from "./types.js";

export type { ChunkCodec };

const loaded = new WeakMap<ArrayMeta, Promise<ChunkCodec>>();

/** Corrupt or Unsupported where the chain cannot work. */
export function chunkCodec(meta: ArrayMeta): Promise<ChunkCodec> {
  const known = loaded.get(meta);
  if (known !== undefined) return known;
  const codec = loadCodec(meta).catch((error: unknown) => {
    if (!(error instanceof InvalidInput)) throw error; // a wrong call, were it not that a file made it
    throw new Corrupt(`the codecs of the array cannot work: ${error.message}`, { cause: error });
  });
  loaded.set(meta, codec);
  return codec;
}

export async function loadCodec({ codecs, chunkShape, dtype, fill }: ArrayMeta): Promise<ChunkCodec> {
  return (await CodecChain.load(codecs)).bind({ shape: chunkShape, dtype, fill });
}
