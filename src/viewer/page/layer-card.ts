/** The controls of one layer: what is shown of it, in which colours. */
import type { Schema } from "../../model/vectors.js";
import { isCategorical } from "../../scene/colouring.js";
import { cssOf, kindStepsOf, PLAIN, palettes } from "../../scene/palette.js";
import { shown } from "../../scene/scale-bar.js";
import type { Layer } from "../stage.js";
import type { Look } from "../three/object.js";
import { button, choice, field, h, slider } from "./dom.js";
import { EXPORTS, exportSelection } from "./export.js";

/** What a card needs of the page. */
export interface CardActions {
  remove(layer: Layer): void;
  /** Something was changed by hand. */
  changed(): void;
  failed(error: unknown): void;
}

export interface Card {
  readonly element: HTMLElement;
  /** Says how far loading is, and what the colours mean. */
  update(): void;
}

const KINDS = 24; // that a legend lists

export function layerCard(layer: Layer, actions: CardActions): Card {
  const { object, about, name } = layer;
  const set = (change: Look): void => {
    object.set(change);
    actions.changed();
  };
  const status = h("div", { className: "quiet" });
  const colours = h("div", { css: "display:grid;gap:9px" });
  const legend = h("div", { css: "display:grid;gap:6px" });
  const visible = h("input", { type: "checkbox", checked: object.visible, label: `Show ${name}` });
  visible.addEventListener("change", () => {
    object.visible = visible.checked;
    actions.changed();
  });
  const percent = (value: number): string => `${Math.round(100 * value)} %`;
  const { opacity = 1, mark = 2, subset = 1, detail = 1 / 6 } = object.look;
  const element = h(
    "section",
    { className: "card", label: `Layer ${name}` },
    h(
      "div",
      { className: "row" },
      visible,
      h("span", { className: "name grow", title: about.url }, name),
      button("×", () => actions.remove(layer), `Remove ${name}`),
    ),
    h("div", { className: "quiet" }, `${about.geometries.join(", ")} · ${about.format}`),
    slider("Opacity", {
      min: 0.05,
      max: 1,
      step: 0.05,
      value: opacity,
      show: percent,
      change: (value) => set({ opacity: value }),
    }),
    colours,
    legend,
    filterFields(layer, set),
    slider("Subset", {
      min: 0.01,
      max: 1,
      step: 0.01,
      value: subset,
      show: percent,
      change: (value) => set({ subset: value }),
    }),
    h(
      "details",
      {},
      h("summary", {}, "More"),
      h(
        "div",
        { css: "display:grid;gap:9px;margin-top:8px" },
        slider("Size", {
          min: 1,
          max: 20,
          step: 0.5,
          value: mark,
          show: (value) => `${value} px`,
          change: (value) => set({ mark: value }),
        }),
        slider("Detail", {
          min: 1 / 24,
          max: 4,
          step: "any",
          value: detail,
          show: (value) => `${shown(6 * value)} ×`,
          change: (value) => set({ detail: value }),
        }),
        exportRow(layer, actions),
      ),
    ),
    status,
  );
  let schema: Schema | undefined;
  let told = "";
  return {
    element,
    update() {
      const { engine } = object;
      if (engine.schema !== undefined && engine.schema !== schema) {
        if (schema === undefined || colours.childElementCount === 0)
          colours.replaceChildren(...colourFields(layer, engine.schema, set));
        schema = engine.schema;
      }
      const { loading, level, vertices, missing, truncated } = engine.status();
      status.textContent = [
        loading ? "loading …" : undefined,
        level === undefined ? undefined : `${vertices.toLocaleString("en")} vertices, level ${level}`,
        missing > 0 ? `${missing} damaged ${missing === 1 ? "chunk is" : "chunks are"} missing` : undefined,
        truncated ? "too many to show all" : undefined,
      ]
        .filter((part) => part !== undefined)
        .join(" · ");
      const { low, high, kinds } = engine.legend;
      const now = JSON.stringify([object.look.color, object.look.palette, object.look.range, low, high, kinds.size]);
      if (now === told) return;
      told = now;
      legend.replaceChildren(...legendOf(layer, set));
    },
  };
}

