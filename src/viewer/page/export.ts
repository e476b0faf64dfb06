/** The selection of a layer as a file, as the command line's `get` writes it. */
import { concat } from "../../bytes/concat.js";
import { InvalidInput } from "../../errors.js";
import { kinds } from "../../format/interchange/kinds.js";
import type { Layer } from "../stage.js";

export const EXPORTS: readonly string[] = ["csv", "ply", "obj", "trk", "tck", "swc", "stl"];

export async function exportSelection({ dataset, object, name }: Layer, as: string): Promise<void> {
  const kind = kinds.find(({ id }) => id === as);
  if (kind === undefined) throw new InvalidInput(`there is no file of kind ${as}`);
  const [{ feedOf }, { convertToFile }] = await Promise.all([
    import("../../convert/feed.js"),
    import("../../convert/files.js"),
  ]);
  const { filter, clip } = object.look;
  const box = clip === undefined ? {} : { box: [...clip.min, ...clip.max], clip: true };
  const feed = await feedOf(dataset, { ...filter, ...box }, {});
  const pieces: Uint8Array[] = [];
  const sink = {
    write: async (bytes: Uint8Array): Promise<void> => {
      pieces.push(bytes.slice());
    },
    commit: async (): Promise<void> => {},
    abort: async (): Promise<void> => {},
  };
  await convertToFile(feed, kind, sink, {});
  save(new Blob([concat(pieces) as Uint8Array<ArrayBuffer>]), `${name.replace(/\.[^.]*$/, "")}.${as}`);
}

/** Hands a file to the browser's downloads. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
