/** The controls of a volume: where its planes are, which values are black and white, how much is seen through it. */
import { cssOf, palettes } from "../../scene/palette.js";
import { lengthsIn, shown } from "../../scene/scale-bar.js";
import type { Plane } from "../../scene/slice.js";
import type { VolumeLayer } from "../stage.js";
import type { SliceObjectLook } from "../three/slices.js";
import { button, choice, folded, h, range, slider } from "./dom.js";
import type { Card, CardActions } from "./layer-card.js";

const AXES = ["x", "y", "z"] as const;

export function volumeCard(layer: VolumeLayer, actions: Pick<CardActions, "remove" | "changed">): Card {
  const { object, about, name } = layer;
  const set = (change: SliceObjectLook): void => {
    object.set(change);
    actions.changed();
  };
  const status = h("div", { className: "quiet", role: "status" });
  const fields = h("div", { className: "fields" });
  const contrast = h("div", { className: "fields" });
  const visible = h("input", { type: "checkbox", checked: object.visible, label: `Show ${name}` });
  visible.addEventListener("change", () => {
    object.visible = visible.checked;
    actions.changed();
  });
  const remove = button("×", () => actions.remove(layer), `Remove ${name}`);
  remove.className = "plain";
  const what = `${about.labels ? "labels" : "image"}, ${about.shapes[0]!.join(" × ")} ${about.dtype}`;
  const element = h(
    "section",
    { className: "card", label: `Layer ${name}` },
    h("div", { className: "row" }, visible, h("h3", { className: "grow", title: about.url }, name), remove),
    h("div", { className: "quiet" }, what),
    fields,
    status,
  );

  function rebuild(): void {
    const { opacity = 1, channel = 0, palette } = object.look;
    const paletteNames = ["black to white", ...Object.keys(palettes)].map((own) => [own, own] as const);
    fields.replaceChildren(
      ...planeFields(layer, set),
      contrast,
      ...(about.labels
        ? []
        : [
            choice("Palette", paletteNames, palette ?? "black to white", (value) =>
              set({ palette: value === "black to white" ? undefined : value }),
            ),
          ]),
      ...(about.channels > 1
        ? [
            slider("Channel", {
              min: 0,
              max: about.channels - 1,
              step: 1,
              value: channel,
              show: String,
              change: (value) => set({ channel: value, range: undefined }),
            }),
          ]
        : []),
      slider("Opacity", {
        min: 0.05,
        max: 1,
        step: 0.05,
        value: opacity,
        show: (value) => `${Math.round(100 * value)} %`,
        change: (value) => set({ opacity: value }),
      }),
    );
  }
  rebuild();

  let natural: readonly [number, number] | undefined;
  let told = "";
  return {
    element,
    rebuild,
    update() {
      const { engine, look } = object;
      const { loading, level, missing } = engine.status();
      element.ariaBusy = String(object.visible && loading);
      status.textContent = [
        loading ? "loading …" : undefined,
        level === undefined ? undefined : level === 0 ? "full resolution" : `level ${level}, 0 is full resolution`,
        missing > 0 ? `${missing} damaged ${missing === 1 ? "chunk is" : "chunks are"} missing` : undefined,
      ]
        .filter((part) => part !== undefined)
        .join(" · ");
      // The bar is as wide as the data are: it stays while somebody moves its ends.
      if (look.range === undefined || natural === undefined) natural = look.range ?? engine.range;
      const now = JSON.stringify([natural, look.palette]);
      if (now === told || about.labels) return;
      told = now;
      contrast.replaceChildren(contrastField(layer, natural, set));
    },
  };
}

/** A place on each axis, and whether the plane there is shown. */
function planeFields({ object, about }: VolumeLayer, set: (change: SliceObjectLook) => void): HTMLElement[] {
  const { min, max } = about.bounds;
  const given = object.look.planes;
  const middle = (k: number): number => (min[k]! + max[k]!) / 2;
  const places = AXES.map((_, k) => given?.find(({ axis }) => axis === k)?.position ?? middle(k));
  const on = AXES.map((_, k) => given === undefined || given.some(({ axis }) => axis === k));
  const apply = (): void =>
    set({
      planes: places.flatMap((position, axis) => (on[axis] === true ? [{ axis, position } as Plane] : [])),
    });
  const show = lengthsIn(about.unit, ...min, ...max);
  const thick = AXES.flatMap((name, k) => (about.shapes[0]![k]! > 1 ? [[name, k] as const] : []));
  const sliders = thick.map(([name, k]) =>
    slider(`Plane at ${name}`, {
      min: min[k]!,
      max: max[k]!,
      step: "any",
      value: places[k]!,
      show,
      change: (value) => {
        places[k] = value;
        apply();
      },
    }),
  );
  const switches = thick.map(([name, k]) => {
    const shows = h("input", { type: "checkbox", checked: on[k]! });
    shows.addEventListener("change", () => {
      on[k] = shows.checked;
      apply();
    });
    return h("label", { className: "row" }, shows, `the plane across ${name}`);
  });
  return [...sliders, folded("Which planes", ...switches)];
}

function contrastField(
  { object }: VolumeLayer,
  [low, high]: readonly [number, number],
  set: (change: SliceObjectLook) => void,
): HTMLElement {
  const { palette } = object.look;
  return range("value", {
    min: low - (high - low) / 2,
    max: high + (high - low) / 2,
    step: "any",
    value: object.look.range ?? [low, high],
    colours: (palette === undefined ? [0, 0xffffff] : palettes[palette]!).map(cssOf),
    show: shown,
    change: (from, to) => set({ range: [from, to] }),
  });
}
