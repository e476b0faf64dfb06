/** Where this user's programs keep what can be made again. */
import { homedir } from "node:os";
import { join } from "node:path";

export function cacheFolder(): string {
  const { XDG_CACHE_HOME = "", LOCALAPPDATA = "" } = process.env;
  if (XDG_CACHE_HOME.startsWith("/")) return join(XDG_CACHE_HOME, "octavo");
  if (process.platform === "win32" && LOCALAPPDATA !== "") return join(LOCALAPPDATA, "octavo", "cache");
  return join(homedir(), process.platform === "darwin" ? "Library/Caches" : ".cache", "octavo");
}
