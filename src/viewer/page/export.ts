/** The selection of a layer as a file, as the command line's `get` writes it. */
import type { Layer } from "../stage.js";

export const EXPORTS: readonly string[] = ["csv", "ply", "obj", "trk", "tck", "swc", "stl"];

export async function exportSelection({ object, name }: Layer, as: string): Promise<void> {
  const { filter, clip } = object.look;
  const box = clip === undefined ? {} : { box: [...clip.min, ...clip.max], clip: true };
  const bytes = await object.engine.exported({ as, query: { ...filter, ...box } });
  save(new Blob([bytes as Uint8Array<ArrayBuffer>]), `${name.replace(/\.[^.]*$/, "")}.${as}`);
}

/** Hands a file to the browser's downloads. */
export function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
