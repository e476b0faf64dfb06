/** Elements of the page. Whatever comes from data is text, never markup. */
type Child = Node | string | undefined;
type Properties<K extends keyof HTMLElementTagNameMap> = Partial<
  Omit<HTMLElementTagNameMap[K], "style" | "children" | "dataset">
> & { readonly css?: string; readonly label?: string };

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  { css, label, ...properties }: Properties<K> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  Object.assign(element, properties);
  if (css !== undefined) element.style.cssText = css;
  if (label !== undefined) element.setAttribute("aria-label", label);
  for (const child of children) if (child !== undefined) element.append(child);
  return element;
}

/** A control with its name before it and, of sliders, its value after it. */
export function field(name: string, control: HTMLElement, value?: HTMLOutputElement): HTMLElement {
  control.setAttribute("aria-label", name);
  return h("label", { className: "field" }, h("span", {}, name), control, value);
}

interface Slider {
  readonly min: number;
  readonly max: number;
  readonly step: number | "any";
  readonly value: number;
  show(value: number): string;
  change(value: number): void;
}

export function slider(name: string, { min, max, step, value, show, change }: Slider): HTMLElement {
  const output = h("output", {}, show(value));
  const input = h("input", { type: "range", min: String(min), max: String(max), step: String(step) });
  input.value = String(value);
  input.addEventListener("input", () => {
    output.textContent = show(Number(input.value));
    change(Number(input.value));
  });
  return field(name, input, output);
}

export function choice(
  name: string,
  options: readonly (readonly [value: string, text: string])[],
  value: string,
  change: (value: string) => void,
): HTMLElement {
  const select = h("select");
  for (const [own, text] of options) select.append(h("option", { value: own, selected: own === value }, text));
  select.addEventListener("change", () => change(select.value));
  return field(name, select);
}

export const button = (text: string, click: () => void, label?: string): HTMLButtonElement => {
  const element = h("button", { type: "button" }, text);
  if (label !== undefined) element.setAttribute("aria-label", label);
  element.addEventListener("click", click);
  return element;
};
