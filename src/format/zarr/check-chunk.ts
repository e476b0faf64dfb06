/** What is wrong with the bytes of one chunk, down to the inner chunks of shards. */
import { isMissingCode } from "../../codec/on-demand.js";
import { OctavoError } from "../../errors.js";
import type { Limits } from "../../limits.js";
import type { Severity } from "../../model/format.js";
import type { ChunkCodec } from "./decode.js";

export interface ChunkFinding {
  readonly severity: Severity;
  readonly level: 4 | 5;
  readonly rule: "chunk-decodes" | "shard-index" | "trailing-bytes";
  /** "" or "inner chunk [1, 2]" */
  readonly inside: string;
  readonly message: string;
}

/** `isBlosc`: the last step of encoding the innermost chunks, whose header states a length. */
export function checkChunk(
  codec: ChunkCodec,
  bytes: Uint8Array,
  isBlosc: boolean,
  limits: Limits,
  inside = "",
): ChunkFinding[] {
  if (codec.shard === undefined) {
    const error = attempt(() => codec.decode(bytes, limits));
    if (error instanceof OctavoError) {
      return [{ severity: "error", level: 4, rule: "chunk-decodes", inside, message: error.message }];
    }
    return isBlosc ? trailing(bytes, inside) : [];
  }
  const { inner, grid, index } = codec.shard;
  const entries = attempt(() => index.split(bytes, limits));
  if (entries instanceof OctavoError) {
    return [{ severity: "error", level: 4, rule: "shard-index", inside, message: entries.message }];
  }
  return entries.flatMap((entry, at) => {
    if (entry === undefined) return [];
    const place = grid.map((_, axis) => {
      const stride = grid.slice(axis + 1).reduce((product, n) => product * n, 1);
      return Math.floor(at / stride) % grid[axis]!;
    });
    return checkChunk(
      inner,
      entry,
      isBlosc,
      limits,
      `${inside === "" ? "" : `${inside}, `}inner chunk [${place.join(", ")}]`,
    );
  });
}

function attempt<T>(work: () => T): T | OctavoError {
  try {
    return work();
  } catch (error) {
    if (error instanceof OctavoError && !isMissingCode(error)) return error;
    throw error;
  }
}

/** Blosc says in its header how long it is; zarr has always ignored what follows. */
function trailing(bytes: Uint8Array, inside: string): ChunkFinding[] {
  const stated = new DataView(bytes.buffer, bytes.byteOffset).getUint32(12, true);
  if (stated >= bytes.length) return [];
  const message = `${bytes.length - stated} bytes follow the ${stated} that the blosc header states; readers ignore them`;
  return [{ severity: "warning", level: 5, rule: "trailing-bytes", inside, message }];
}
