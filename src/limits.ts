/**
 * What a decoder may allocate. Every decoder receives a `Limits`; counts from headers are compared with it, and with the
 * bytes that remain, before anything is allocated. The defaults let every real file through that we know of and keep a
 * hostile one from taking the process down.
 */
export interface Limits {
  /** Bytes of one metadata document (zarr.json, info, __zmeta__ …). */
  readonly metadataBytes: number;
  /** Nesting of one JSON document. */
  readonly jsonDepth: number;
  /** Bytes that one chunk, shard entry or fragment may decode to. */
  readonly chunkBytes: number;
  /** Decoded size over encoded size where the decoded size is not known beforehand. */
  readonly ratio: number;
  /** Bytes of one result that is handed to the caller in one piece. */
  readonly resultBytes: number;
  /** Bytes of decoded data that an opened dataset keeps for later questions; what is under way at once is held to it, too. */
  readonly keptBytes: number;
}

/** What holds where the caller says nothing. */
export const defaultLimits: Limits = {
  metadataBytes: 64 << 20, // consolidated metadata of ten thousands of arrays
  jsonDepth: 64,
  chunkBytes: 2 ** 31, // the largest chunk blosc can hold
  ratio: 2000, // deflate cannot pass 1032; zstd and lz4 of constant data do, where sizes are known exactly
  resultBytes: 2 ** 33,
  keptBytes: 256 << 20, // 200 chunks of the usual size
};

/** The caller's limits over the defaults. */
export function withLimits(limits: Partial<Limits> | undefined): Limits {
  return limits === undefined ? defaultLimits : { ...defaultLimits, ...limits };
}

/**
 * The most that encoded bytes may decode to where nothing but the bytes themselves says how much it should be. The ratio
 * only counts beyond 16 MiB: a chunk of empty strings compresses better than any ratio that would stop a bomb.
 */
export const decodedCap = (encoded: number, limits: Limits): number =>
  Math.min(limits.chunkBytes, Math.max(limits.ratio * encoded, 2 ** 24));