/** "by what" and, of what needs it, a palette or a colour. */
function colourFields(layer: Layer, schema: Schema, set: (change: Look) => void): HTMLElement[] {
  const { object } = layer;
  const { color } = object.look;
  const constant =
    color?.startsWith("#") === true || (color === undefined && object.engine.colouring.by === "constant");
  const named = (domain: "vertex" | "object") =>
    schema[domain].map((info) => [`${domain}.${info.name}`, `${info.name} (${domain})`] as const);
  const options = [
    ["#", "one colour"],
    ...(object.engine.form === "points" ? [] : [["orientation", "orientation"] as const]),
    ...(schema.object.length > 0 || object.engine.form !== "points" ? [["object", "object"] as const] : []),
    ...named("vertex"),
    ...named("object"),
  ] as const;
  const picker = h("input", {
    type: "color",
    value: constant ? (color ?? cssOf(PLAIN)) : cssOf(PLAIN),
    label: "Colour",
  });
  picker.addEventListener("input", () => set({ color: picker.value }));
  const one = field("Colour", picker);
  const palette = choice(
    "Palette",
    Object.keys(palettes).map((own) => [own, own] as const),
    object.look.palette ?? "viridis",
    (value) => set({ palette: value }),
  );
  const show = (value: string): void => {
    one.hidden = value !== "#";
    palette.hidden = !value.includes(".");
    one.style.display = one.hidden ? "none" : "";
    palette.style.display = palette.hidden ? "none" : "";
  };
  const now = constant ? "#" : (color ?? object.engine.colouring.by);
  const known =
    options.find(([value]) => value === now || value === `vertex.${now}` || value === `object.${now}`)?.[0] ?? "#";
  show(known);
  const by = choice("Colour by", options, known, (value) => {
    show(value);
    set({ color: value === "#" ? picker.value : value, range: undefined });
  });
  return [by, one, palette];
}

function legendOf({ object, name }: Layer, set: (change: Look) => void): HTMLElement[] {
  const { colouring, legend } = object.engine;
  if (colouring.by !== "attribute") return [];
  if (isCategorical(colouring)) {
    const list = h("ul", { className: "kinds", label: `Kinds of ${colouring.info.name}` });
    const steps = kindStepsOf(object.look.palette);
    for (const [kind, number] of [...legend.kinds].slice(0, KINDS))
      list.append(
        h("li", { title: kind }, h("span", { className: "swatch", css: `background:${cssOf(steps[number]!)}` }), kind),
      );
    return [list];
  }
  const { low, high } = legend;
  if (!(low <= high)) return [];
  const steps = palettes[object.look.palette ?? "viridis"]!.map(cssOf).join(",");
  const [from, to] = object.look.range ?? [low, high];
  const step = (high - low) / 200 || "any";
  const unit = colouring.info.unit === undefined ? "" : ` ${colouring.info.unit}`;
  const ends = { from, to };
  const change = (): void => set({ range: [Math.min(ends.from, ends.to), Math.max(ends.from, ends.to)] });
  const side = (end: "from" | "to", text: string): HTMLElement =>
    slider(text, {
      min: low,
      max: high,
      step,
      value: ends[end],
      show: shown,
      change(value) {
        ends[end] = value;
        change();
      },
    });
  return [
    h("div", {
      className: "legend",
      css: `background:linear-gradient(to right,${steps})`,
      label: `${name}: ${colouring.info.name} from ${shown(from)} to ${shown(to)}`,
    }),
    h(
      "div",
      { className: "row between quiet" },
      h("span", {}, `${shown(from)}${unit}`),
      h("span", {}, `${shown(to)}${unit}`),
    ),
    side("from", "Lowest"),
    side("to", "Highest"),
  ];
}

/** An expression, groups, an id: what is given together is asked for together. */
function filterFields({ object, about }: Layer, set: (change: Look) => void): HTMLElement {
  const { filter } = object.look;
  const where = h("input", { type: "search", placeholder: "fa > 0.3 and length < 40", value: filter?.where ?? "" });
  const group = h("input", {
    type: "search",
    placeholder: "0, 2",
    inputMode: "numeric",
    value: [...(filter?.group ?? [])].join(", "),
  });
  const id = h("input", {
    type: "search",
    placeholder: "42",
    inputMode: "numeric",
    value: [...(filter?.object ?? [])].join(", "),
  });
  const apply = (): void => {
    const numbers = (text: string): string[] => text.match(/-?\d+/g) ?? [];
    const next = {
      ...(where.value.trim() !== "" && { where: where.value.trim() }),
      ...(numbers(group.value).length > 0 && { group: numbers(group.value).map(Number) }),
      ...(numbers(id.value).length > 0 && { object: numbers(id.value).map(BigInt) }),
    };
    set({ filter: Object.keys(next).length === 0 ? undefined : next });
  };
  for (const input of [where, group, id]) input.addEventListener("change", apply);
  const paths = about.geometries[0] !== "points";
  return h(
    "div",
    { css: "display:grid;gap:9px" },
    field("Where", where),
    paths ? field("Group", group) : undefined,
    paths ? field("Object id", id) : undefined,
  );
}

function exportRow(layer: Layer, actions: CardActions): HTMLElement {
  const kind = h("select", { label: "Export as" });
  for (const own of EXPORTS) kind.append(h("option", { value: own }, `.${own}`));
  const save = button("Export", () => {
    save.disabled = true;
    exportSelection(layer, kind.value)
      .catch(actions.failed)
      .finally(() => {
        save.disabled = false;
      });
  });
  return h("div", { className: "field" }, h("span", {}, "Selection"), kind, save);
}
