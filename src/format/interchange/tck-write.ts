/** Writes TCK; tck.ts has the table. The lines of the header that the data once had stay as they are, but for counts and places. */
import { swapBytes } from "../../bytes/swap.js";
import { encodeUtf8 } from "../../bytes/text.js";
import { bytesOf } from "../../codec/numeric.js";
import type { Positions } from "../../model/vectors.js";
import type { Sink } from "../../store/types.js";
import { spoolIn } from "./spool.js";
import { floatPositions, Losses, pathBatches, refuseNotFinite, tellUnheld } from "./streamlines-write.js";
import type { FileData, FileReport, WriteFileOptions } from "./types.js";

export const MAGIC = "mrtrix tracks";
const PADDING = 1 << 16; // bytes between header and data that are believed, and written again

export async function writeTck(sink: Sink, data: FileData, options: WriteFileOptions): Promise<FileReport> {
  const losses = new Losses();
  const found = data.headers.get("tck")?.lines;
  const lines = Array.isArray(found) ? found.filter((line) => typeof line === "string") : [];
  const datatype = lines.map(fieldOf).find(({ key }) => key === "datatype")?.value ?? "Float32LE";
  const [wide, big] = [datatype.startsWith("Float64"), datatype.endsWith("BE")];
  tellUnheld(data, ["vertex", "object", "fragment", "link"], losses);
  const spool = spoolIn(options.scratch); // the count comes first
  let [vertices, objects] = [0, 0];
  for await (const { positions, parts, paths } of pathBatches(data, options, losses)) {
    refuseNotFinite(positions, data.url);
    const own = wide ? positions : floatPositions(positions, losses);
    const room = wide ? new Float64Array(3 * (own.length / 3 + paths)) : new Float32Array(3 * (own.length / 3 + paths));
    delimit(own, parts, room);
    await spool.write(big ? swapBytes(bytesOf(room), wide ? 8 : 4) : bytesOf(room));
    vertices += own.length / 3;
    objects += paths;
  }
  const end = wide ? new Float64Array(3) : new Float32Array(3);
  end.fill(Number.POSITIVE_INFINITY);
  await sink.write(header(lines, objects, datatype));
  await spool.pour(sink);
  await sink.write(big ? swapBytes(bytesOf(end), wide ? 8 : 4) : bytesOf(end));
  return { vertices, objects, losses: losses.sentences };
}

/** Every part, and a mark after it. */
function delimit(positions: Positions, parts: Uint32Array, out: Positions): void {
  let at = 0;
  for (let part = 0; part + 1 < parts.length; part++) {
    for (let i = 3 * parts[part]!; i < 3 * parts[part + 1]!; i++) out[at++] = positions[i]!;
    for (let k = 0; k < 3; k++) out[at++] = Number.NaN;
  }
}

/** What a line of the header says. */
export function fieldOf(line: string): { readonly key: string; readonly value: string } {
  const colon = line.indexOf(":");
  return colon < 0
    ? { key: "", value: line }
    : { key: line.slice(0, colon).trim(), value: line.slice(colon + 1).trim() };
}

function header(lines: readonly string[], count: number, datatype: string): Uint8Array {
  const own = new Map<string, (old: string) => string>([
    ["count", (old) => String(count).padStart(old.length || 10, "0")],
    ["datatype", () => datatype],
  ]);
  const text = [MAGIC];
  let [at, claimed] = [-1, 0]; // the line that says where the data are: its turn comes when all others have their length
  for (const line of lines) {
    const { key, value } = fieldOf(line);
    const renew = own.get(key);
    own.delete(key);
    if (key === "file") {
      if (at >= 0) continue;
      at = text.length;
      claimed = Number(/\d+$/.exec(value)?.[0] ?? 0);
    }
    text.push(renew === undefined ? line : `${key}: ${renew(value)}`);
  }
  for (const [key, renew] of own) text.push(`${key}: ${renew("")}`);
  if (at < 0) at = text.push("file: .") - 1;
  const before = claimed < PADDING ? claimed : 0;
  for (let offset = before; ; ) {
    text[at] = `file: . ${offset}`;
    const bytes = encodeUtf8(`${text.join("\n")}\nEND\n`, "the header");
    if (bytes.length === offset || (bytes.length < offset && offset === before)) {
      const out = new Uint8Array(offset);
      out.set(bytes);
      return out;
    }
    offset = bytes.length > offset ? bytes.length : offset + 1;
  }
}
