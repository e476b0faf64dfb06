/**
 * Particles in HDF5 as a format: snapshots of simulations, and the trees over them that packingcubes keeps ("Cubes"). A file is known by
 * its first eight bytes; what is in it is looked at, and the library loaded that can, when it is opened. A path behind the
 * address chooses the type of particles: "snap.hdf5|snapshot:gas".
 */
import { InvalidInput } from "../../errors.js";
import type { Format, FormatOptions } from "../../model/format.js";
import type { Key, Prefix } from "../../store/key.js";
import type { Store } from "../../store/types.js";

const SIGNATURE = [0x89, 0x48, 0x44, 0x46, 0x0d, 0x0a, 0x1a, 0x0a]; // "\x89HDF\r\n\x1a\n"

/** The parts that need the library. */
const reader = () => import("./open.js");

/** Particles in HDF5, read and validated; what is written is a file that `writeSnapshot` makes. */
export const snapshot: Format = {
  id: "snapshot",
  name: "a snapshot of particles in HDF5",
  single: true,
  async detect(store, at, options = {}) {
    const file = fileOf(options);
    const stat = await store.stat(file, options);
    if (stat === undefined || stat.size < SIGNATURE.length) return undefined;
    const start = await store.get(file, { signal: options.signal, range: { offset: 0, length: SIGNATURE.length } });
    if (!SIGNATURE.every((byte, i) => start?.[i] === byte)) return undefined;
    const open = () => openAt(store, at, options);
    return { format: "snapshot", version: "HDF5", summary: "HDF5 file of particles", open };
  },
  open: openAt,
  async *validate(store, at, options = {}) {
    const { validateParticles } = await import("./validate.js");
    yield* validateParticles(store, fileOf(options), typeAt(at), options);
  },
};

async function openAt(store: Store, at: Prefix, options: FormatOptions = {}) {
  return (await reader()).openSnapshot(store, fileOf(options), { ...options, type: typeAt(at) });
}

function fileOf({ file }: FormatOptions): Key {
  if (file === undefined) throw new InvalidInput("a snapshot is a file, and none is named");
  return file;
}

const typeAt = (at: Prefix): string | undefined => at.replace(/\/$/, "") || undefined;
