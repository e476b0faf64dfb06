/**
 * Keys as paths below one root, and what the operating system says as Octavo's errors.
 *
 * The root's real path is taken once. `path` and `folder` are the only places where a key becomes a path. A symbolic link inside the root
 * may lead to another place inside it; one that leads out is refused, when reading by the real path of the file that was
 * opened, when writing by the real path of its directory before anything is made there.
 */
import fs from "node:fs";
import { basename, dirname, join, resolve, sep } from "node:path";
import { Corrupt, InvalidInput, LimitExceeded, type OctavoError, Unsupported } from "../errors.js";
import { Key, Prefix } from "./key.js";

/** The suffix of everything a writer has under way: staged values and locks. Hidden from readers, refused as a key. */
export const PARTIAL = ".partial";

export class Root {
  readonly real: string;
  /** The last directory that stays when everything is deleted: the root, unless it was not there to begin with. */
  readonly stays: string;
  /** Directories that have been cleared of what killed writers left (file-write.ts). */
  readonly swept = new Set<string>();

  constructor(path: string) {
    this.real = realOfExisting(resolve(path));
    this.stays = fs.existsSync(this.real) ? this.real : dirname(this.real);
  }

  // Checked once more than the types ask for: programs without types would leave the root here.
  path(key: Key): string {
    return below(this.real, Key.of(key));
  }

  folder(prefix: Prefix): string {
    return below(this.real, Prefix.of(prefix));
  }

  holds(real: string): boolean {
    return real === this.real || real.startsWith(this.real === "/" ? "/" : `${this.real}/`);
  }

  mustHold(real: string, path: string): void {
    if (!this.holds(real)) {
      throw new Unsupported(`${path} is a symbolic link out of ${this.real}, which is not followed`, {
        where: path,
        reason: "outside",
      });
    }
  }

  /** Takes away directories that are empty now, so that they do not show as prefixes; gives the first that stays. */
  prune(directory: string): string {
    let at = directory;
    try {
      for (; at !== this.stays; at = dirname(at)) fs.rmdirSync(at);
    } catch {
      // not empty: done
    }
    return at;
  }

  /** The real directory that holds `path`; with `make`, directories that are not there are made and handed to it. */
  directoryOf(path: string, make?: (made: string) => void): string {
    const parent = dirname(path);
    if (path === this.real) return parent;
    let real: string;
    try {
      real = fs.realpathSync.native(parent);
    } catch (error) {
      if (make === undefined || codeOf(error) !== "ENOENT") throw error;
      const missing = join(this.directoryOf(parent, make), basename(parent));
      try {
        fs.mkdirSync(missing, { recursive: parent === this.real });
        make(missing);
      } catch (made) {
        if (codeOf(made) !== "EEXIST") throw made; // somebody else was faster, or a link that leads nowhere
      }
      real = fs.realpathSync.native(missing);
    }
    this.mustHold(real, path);
    return real;
  }
}

/** A key has nothing to be resolved, so that on most systems it is a path as it stands. */
const below = (real: string, key: string): string =>
  sep === "/" && real !== "/" ? (key === "" ? real : `${real}/${key}`) : join(real, key);

function realOfExisting(path: string): string {
  try {
    return fs.realpathSync.native(path);
  } catch (error) {
    if (codeOf(error) !== "ENOENT" || dirname(path) === path) throw storageError(error, path);
    return join(realOfExisting(dirname(path)), basename(path));
  }
}

/** Where the open file really is. Linux knows it by the descriptor, without a race; elsewhere the path is asked again. */
export function realPathOf(fd: number, path: string): string {
  try {
    return fs.readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return fs.realpathSync.native(path);
  }
}

export function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | undefined)?.code;
}

/** Codes that mean that there is no value at this path: nothing, a path below a file, a directory, a socket. */
export function meansAbsent(error: unknown): boolean {
  const code = codeOf(error);
  return code === "ENOENT" || code === "ENOTDIR" || code === "EISDIR" || code === "ENXIO";
}

export function storageError(error: unknown, path: string): OctavoError | unknown {
  const code = codeOf(error);
  if (code === undefined || !/^E[A-Z0-9]+$/.test(code)) return error; // an error of ours, an abort reason, a bug
  const details = { where: path, cause: error };
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new LimitExceeded(`the disk that holds ${path} is full (${code})`, { ...details, reason: "disk-full" });
    case "EMFILE":
    case "ENFILE":
      return new LimitExceeded(`too many files are open to open ${path} (${code})`, {
        ...details,
        reason: "too-many-files",
      });
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new Unsupported(`the system does not allow access to ${path} (${code})`, {
        ...details,
        reason: "forbidden",
      });
    case "ENOTSUP":
    case "EOPNOTSUPP":
    case "ENOSYS":
      return new Unsupported(`the file system cannot do what ${path} needs (${code})`, {
        ...details,
        hint: "Writing on a condition takes a file system with hard links.",
      });
    case "ELOOP":
      return new Unsupported(`${path} is a symbolic link that leads to itself`, { ...details, reason: "outside" });
    case "ENAMETOOLONG":
      return new InvalidInput(`the file system takes no name as long as that of ${path}`, details);
    case "ENOTDIR":
    case "EISDIR":
    case "ENOTEMPTY":
    case "EEXIST":
      return new Unsupported(
        `a file system cannot hold a value and keys below it under one name, which ${path} asks for (${code})`,
        { ...details, reason: "not-a-directory" },
      );
    default:
      return new Corrupt(`the system could not finish its work on ${path} (${code})`, { ...details, reason: "io" });
  }
}
