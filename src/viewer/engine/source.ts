/** What can be shown, and how it is opened: an address, or files that somebody dropped or chose. */
import { NotFound } from "../../errors.js";
import { detect, openLocation } from "../../index.js";
import type { VectorDataset } from "../../model/vectors.js";
import { type Volume, volumeOf } from "../../scene/volume.js";
import { Key, Prefix } from "../../store/key.js";
import type { Location } from "../../store/open.js";
import { spanFor } from "../../store/range.js";
import type { Fetch } from "../../store/send.js";
import type { Store } from "../../store/types.js";
import { childrenOf, withoutWriting } from "../../store/wrap.js";

/** Files by their paths below what was dropped or chosen; they are read where they are, piece by piece, and go nowhere. */
export interface Files {
  readonly name: string;
  readonly files: ReadonlyMap<string, File>;
}

/** An address, or files. */
export type Source = string | Files;

/** What went over the network, by what servers said of their answers. */
export interface Traffic {
  requests: number;
  bytes: number;
}

/** The geometry or the volume of a source, and a count of what it asks for from now on; InvalidInput where something else is there. */
export async function openSource(
  source: Source,
  options: { readonly fetch?: Fetch | undefined; readonly signal?: AbortSignal | undefined },
): Promise<{ readonly dataset: VectorDataset | Volume; readonly traffic: Traffic }> {
  const traffic = { requests: 0, bytes: 0 };
  const { fetch: own = (url, init) => fetch(url, init), signal } = options;
  const counted: Fetch = async (url, init) => {
    traffic.requests++;
    const response = await own(url, init);
    traffic.bytes += Number(response.headers.get("content-length") ?? 0);
    return response;
  };
  const location =
    typeof source === "string" ? await openLocation(source, { fetch: counted, signal }) : locationOf(source);
  const dataset = await (await detect(location, { signal })).match.open();
  return { dataset: dataset.kind === "vectors" ? dataset : await volumeOf(dataset, { signal }), traffic };
}

/** One file by itself is a format of single files. */
function locationOf({ files, name }: Files): Location {
  const store = filesStore(files, name);
  const [only] = files.keys();
  if (files.size === 1 && only !== undefined && !only.includes("/"))
    return { store, at: Prefix.root, file: Key.of(only) };
  return { store, at: Prefix.root };
}

function filesStore(files: ReadonlyMap<string, File>, name: string): Store {
  const url = `dropped:${name}`;
  return {
    url,
    can: { list: true, write: false, conditional: false },
    ...withoutWriting(url),
    async get(key, options = {}) {
      options.signal?.throwIfAborted();
      const file = files.get(key);
      if (file === undefined) return undefined;
      const { offset, length } = spanFor(options, file.size, `${url}/${key}`);
      const part = file.slice(offset, offset + length);
      try {
        return new Uint8Array(await part.arrayBuffer());
      } catch (cause) {
        throw new NotFound(`${url}/${key} can no longer be read: it was moved or changed`, { cause });
      }
    },
    async stat(key) {
      const file = files.get(key);
      return file && { size: file.size };
    },
    async *list(prefix) {
      for (const [key, { size }] of files) if (key.startsWith(prefix)) yield { key: Key.of(key), size };
    },
    children: async (prefix) => childrenOf(files.keys(), prefix),
  };
}
