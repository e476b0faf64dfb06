/** In which colours a layer is seen, and what they mean. */
import type { Schema } from "../../model/vectors.js";
import { isCategorical } from "../../scene/colouring.js";
import { cssOf, kindPalettes, kindStepsOf, PLAIN, palettes } from "../../scene/palette.js";
import { shown, unitText } from "../../scene/scale-bar.js";
import type { VectorLayer } from "../stage.js";
import type { Look } from "../three/object.js";
import { choice, field, h, range } from "./dom.js";

type Set = (change: Look) => void;
const KINDS = 24; // that a legend lists

/** "by what" and, of what needs it, a colour or a palette. */
export function colourFields({ object }: VectorLayer, schema: Schema, set: Set): HTMLElement[] {
  const { color, palette } = object.look;
  const { colouring, form } = object.engine;
  const constant = color?.startsWith("#") === true || (color === undefined && colouring.by === "constant");
  const named = (domain: "vertex" | "object") =>
    schema[domain].map(({ name }) => [`${domain}.${name}`, `${name} (${domain})`] as const);
  const options = [
    ["#", "one colour"],
    ...(form === "points" ? [] : [["orientation", "orientation"] as const]),
    ...(schema.object.length > 0 || form !== "points" ? [["object", "object"] as const] : []),
    ...named("vertex"),
    ...named("object"),
  ] as const;
  const now = constant ? "#" : (color ?? colouring.by);
  const known = options.find(([own]) => own === now || own === `vertex.${now}` || own === `object.${now}`)?.[0] ?? "#";
  const picker = h("input", { type: "color", value: constant ? (color ?? cssOf(PLAIN)) : cssOf(PLAIN) });
  picker.addEventListener("input", () => set({ color: picker.value }));
  const by = choice("Colour by", options, known, (value) =>
    set({ color: value === "#" ? picker.value : value, range: undefined, palette: undefined }),
  );
  if (known === "#") return [by, field("Colour", picker)];
  if (!known.includes(".")) return [by];
  const kinds = isCategorical(colouring);
  const names = Object.keys(kinds ? kindPalettes : palettes);
  return [
    by,
    choice(
      "Palette",
      names.map((own) => [own, own] as const),
      palette ?? names[0]!,
      (value) => set({ palette: value }),
    ),
  ];
}

/** Of numbers a bar of colours whose ends can be moved, of kinds of things a list. */
export function legendOf({ object }: VectorLayer, set: Set): HTMLElement[] {
  const { colouring, legend } = object.engine;
  if (colouring.by !== "attribute") return [];
  const { name, unit } = colouring.info;
  if (isCategorical(colouring)) {
    const list = h("ul", { className: "kinds", label: `Kinds of ${name}` });
    const steps = kindStepsOf(object.look.palette);
    for (const [kind, number] of [...legend.kinds].slice(0, KINDS))
      list.append(
        h("li", { title: kind }, h("span", { className: "swatch", css: `background:${cssOf(steps[number]!)}` }), kind),
      );
    const more = legend.kinds.size - KINDS;
    return more > 0 ? [list, h("div", { className: "quiet" }, `and ${more} more`)] : [list];
  }
  const { low, high } = legend;
  if (!(low <= high)) return [];
  return [
    range(name, {
      min: low,
      max: high,
      step: "any", // with a step the upper end would be the last whole one
      value: object.look.range ?? [low, high],
      colours: object.palette.map(cssOf),
      show: (value) => (unit === undefined ? shown(value) : `${shown(value)} ${unitText(unit)}`),
      change: (from, to) => set({ range: [from, to] }),
    }),
  ];
}
