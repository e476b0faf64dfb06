/** What comes through a pipe: put into a file first, since formats are read from any place in them. */
import fs from "node:fs";
import { join } from "node:path";
import { InvalidInput } from "../errors.js";
import { kinds } from "../format/interchange/kinds.js";
import { temporary } from "../store/temporary.js";
import type { Session } from "./verb.js";

/** The path of the file, which is called as the format wants it; it is gone when the command ends. */
export async function spooled(as: string | undefined, { signal }: Session): Promise<string> {
  if (process.stdin.isTTY) throw new InvalidInput("- is what comes through a pipe, and nothing is piped in");
  const { path: folder, remove } = await temporary.folder();
  process.once("exit", () => void remove());
  const path = join(folder, "part");
  const fd = fs.openSync(path, "wx", 0o600);
  let start = Buffer.alloc(0);
  try {
    for await (const piece of process.stdin as AsyncIterable<Buffer>) {
      signal.throwIfAborted();
      if (start.length < 2) start = Buffer.concat([start, piece.subarray(0, 2)]);
      fs.writeSync(fd, piece);
    }
  } finally {
    fs.closeSync(fd);
  }
  const [extension = as ?? "data"] = kinds.find(({ id }) => id === as)?.extensions ?? [];
  const packed = start[0] === 0x1f && start[1] === 0x8b ? ".gz" : "";
  const named = join(folder, `stdin.${extension}${packed}`);
  fs.renameSync(path, named);
  return named;
}
