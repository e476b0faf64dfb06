/** What is cut away: nothing, what lies outside of a box, or outside of a slab that is thin along one axis. */
import type { Bounds } from "../../scene/camera.js";
import { lengthsIn } from "../../scene/scale-bar.js";
import { choice, h, slider } from "./dom.js";

type Mode = "off" | "box" | "slab";
const AXES = ["x", "y", "z"] as const;

export interface ClipCard {
  readonly element: HTMLElement;
  /** Follows the data, and what an address says; the fields stay as they are where nothing has changed. */
  update(bounds: Bounds | undefined, clip: Bounds | undefined, unit: string | undefined): void;
}

export function clipCard(changed: (clip: Bounds | undefined) => void): ClipCard {
  const fields = h("div", { className: "fields" });
  const element = h("section", { label: "Clip" }, h("h2", {}, "Clip"), fields);
  let mode: Mode = "off";
  let axis = 2;
  let bounds: Bounds | undefined;
  let unit: string | undefined;
  let box: { min: number[]; max: number[] } = { min: [], max: [] };
  let told = "";

  const now = (): Bounds | undefined =>
    mode === "off" || bounds === undefined
      ? undefined
      : ({ min: [...box.min], max: [...box.max] } as unknown as Bounds);
  const apply = (): void => {
    told = key();
    changed(now());
  };
  const key = (): string => JSON.stringify([bounds, now(), unit]);

  function show(): void {
    if (bounds === undefined) {
      fields.replaceChildren(h("div", { className: "quiet" }, "Nothing is shown yet."));
      return;
    }
    const { min: low, max: high } = bounds;
    const modes = [
      ["off", "everything"],
      ["box", "a box"],
      ["slab", "a slab"],
    ] as const;
    const by = choice("Keep", modes, mode, (value) => {
      mode = value as Mode;
      box = { min: [...low], max: [...high] };
      if (mode === "slab") thin();
      show();
      apply();
    });
    fields.replaceChildren(by, ...(mode === "box" ? boxFields(bounds) : mode === "slab" ? slabFields(bounds) : []));
  }

  /** A tenth of the data, through their middle. */
  function thin(): void {
    const { min: low, max: high } = bounds!;
    box = { min: [...low], max: [...high] };
    const [from, to] = [low[axis]!, high[axis]!];
    [box.min[axis], box.max[axis]] = [from + 0.45 * (to - from), from + 0.55 * (to - from)];
  }

  function boxFields({ min: low, max: high }: Bounds): HTMLElement[] {
    return AXES.flatMap((name, k) =>
      (["min", "max"] as const).flatMap((end) =>
        low[k]! < high[k]!
          ? slider(`${name} ${end === "min" ? "from" : "to"}`, {
              min: low[k]!,
              max: high[k]!,
              step: "any",
              value: box[end][k]!,
              show: lengthsIn(unit, ...low, ...high),
              change(value) {
                box[end][k] = value;
                apply();
              },
            })
          : [],
      ),
    );
  }

  function slabFields({ min: low, max: high }: Bounds): HTMLElement[] {
    const [from, to] = [low[axis]!, high[axis]!];
    const place = (middle: number, half: number): void => {
      [box.min[axis], box.max[axis]] = [middle - half, middle + half];
      apply();
    };
    const middle = (): number => (box.min[axis]! + box.max[axis]!) / 2;
    const half = (): number => (box.max[axis]! - box.min[axis]!) / 2;
    const across = choice(
      "Across",
      AXES.map((name, k) => [String(k), name] as const),
      String(axis),
      (value) => {
        axis = Number(value);
        thin();
        show();
        apply();
      },
    );
    if (!(from < to)) return [across];
    const one = { min: from, max: to, step: "any", show: lengthsIn(unit, from, to) } as const;
    return [
      across,
      slider("Place", { ...one, value: middle(), change: (value) => place(value, half()) }),
      slider("Thickness", {
        ...one,
        min: (to - from) / 1000,
        max: to - from,
        show: lengthsIn(unit, to - from),
        value: 2 * half(),
        change: (value) => place(middle(), value / 2),
      }),
    ];
  }

  return {
    element,
    update(next, clip, nextUnit) {
      if (JSON.stringify([next, clip, nextUnit]) === told) return;
      const kept = mode;
      unit = nextUnit;
      bounds = next;
      if (clip === undefined || bounds === undefined) mode = "off";
      else {
        box = { min: [...clip.min], max: [...clip.max] };
        const cut = AXES.flatMap((_, k) =>
          clip.min[k]! > bounds!.min[k]! || clip.max[k]! < bounds!.max[k]! ? [k] : [],
        );
        mode = kept !== "off" ? kept : cut.length === 1 ? "slab" : "box";
        if (mode === "slab" && cut[0] !== undefined) axis = cut[0];
      }
      told = key();
      show();
    },
  };
}
