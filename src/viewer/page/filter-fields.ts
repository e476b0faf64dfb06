/** Which part of a layer is shown: by an expression, by groups, by an id; what is given together must hold together. */
import type { NamedGroup } from "../engine/found.js";
import type { VectorLayer } from "../stage.js";
import type { Look } from "../three/object.js";
import { button, check, field, folded, h } from "./dom.js";

const LISTED = 200; // groups

export interface FilterActions {
  set(change: Look): void;
  /** Brings an object into view. */
  find(id: bigint): void;
}

export function filterFields({ object, about }: VectorLayer, { set, find }: FilterActions): HTMLElement {
  const { filter } = object.look;
  const where = h("input", { type: "search", placeholder: "fa > 0.3 and length < 40", value: filter?.where ?? "" });
  const chosen = new Set(filter?.group ?? []);
  let ids = [...(filter?.object ?? [])];
  const only = h("div", { className: "row between quiet" });

  const apply = (): void => {
    const text = where.value.trim();
    const next = {
      ...(text !== "" && { where: text }),
      ...(chosen.size > 0 && { group: [...chosen] }),
      ...(ids.length > 0 && { object: ids }),
    };
    set({ filter: Object.keys(next).length === 0 ? undefined : next });
    showOnly();
  };
  const showOnly = (): void => {
    only.hidden = ids.length === 0;
    const all = button("Show all", () => {
      ids = [];
      apply();
    });
    only.replaceChildren(`only ${ids.length === 1 ? `object ${ids[0]}` : `${ids.length} objects`}`, all);
  };
  where.addEventListener("change", apply);

  const id = h("input", { type: "search", placeholder: "42", inputMode: "numeric" });
  const search = h("form", {}, field("Find id", id, h("button", { type: "submit" }, "Find")));
  search.addEventListener("submit", (event) => {
    event.preventDefault();
    const [number] = /-?\d+/.exec(id.value) ?? [];
    if (number !== undefined) find(BigInt(number));
  });

  const groups = h("div", { className: "groups", hidden: true });
  groups.setAttribute("role", "group");
  groups.setAttribute("aria-label", "Groups");
  void object.engine.groups().then(
    (found) => showGroups(groups, found, chosen, apply),
    () => undefined, // a format without groups
  );
  showOnly();
  const hasObjects = about.geometries[0] !== "points";
  const fields = folded("Filter and find", field("Where", where), groups, hasObjects ? search : undefined, only);
  fields.open = filter !== undefined;
  return fields;
}

function showGroups(
  element: HTMLElement,
  groups: readonly NamedGroup[],
  chosen: Set<number | string>,
  apply: () => void,
): void {
  element.hidden = groups.length === 0;
  for (const { group, name, size } of groups.slice(0, LISTED))
    element.append(
      check(`${name} (${size.toLocaleString("en")})`, chosen.has(group) || chosen.has(name), (on) => {
        if (on) chosen.add(group);
        else for (const called of [group, name]) chosen.delete(called);
        apply();
      }),
    );
  if (groups.length > LISTED) element.append(h("div", { className: "quiet" }, `and ${groups.length - LISTED} more`));
}
