/** What Node can open besides: files, by their path or their URL. */
import fs from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { InvalidInput } from "../errors.js";
import { fileStore } from "./file.js";
import { type LocationOptions, type Place, type Schemes, splitPath, webSchemes } from "./open.js";

/** A file is one value of the folder it is in; anything else, also what is not there yet, is a folder. */
function open(path: string, isFile: boolean, options: LocationOptions): Place {
  const full = resolve(path);
  const found = fs.statSync(full, { throwIfNoEntry: false });
  if (found === undefined ? isFile : found.isFile()) {
    const [folder, file] = splitPath(full);
    return { store: fileStore(folder || "/", options), file };
  }
  return { store: fileStore(full, options) };
}

function pathOf(address: string): string {
  try {
    return fileURLToPath(address);
  } catch (cause) {
    throw new InvalidInput(`${address} is not the URL of a file on this machine`, { where: address, cause });
  }
}

export const nodeSchemes: Schemes = {
  ...webSchemes,
  "": open,
  file: (address, isFile, options) => open(pathOf(address), isFile, options),
};
