/** The formats there are, in the order in which a place is asked whether it is theirs. A new one is one more line. */
import { zarr } from "./format/zarr/format.js";
import { zarrVectors } from "./format/zarr-vectors/index.js";
import type { Format } from "./model/format.js";

/** A format that is loaded when there is something that no other before it has claimed; of single files unless told. */
const later = (id: string, name: string, load: () => Promise<Format>, more: Partial<Format> = {}): Format => ({
  id,
  name,
  single: true,
  detect: async (...call) => (await load()).detect(...call),
  open: async (...call) => (await load()).open(...call),
  async *validate(...call) {
    yield* (await load()).validate(...call);
  },
  ...more,
});

const precomputed = async () => (await import("./format/precomputed/format.js")).precomputed;
const interchange = async () => (await import("./format/interchange/format.js")).interchange;

/** The formats there are. A Zarr Vectors store is a Zarr group as well, so it is asked first. */
export const formats: readonly Format[] = [
  zarrVectors,
  zarr,
  later("precomputed", "Neuroglancer precomputed", precomputed, {
    single: undefined,
    repair: async (...call) => (await precomputed()).repair!(...call),
  }),
  later("trx-folder", "an unpacked TRX", async () => (await import("./format/interchange/trx-folder.js")).trxFolder, {
    single: undefined,
  }),
  later(
    "packed-tree",
    "a ptree file of particles",
    async () => (await import("./format/packed-tree/file/format.js")).packedTree,
  ),
  later("tree", "a packed tree", async () => (await import("./format/packed-tree/bare-format.js")).bareTree),
  later(
    "snapshot",
    "a snapshot of particles in HDF5",
    async () => (await import("./format/snapshot/format.js")).snapshot,
  ),
  later("npy-array", "a numpy array", async () => (await import("./format/interchange/npy-array.js")).npyArray),
  later("file", "a file of another kind that is known", interchange, {
    kinds: async () => (await (await interchange()).kinds?.()) ?? [],
  }),
];
