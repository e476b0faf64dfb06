/**
 * A shard that is read in pieces, all of one version of its files.
 *
 * Files, and values in memory, are opened: what is open stays as it was, and its version says whether an index that was kept is
 * still that of the file. Elsewhere each piece is a request, and the store itself notices when a value changes between two of
 * them (by its ETag): Conflict with the reason "changed", after which the reader begins anew.
 */
import { Conflict } from "../../../errors.js";
import { Key, type Prefix } from "../../../store/key.js";
import type { OpenValue, Store } from "../../../store/types.js";
import { type Shard, shardName } from "./place.js";
import { ENTRY, type Stretch } from "./shard-index.js";
import type { Sharding } from "./types.js";

/** Where the bytes of a shard are. */
export interface ShardFiles {
  readonly index: Key;
  readonly data: Key;
  /** What offsets count from in `data`. */
  readonly base: number;
}

type Form = "shard" | "old";

export function filesOf(at: Prefix, shard: Shard, sharding: Sharding, form: Form): ShardFiles {
  const name = shardName(shard, sharding);
  const key = (extension: string) => Key.join(at, `${name}.${extension}`);
  return form === "old"
    ? { index: key("index"), data: key("data"), base: 0 }
    : { index: key("shard"), data: key("shard"), base: ENTRY * 2 ** sharding.minishardBits };
}

export interface ShardPieces {
  /** Told apart from every other version of the shard, where that can be seen. */
  readonly version: string;
  /** Pieces cost no round trip. */
  readonly near: boolean;
  /** The files that it may have, the likeliest first. */
  readonly forms: readonly ShardFiles[];
  /** Pieces of one of its files, which may share their memory; undefined where there is no such file. */
  read(key: Key, spans: readonly Stretch[], signal?: AbortSignal): Promise<Uint8Array[] | undefined>;
  close(): void;
}

export const isChanged = (error: unknown): boolean => error instanceof Conflict && error.reason === "changed";

let young = 0; // opened so soon after they were written that the next version might look the same

export function opener(
  store: Store,
  at: Prefix,
  sharding: Sharding,
): (shard: Shard, signal: AbortSignal | undefined) => Promise<ShardPieces> {
  const forms: Form[] = ["shard", "old"]; // that of the last shard is tried first
  const likely = (form: Form): void => {
    if (form !== forms[0]) forms.reverse();
  };

  const requested = (shard: Shard): ShardPieces => {
    const files = new Map(forms.map((form) => [filesOf(at, shard, sharding, form), form]));
    return {
      version: "",
      near: false,
      forms: [...files.keys()],
      async read(key, spans, signal) {
        const get = (range: Stretch) => (range.length === 0 ? new Uint8Array() : store.get(key, { range, signal }));
        const pieces = await Promise.all(spans.map(get));
        if (pieces.includes(undefined)) return undefined;
        for (const [{ index }, form] of files) if (index === key) likely(form);
        return pieces as Uint8Array[];
      },
      close() {},
    };
  };

  async function opened(shard: Shard, signal: AbortSignal | undefined): Promise<ShardPieces> {
    for (const form of [...forms]) {
      const files = filesOf(at, shard, sharding, form);
      const index = await store.open!(files.index, { signal });
      if (index === undefined) continue;
      const data = files.data === files.index ? index : await store.open!(files.data, { signal });
      likely(form);
      const open = new Map<Key, OpenValue | undefined>([
        [files.index, index],
        [files.data, data],
      ]);
      return {
        version: [...open.values()].map((value) => value?.version ?? `young ${young++}`).join(" "),
        near: true,
        forms: [files],
        read: async (key, spans) => open.get(key)?.read(spans),
        close() {
          for (const value of open.values()) value?.close();
        },
      };
    }
    return { version: "none", near: true, forms: [], read: async () => undefined, close() {} };
  }

  return store.open === undefined ? async (shard) => requested(shard) : opened;
}
