/** What is known of the thing that was clicked at or looked for. */
import { shown, unitText } from "../../scene/scale-bar.js";
import type { Picked } from "../engine/picked.js";
import type { VectorLayer } from "../stage.js";
import { button, h } from "./dom.js";

export interface PickedCard {
  readonly element: HTMLElement;
  show(picked: Picked | undefined, layer: VectorLayer | undefined): void;
}

export interface PickedActions {
  /** Has a layer show this object and no other. */
  only(layer: VectorLayer, id: bigint): void;
  close(): void;
}

export function pickedCard({ only, close: ended }: PickedActions): PickedCard {
  const element = h("section", { className: "picked", label: "Picked", hidden: true });
  element.setAttribute("aria-live", "polite");
  function show(picked: Picked | undefined, layer: VectorLayer | undefined): void {
    element.hidden = picked === undefined || layer === undefined;
    element.replaceChildren();
    if (picked === undefined || layer === undefined) return;
    const { id, position, attributes } = picked;
    const rows: [string, string][] = [
      ["layer", layer.name],
      ...(id === undefined ? [] : [["object", String(id)] as [string, string]]),
      ["at", `${position.map(shown).join(", ")}${unitOf(layer)}`],
      ...attributes,
    ];
    const table = h("table");
    for (const [name, value] of rows) table.append(h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)));
    const alone = id === undefined ? undefined : button("Show only this", () => only(layer, id));
    const close = button("Close", ended);
    element.append(h("h2", {}, "Picked"), table, h("div", { className: "row" }, alone, close));
  }
  return { element, show };
}

/** That its places are in. */
function unitOf({ about, object }: VectorLayer): string {
  const unit = about.axes[object.engine.axes[0] ?? 0]?.unit;
  return unit === undefined ? "" : ` ${unitText(unit)}`;
}
