/**
 * The payloads in the golden stores of Zarr Vectors, whatever holds them: files (0.2, 0.3), an array for each blob (0.4–0.7), the
 * cells and elements of one array (0.9). `payloads(/^\d+\/vertex_fragments$/)` has the fragment index of every chunk of every store.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { isFixed } from "../src/bytes/dtype.js";
import { CodecChain } from "../src/codec/chain.js";
import { openZarr } from "../src/format/zarr/index.js";
import { parseV3 } from "../src/format/zarr/parse.js";
import type { ArrayMeta } from "../src/format/zarr/types.js";
import { defaultLimits } from "../src/limits.js";
import { strides } from "../src/space/shape.js";
import { fileStore } from "../src/store/file.js";
import { Prefix } from "../src/store/key.js";
import { fixtures } from "./fixtures.js";

export interface Payload {
  /** "v0.9.2/graph_2d". */
  readonly store: string;
  /** Of the array below the store: "0/links/0/+1.0". */
  readonly path: string;
  /** Of the chunk in files and blobs ("0.0.1"), as the number of the element otherwise; the same chunk is the same key in a level. */
  readonly key: string;
  /** Those of the array, or of the group of blobs. */
  readonly attributes: { readonly [key: string]: unknown };
  readonly bytes: Uint8Array;
}

/** What the reference said of a store: `dump.levels["0"].object_manifests` and so on. */
// biome-ignore lint/suspicious/noExplicitAny: its shape differs from store to store; what is wrong in it fails the test
export function expected(store: string): any {
  const said = answers.get(store) ?? json(join(fixtures("zarr-vectors"), store, "expected.json"));
  answers.set(store, said);
  return said;
}

const answers = new Map<string, unknown>();

/** The attributes of a group of a store. */
export function attributesOf(store: string, path: string): { readonly [key: string]: unknown } {
  const group = join(fixtures("zarr-vectors"), store, "store.zarrvectors", path);
  const attributes = /^v0\.[23]/.test(store) ? json(join(group, ".zattrs")) : json(join(group, "zarr.json")).attributes;
  return (attributes ?? {}) as Payload["attributes"];
}

let walked: { folder: string; files: string[] } | undefined;

/** Every file of the stores without damage. */
function walk(): { folder: string; files: string[] } {
  if (walked !== undefined) return walked;
  const folder = fixtures("zarr-vectors");
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .filter((path) => path.includes("/store.zarrvectors/") && !path.startsWith("corrupt"))
    .sort();
  walked = { folder, files };
  return walked;
}

/** In the stores whose name matches, where one is asked for. */
export async function payloads(path: RegExp, inStore = /^/): Promise<Payload[]> {
  const { folder, files } = walk();
  const found: Payload[] = [];
  for (const file of files) {
    const [, store, below] = /^(.*)\/store\.zarrvectors\/(.*)$/.exec(file)!;
    if (!inStore.test(store!)) continue;
    const node = dirname(below!);
    const parent = dirname(node);
    const root = join(folder, store!, "store.zarrvectors");
    const from = (path: string, key: string, attributes: Payload["attributes"], bytes: Uint8Array) =>
      found.push({ store: store!, path, key, attributes, bytes: new Uint8Array(bytes) });
    if (/^v0\.[23]/.test(store!)) {
      if (path.test(node) && !below!.endsWith(".zattrs"))
        from(node, basename(below!), attributesOf(store!, node), readFileSync(join(root, below!)));
      continue;
    }
    if (basename(below!) !== "zarr.json" || !(path.test(node) || path.test(parent))) continue;
    const meta = parseV3(readFileSync(join(root, below!)), defaultLimits, below!);
    if (meta.node !== "array") continue;
    if (isFixed(meta.dtype)) {
      if (path.test(parent))
        from(parent, basename(node), attributesOf(store!, parent), await whole(join(root, node), meta));
    } else if (path.test(node)) {
      const { shape, attributes } = meta;
      const array = await openZarr(fileStore(root), Prefix.of(node));
      const data = array.kind === "array" ? (await array.read()).data : [];
      const origin = (attributes.chunk_grid_origin as number[] | undefined) ?? shape.map(() => 0);
      const steps = strides(shape);
      for (const [i, bytes] of data.entries()) {
        const coords = shape.map((length, axis) => (Math.floor(i / steps[axis]!) % length) + origin[axis]!);
        from(node, coords.join("."), attributes, bytes as Uint8Array);
      }
    }
  }
  return found;
}

const codecs = new Map<string, Promise<CodecChain>>();

/** The one chunk of a blob: thousands of arrays, so without opening each; zeros where it has no file. */
async function whole(folder: string, { shape, dtype, fill, codecs: specs }: ArrayMeta): Promise<Uint8Array> {
  const name = JSON.stringify(specs);
  const chain = codecs.get(name) ?? CodecChain.load(specs);
  codecs.set(name, chain);
  const file = join(folder, "c", ...shape.map(() => "0"));
  const codec = (await chain).bind({ shape, dtype, fill });
  return existsSync(file)
    ? (codec.decode(readFileSync(file), defaultLimits) as Uint8Array)
    : new Uint8Array(codec.bytes);
}

/** A group without a document has no attributes. */
function json(path: string): { readonly [key: string]: unknown } {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return {};
  }
}
