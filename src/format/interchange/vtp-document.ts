/** The tags of a .vtp file. Texts of arrays stay places in the file, since they may be long. */
import { Unsupported } from "../../errors.js";
import type { Limits } from "../../limits.js";
import { type ByteSource, placeOf } from "./file.js";
import { XmlReader } from "./xml.js";

/** An array as its tag says. */
export interface ArrayTag {
  readonly section: string;
  readonly attributes: ReadonlyMap<string, string>;
  /** Where its text is. */
  readonly from: number;
  to: number;
}

export interface Document {
  readonly root: ReadonlyMap<string, string>;
  readonly piece: ReadonlyMap<string, string>;
  readonly arrays: readonly ArrayTag[];
  readonly notes: readonly string[];
  /** Where what follows `_` is, and how. */
  readonly appended: { readonly from: number; readonly to: number; readonly base64: boolean } | undefined;
}

const BLOCK = 1 << 20; // bytes
const [UNDERSCORE, LESS] = [0x5f, 0x3c];

/** All of them, or those up to the one that says how much there is. */
export async function readDocument(
  source: ByteSource,
  where: string,
  limits: Limits,
  upToPiece = false,
): Promise<Document> {
  const reader = new XmlReader(where, limits);
  const path: string[] = [];
  let [root, piece]: (ReadonlyMap<string, string> | undefined)[] = [undefined, undefined];
  let open: ArrayTag | undefined;
  const [arrays, notes]: [ArrayTag[], string[]] = [[], []];
  let before = 0;
  const done = (appended?: Document["appended"]): Document => {
    if (root?.get("type") !== "PolyData")
      throw new Unsupported(`${where} is VTK with ${root?.get("type") ?? "no data"}, and PolyData is read`, { where });
    if (piece === undefined) throw reader.corrupt("no <Piece> in <PolyData>");
    return { root, piece, arrays, notes, appended };
  };
  for (let at = 0, more = true; more && at < source.size; at += BLOCK) {
    const bytes = await source.read(at, BLOCK);
    more = bytes.length > 0;
    for (const event of reader.push(bytes)) {
      if (event.kind === "close") {
        path.pop();
        if (event.name === "DataArray" && open !== undefined) {
          open.to = before;
          open = undefined;
        }
      } else if (event.kind === "open") {
        const { name, attributes } = event;
        if (path.length === 0) root = attributes;
        else if (name === "Piece") {
          if (piece !== undefined) throw new Unsupported(`${where} has several pieces, and one is read`, { where });
          piece = attributes;
          if (upToPiece) return done();
        } else if (name === "DataArray" && path.includes("Piece")) {
          open = { section: path.at(-1)!, attributes, from: reader.offset, to: reader.offset };
          arrays.push(open);
        } else if (name === "Array" || name === "DataArray")
          notes.push(`the array ${attributes.get("Name") ?? ""} is left out`);
        else if (name === "AppendedData") {
          const from = (await placeOf(source, UNDERSCORE, reader.offset)) + 1;
          if (from === 0) throw reader.corrupt("<AppendedData> without _");
          const base64 = attributes.get("encoding") !== "raw";
          const end = base64 ? await placeOf(source, LESS, from) : -1;
          return done({ from, to: end < 0 ? source.size : end, base64 });
        }
        path.push(name);
      }
      before = reader.offset;
    }
  }
  for (const _ of reader.end());
  return done();
}
