/** What was picked or looked for, by itself, to be drawn over the others. */
import { NotFound } from "../../errors.js";
import type { VectorDataset } from "../../model/vectors.js";
import type { Vector } from "../../scene/camera.js";
import { attributesOf } from "../../scene/dress.js";
import { levelledFor } from "../../scene/level.js";
import { PICKED } from "../../scene/palette.js";
import { type Drawing, drawingOf } from "./drawing.js";
import { type Dress, firstPlace, type Piece, pieceOf } from "./piece.js";

const MOST = 1 << 18; // vertices, where there is a level of so few

/** An object, dressed as the others but for its colour; undefined where there is none. */
export async function drawnObject(
  dataset: VectorDataset,
  axes: readonly number[],
  id: bigint,
  others: Dress,
): Promise<Drawing | undefined> {
  const dress: Dress = { ...others, colouring: { by: "constant", colour: PICKED } };
  const pieces: Piece[] = [];
  try {
    const selection = await levelledFor(dataset, { object: [id] }, MOST, {});
    for await (const batch of selection.batches({ attributes: attributesOf(dress) }))
      pieces.push(pieceOf("", batch, axes, firstPlace(batch, axes), dress));
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
  const [first, ...rest] = pieces.filter(({ objects }) => objects.length > 0);
  return first && drawingOf(0, [first, ...rest]);
}

/** A place that no object owns. */
export function drawnPlace(origin: Vector): Drawing {
  const column = (name: string, ...values: number[]) => ({
    name,
    width: values.length,
    values: Float32Array.from(values),
  });
  const columns = [column("position", 0, 0, 0), column("value", PICKED), column("seed", 0), column("radius", 0)];
  return { id: 0, form: "points", origin, direct: true, columns, index: undefined };
}
