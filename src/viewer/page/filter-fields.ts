/** Which part of a layer is shown: by an expression, by groups, by an id; what is given together must hold together. */
import type { Schema } from "../../model/vectors.js";
import { comparedAs } from "../../query/where-test.js";
import { formatName } from "../../query/where-text.js";
import type { NamedGroup } from "../engine/found.js";
import type { VectorLayer } from "../stage.js";
import type { Look } from "../three/object.js";
import { button, check, complaintOf, field, folded, h } from "./dom.js";
import { sentence } from "./messages.js";

const LISTED = 200; // groups

export interface FilterActions {
  set(change: Look): void;
  /** Brings an object into view. */
  find(id: bigint): void;
}

/** `schema` is what is known of the data's attributes when it is asked. */
export function filterFields(
  { object, about }: VectorLayer,
  schema: () => Schema | undefined,
  { set, find }: FilterActions,
): HTMLElement {
  const { filter } = object.look;
  const where = h("input", { type: "search", value: filter?.where ?? "" });
  const wrong = complaintOf(where);
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
  /** What cannot be understood changes nothing: what was shown stays, and it is said why. */
  const asked = async (): Promise<void> => {
    const text = where.value.trim();
    const mistake = text === "" ? "" : await object.engine.check(text).then(() => "", sentence);
    if (text !== where.value.trim()) return; // another one was asked for meanwhile
    wrong.say(mistake);
    if (mistake === "") apply();
  };
  const showOnly = (): void => {
    only.hidden = ids.length === 0;
    const all = button("Show all", () => {
      ids = [];
      apply();
    });
    only.replaceChildren(`only ${ids.length === 1 ? `object ${ids[0]}` : `${ids.length} objects`}`, all);
  };
  where.addEventListener("change", () => void asked());
  where.addEventListener("focus", () => {
    where.placeholder = exampleOf(schema());
  });

  const id = h("input", { type: "search", placeholder: "42", inputMode: "numeric" });
  const noId = complaintOf(id);
  const search = h("form", {}, field("Find id", id, h("button", { type: "submit" }, "Find")), noId.element);
  search.addEventListener("submit", (event) => {
    event.preventDefault();
    const [number] = /^-?\d+$/.exec(id.value.trim()) ?? [];
    noId.say(number === undefined ? "An id is a whole number, such as 42." : "");
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
  const fields = folded(
    "Filter and find",
    field("Where", where),
    wrong.element,
    groups,
    hasObjects ? search : undefined,
    only,
  );
  fields.addEventListener("toggle", () => {
    where.placeholder = exampleOf(schema());
  });
  fields.open = filter !== undefined;
  return fields;
}

/** An expression of the data's own attributes. */
function exampleOf(schema: Schema | undefined): string {
  for (const domain of ["vertex", "object"] as const)
    for (const info of schema?.[domain] ?? []) {
      const how = comparedAs(info);
      const name = formatName({ name: info.name });
      if (how !== undefined) return how === "text" ? `${name} = '${info.categories?.[0] ?? "a"}'` : `${name} > 0`;
    }
  return schema === undefined ? "" : "no attributes";
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
