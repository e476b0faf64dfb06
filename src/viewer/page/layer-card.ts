/** The controls of one layer: what is shown of it, in which colours. */
import type { Schema } from "../../model/vectors.js";
import { shown } from "../../scene/scale-bar.js";
import type { Layer, VectorLayer } from "../stage.js";
import type { Look } from "../three/object.js";
import { colourFields, legendOf } from "./colour-fields.js";
import { button, check, field, folded, h, slider } from "./dom.js";
import { EXPORTS, exportSelection } from "./export.js";
import { filterFields } from "./filter-fields.js";

/** What a card needs of the page. */
export interface CardActions {
  remove(layer: Layer): void;
  /** Something was changed by hand. */
  changed(): void;
  find(layer: VectorLayer, id: bigint): void;
  failed(error: unknown): void;
}

export interface Card {
  readonly element: HTMLElement;
  /** Says how far loading is, and what the colours mean. */
  update(): void;
  /** Makes the fields anew: what they say was changed elsewhere. */
  rebuild(): void;
}

const percent = (value: number): string => `${Math.round(100 * value)} %`;

export function layerCard(layer: VectorLayer, actions: CardActions): Card {
  const { object, about, name } = layer;
  const set = (change: Look): void => {
    object.set(change);
    actions.changed();
  };
  const status = h("div", { className: "quiet", role: "status" });
  const colours = h("div", { className: "fields" });
  const legend = h("div", { className: "fields" });
  const fields = h("div", { className: "fields" });
  const visible = h("input", { type: "checkbox", checked: object.visible, label: `Show ${name}` });
  visible.addEventListener("change", () => {
    object.visible = visible.checked;
    actions.changed();
  });
  const remove = button("×", () => actions.remove(layer), `Remove ${name}`);
  remove.className = "plain";
  const heading = h("h3", { className: "grow", title: about.url }, name);
  const element = h(
    "section",
    { className: "card", label: `Layer ${name}` },
    h("div", { className: "row" }, visible, heading, remove),
    h("div", { className: "quiet" }, `${about.geometries.join(", ")} · ${about.format}`),
    fields,
    status,
  );

  function rebuild(): void {
    const { opacity = 1, subset = 1 } = object.look;
    const share = { max: 1, show: percent } as const;
    fields.replaceChildren(
      slider("Opacity", {
        ...share,
        min: 0.05,
        step: 0.05,
        value: opacity,
        change: (value) => set({ opacity: value }),
      }),
      colours,
      legend,
      filterFields(layer, () => schema, { set, find: (id) => actions.find(layer, id) }),
      slider("Subset", { ...share, min: 0.01, step: 0.01, value: subset, change: (value) => set({ subset: value }) }),
      moreFields(layer, set, exportRow(layer, actions)),
    );
  }
  let schema: Schema | undefined;
  let told = "";
  rebuild();

  return {
    element,
    rebuild,
    update() {
      const { engine, look } = object;
      element.ariaBusy = String(object.visible && engine.status().loading);
      status.textContent = statusOf(layer);
      const { low, high, kinds } = engine.legend;
      if (engine.schema !== undefined && engine.schema !== schema) {
        schema = engine.schema;
        colours.replaceChildren(...colourFields(layer, schema, set));
      }
      const now = JSON.stringify([look.color, object.palette, look.palette, low, high, kinds.size]);
      if (now === told) return;
      told = now;
      legend.replaceChildren(...legendOf(layer, set));
    },
  };
}

function statusOf({ object }: VectorLayer): string {
  const { loading, level, vertices, missing, truncated, coarse } = object.engine.status();
  const { subset = 1 } = object.look;
  const count = (number: number): string => number.toLocaleString("en");
  const shown = subset < 1 ? `about ${count(Math.round(vertices * object.share()))} of ` : "";
  const nothing = !loading && level === undefined && object.visible;
  return [
    loading ? "loading …" : undefined,
    level === undefined ? undefined : `${shown}${count(vertices)} vertices, level ${level}`,
    nothing ? "nothing to show" : undefined,
    missing > 0 ? `${missing} damaged ${missing === 1 ? "chunk is" : "chunks are"} missing` : undefined,
    truncated ? "too many to show all" : undefined,
    coarse ? "too many for the finest level: come closer" : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(" · ");
}

function moreFields({ object }: VectorLayer, set: (change: Look) => void, more: HTMLElement): HTMLElement {
  const { mark = 2, detail = 1 / 6, boxes = false } = object.look;
  const boxed = check("boxes of chunks", boxes, (on) => set({ boxes: on }));
  const why = h("div", { className: "quiet", hidden: true }, "These data do not lie in chunks: there are no boxes.");
  const fields = folded(
    "Size, detail, export",
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
      show: (value) => `${shown(Number((6 * value).toPrecision(2)))} ×`,
      change: (value) => set({ detail: value }),
    }),
    boxed,
    why,
    more,
  );
  // Which boxes there are may take a request: it is asked when somebody looks.
  fields.addEventListener("toggle", () => {
    if (!fields.open || object.engine.status().level === undefined) return;
    object.engine.boxes().then(
      ({ length }) => {
        boxed.querySelector("input")!.disabled = length === 0;
        why.hidden = length > 0;
      },
      () => undefined, // it is told where they are wanted
    );
  });
  return fields;
}

function exportRow(layer: VectorLayer, actions: CardActions): HTMLElement {
  const kind = h("select");
  for (const own of EXPORTS[layer.about.geometries[0] ?? "points"]) kind.append(h("option", { value: own }, `.${own}`));
  const save = button("Export", () => {
    save.disabled = true;
    exportSelection(layer, kind.value)
      .catch(actions.failed)
      .finally(() => {
        save.disabled = false;
      });
  });
  return field("Export as", kind, save);
}
