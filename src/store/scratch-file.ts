/** Where work on more than memory holds lies meanwhile: a file without a name, which is gone with the process at the latest. */
import fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Corrupt } from "../errors.js";
import { Owner } from "./file-owner.js";
import { PARTIAL, storageError } from "./file-path.js";
import type { ScratchFile } from "./scratch.js";

const PIECE = 1 << 30; // one system call moves less than 2 GiB

/** A new file on the disk of this folder; that of the system for such things unless told. */
export function scratchFile(folder = tmpdir()): ScratchFile {
  // Named as writes under way are, so that where a name cannot be taken away now, somebody else will do it.
  const path = join(folder, `scratch.${Owner.make().id}${PARTIAL}`);
  const guarded = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw storageError(error, path);
    }
  };
  const fd = guarded(() => fs.openSync(path, "wx+", 0o600));
  const unname = (): void => fs.rmSync(path, { force: true });
  try {
    unname();
  } catch {
    // a system that keeps the names of open files: then when it is closed
  }
  let open = true;
  return {
    read: (at, into) =>
      guarded(() => {
        for (let done = 0; done < into.length; ) {
          const got = fs.readSync(fd, into, done, Math.min(into.length - done, PIECE), at + done);
          if (got === 0) throw new Corrupt(`${path} ends before byte ${at + into.length}`, { where: path });
          done += got;
        }
      }),
    write: (at, bytes) =>
      guarded(() => {
        for (let done = 0; done < bytes.length; )
          done += fs.writeSync(fd, bytes, done, Math.min(bytes.length - done, PIECE), at + done);
      }),
    close() {
      if (!open) return;
      open = false;
      fs.closeSync(fd);
      unname();
    },
  };
}
