/** What `verify` looks for, by the ids of the rules; `fix` is what `repair` does about it, where it can. */
import { OctavoError } from "../../../errors.js";
import type { Finding, Severity } from "../../../model/format.js";
import { isNotGiven } from "../../../store/failure.js";

interface Rule {
  readonly severity: Severity;
  readonly fix?: string;
}

const RULES = {
  /** A file has the name of a shard, but not of this sharding: nobody reads it. */
  "sharded/name": { severity: "warning" },
  /** The older form, an index and the data beside it, which no current reader knows. */
  "sharded/old-form": { severity: "warning", fix: "write it as one shard" },
  /** Half of the older form, or both forms. */
  "sharded/pair": { severity: "error" },
  /** No bytes at all: tensorstore and Neuroglancer fail, cloud-volume takes it for an empty shard. */
  "sharded/no-bytes": { severity: "error", fix: "delete it, as an empty shard has no file" },
  /** The file ends within the shard index, or is not given. */
  "sharded/shard-index": { severity: "error" },
  /** The place of a minishard index is no range of the file. */
  "sharded/minishard-range": { severity: "error" },
  /** A minishard index does not decode to a multiple of 24 bytes. */
  "sharded/minishard-index": { severity: "error" },
  /** A range of the file that decodes to an index of nothing. */
  "sharded/empty-index": { severity: "info" },
  /** Ids that do not ascend: all readers that we know of find them, but not all others need to. */
  "sharded/order": { severity: "error", fix: "write the ids in order" },
  /** An id that comes again: readers give the first one, tensorstore no longer lists the shard. */
  "sharded/duplicate": { severity: "error", fix: "keep the one that readers find" },
  /** An id in a minishard where nobody looks for it. */
  "sharded/placement": { severity: "error", fix: "move it to where it is looked for, unless there is one already" },
  /** A value that is not within the file. */
  "sharded/value-range": { severity: "error" },
  /** A value that does not decode. */
  "sharded/value": { severity: "error" },
  /** Values that have a part of their bytes in common, or with an index. */
  "sharded/overlap": { severity: "error" },
  /** Values that have all of their bytes in common: legal, but cloud-volume's bulk reads lose all but one. */
  "sharded/shared": { severity: "info" },
  /** Bytes before values that no index names: where meshes of several resolutions keep their fragments. */
  "sharded/unreferenced": { severity: "info" },
  /** Bytes that belong to nothing. */
  "sharded/waste": { severity: "warning", fix: "leave them out" },
} as const satisfies Record<string, Rule>;

export type RuleId = keyof typeof RULES;

export function finding(rule: RuleId, where: string, message: string): Finding {
  const { severity, fix }: Rule = RULES[rule];
  return { severity, rule, where, message, ...(fix !== undefined && { fix }) };
}

/** The sentence of an error that the bytes have led to; others, also of a store that did not give them, are thrown. */
export function sentenceOf(error: unknown): string {
  if (error instanceof OctavoError && !isNotGiven(error)) return error.message;
  throw error;
}
