/** From an array's metadata to what decodes and encodes its chunks, loaded once per description. */
import { type ChunkCodec, CodecChain } from "../../codec/chain.js";
import { Corrupt, OctavoError, Unsupported } from "../../errors.js";
import type { ArrayMeta } from "./types.js";

export type { ChunkCodec };

const full = new WeakMap<ArrayMeta, Promise<ChunkCodec>>();
const decoders = new WeakMap<ArrayMeta, Promise<ChunkCodec>>();

/** Corrupt or Unsupported where the chain cannot work; `where` is the array, for that sentence. Readers load less. */
export function chunkCodec(
  meta: ArrayMeta,
  where: string,
  use: { readonly decodeOnly?: boolean } = {},
): Promise<ChunkCodec> {
  const loaded = use.decodeOnly === true ? decoders : full;
  const known = loaded.get(meta);
  if (known !== undefined) return known;
  const codec = loadCodec(meta, use).catch((error: unknown) => {
    if (!(error instanceof OctavoError)) throw error;
    const Kind = error instanceof Unsupported ? Unsupported : Corrupt; // a file made the call that is wrong
    throw new Kind(`the codecs of ${where} cannot work: ${error.message}`, { where, cause: error });
  });
  loaded.set(meta, codec);
  return codec;
}

export async function loadCodec(
  { codecs, chunkShape, dtype, fill }: ArrayMeta,
  use: { readonly decodeOnly?: boolean } = {},
): Promise<ChunkCodec> {
  return (await CodecChain.load(codecs, undefined, use)).bind({ shape: chunkShape, dtype, fill });
}
