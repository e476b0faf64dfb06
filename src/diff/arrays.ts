/** Two arrays: the same shape, but for axes of one element, and the same element at every place, box by box. */
import type { NdArray } from "../model/array.js";
import type { ArrayDataset, ReadOptions } from "../model/dataset.js";
import { valueAt } from "../model/elements.js";
import type { Findings } from "./report.js";
import { same, shown, typeText } from "./values.js";

const ELEMENTS = 1 << 22; // of each, that are held at once

export async function diffArrays(
  a: ArrayDataset,
  b: ArrayDataset,
  findings: Findings,
  { tolerance, ...options }: ReadOptions & { readonly tolerance: number },
): Promise<void> {
  const shape = within(a.shape, b.shape);
  if (shape === undefined)
    return void findings.tell(
      "shape",
      a.url,
      () => `${a.shape.join(" × ")} in the first, ${b.shape.join(" × ")} in the second`,
    );
  if (a.shape.length !== b.shape.length)
    findings.notes.add(
      `there are ${a.shape.length} axes in the first, ${b.shape.length} in the second, of one element each`,
    );
  if (JSON.stringify(a.dtype) !== JSON.stringify(b.dtype))
    findings.notes.add(`elements are ${typeText(a)} in the first, ${typeText(b)} in the second`);
  const [own, its] = [a, b].map(timeOf);
  if (own !== its)
    return void findings.tell(
      "elements",
      a.url,
      () => `${own || "no times"} in the first, ${its || "no times"} in the second`,
    );
  const total = shape.reduce((product, size) => product * size, 1);
  let done = 0;
  const of = (array: ArrayDataset, region: { start: number; stop: number }[]) =>
    array.read([...region, ...array.shape.slice(shape.length).map(() => ({ start: 0, stop: 1 }))], options);
  for (const region of slabs(shape, a.chunkShape.slice(0, shape.length))) {
    options.signal?.throwIfAborted();
    const [one, two] = await Promise.all([of(a, region), of(b, region)]);
    compareElements(
      one,
      two,
      region.map(({ start }) => start),
      tolerance,
      findings,
    );
    done += one.shape.reduce((product, size) => product * size, 1);
    options.onProgress?.({ done, total, unit: "chunks" });
  }
  findings.compared.vertices += total;
}

/** The shape that both have, but for axes of one element at the end, as volumes have for channels; undefined where there is none. */
function within(a: readonly number[], b: readonly number[]): readonly number[] | undefined {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  return long.every((size, axis) => size === (short[axis] ?? 1)) ? short : undefined;
}

/** What times are counted in: the same number of something else is another time. */
const timeOf = ({ dtype }: ArrayDataset): string =>
  "unit" in dtype ? `${dtype.kind}s in ${dtype.scale} ${dtype.unit}` : "";

/** The array in boxes of whole chunks, of about so many elements. */
function* slabs(shape: readonly number[], chunk: readonly number[]): Generator<{ start: number; stop: number }[]> {
  if (shape.some((size) => size === 0)) return;
  const box = chunk.map((size, axis) => Math.min(size, shape[axis]!));
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const others = box.reduce((product, size, k) => (k === axis ? product : product * size), 1);
    const times = Math.max(1, Math.floor(ELEMENTS / others / box[axis]!));
    box[axis] = Math.min(shape[axis]!, box[axis]! * times);
  }
  const at = shape.map(() => 0);
  for (;;) {
    yield at.map((from, axis) => ({ start: from, stop: Math.min(shape[axis]!, from + box[axis]!) }));
    let axis = shape.length - 1;
    for (; axis >= 0; axis--) {
      at[axis]! += box[axis]!;
      if (at[axis]! < shape[axis]!) break;
      at[axis] = 0;
    }
    if (axis < 0) return;
  }
}

function compareElements(a: NdArray, b: NdArray, from: readonly number[], tolerance: number, findings: Findings): void {
  const count = a.shape.reduce((product, size) => product * size, 1);
  for (let i = 0; i < count; i++) {
    const [x, y] = [valueAt(a, i), valueAt(b, i)];
    if (x === y || alike(x, y, tolerance)) continue;
    let rest = i;
    const place = a.shape
      .map((_, k) => {
        const axis = a.shape.length - 1 - k;
        const at = rest % a.shape[axis]!;
        rest = Math.floor(rest / a.shape[axis]!);
        return at + (from[axis] ?? 0);
      })
      .reverse();
    findings.tell("elements", `[${place.join(", ")}]`, () => `${text(x)} in the first, ${text(y)} in the second`);
  }
}

type Element = ReturnType<typeof valueAt>;

function alike(x: Element, y: Element, tolerance: number): boolean {
  if (typeof x === "number" && typeof y === "number")
    return x === y || (Number.isNaN(x) && Number.isNaN(y)) || Math.abs(x - y) <= tolerance;
  if (Array.isArray(x) && Array.isArray(y))
    return x.length === y.length && x.every((own, i) => alike(own, y[i], tolerance));
  const simple = (value: Element): value is number | bigint | string =>
    ["number", "bigint", "string"].includes(typeof value);
  return simple(x) && simple(y) ? same(x, y) : text(x) === text(y);
}

const text = (value: Element): string =>
  typeof value === "object"
    ? JSON.stringify(value, (_, own) =>
        typeof own === "bigint" || (typeof own === "number" && !Number.isFinite(own)) ? `${own}` : own,
      )
    : typeof value === "boolean"
      ? `${value}`
      : shown(value as number | bigint | string);
