/** The selection of a layer as a file, as the command line's `get` writes it. */
import type { Geometry } from "../../model/vectors.js";
import type { VectorLayer } from "../stage.js";

const PATHS = ["trk", "tck", "trx", "vtk", "csv"] as const;
/** What each kind of geometry can become, the most usual first. */
export const EXPORTS: { readonly [G in Geometry]: readonly string[] } = {
  points: ["csv", "ply"],
  lines: PATHS,
  polylines: PATHS,
  streamlines: PATHS,
  graph: ["graphml", "edges"],
  skeletons: ["swc", "csv"],
  mesh: ["obj", "ply", "stl"],
  parametric: ["csv"],
};

export async function exportSelection({ object, name }: VectorLayer, as: string): Promise<void> {
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
