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
export function field(name: string, control: HTMLElement, value?: HTMLElement): HTMLElement {
  control.setAttribute("aria-label", name);
  return h("label", { className: "field" }, h("span", {}, name), control, value);
}

let described = 0;

/** A place beneath a control that says what is wrong with it, to people who see it and to those who hear it. */
export function complaintOf(control: HTMLElement): { readonly element: HTMLElement; say(text: string): void } {
  const element = h("div", { className: "wrong-field", role: "alert", id: `complaint-${++described}`, hidden: true });
  return {
    element,
    say(text) {
      element.hidden = text === "";
      element.textContent = text;
      control.setAttribute("aria-invalid", String(text !== ""));
      if (text === "") control.removeAttribute("aria-describedby");
      else control.setAttribute("aria-describedby", element.id);
    },
  };
}

/** What is seldom needed, behind a word. */
export const folded = (name: string, ...children: Child[]): HTMLDetailsElement =>
  h("details", {}, h("summary", {}, name), h("div", { className: "fields" }, ...children));

interface Scale {
  readonly min: number;
  readonly max: number;
  readonly step: number | "any";
  show(value: number): string;
}

interface Slider extends Scale {
  readonly value: number;
  change(value: number): void;
}

export function slider(name: string, { value, show, change, ...scale }: Slider): HTMLElement {
  const output = h("output", {}, show(value));
  const input = rangeInput(scale, value, () => {
    output.textContent = show(Number(input.value));
    change(Number(input.value));
  });
  return field(name, input, output);
}

interface Range extends Scale {
  readonly value: readonly [low: number, high: number];
  /** What lies between them: a gradient. */
  readonly colours: readonly string[];
  change(low: number, high: number): void;
}

/** Two ends on one bar of colours. */
export function range(name: string, { value, colours, show, change, ...scale }: Range): HTMLElement {
  const bar = h("div", { className: "range" });
  const [from, to] = [h("span"), h("span")];
  const now = [...value];
  const ends = (): [number, number] => [Math.min(...now), Math.max(...now)];
  const paint = (): void => {
    const [a, b] = ends().map((end) => (100 * (end - scale.min)) / (scale.max - scale.min || 1)) as [number, number];
    const stops = colours.map((colour, i) => `${colour} ${a + ((b - a) * i) / (colours.length - 1)}%`);
    bar.style.background = `linear-gradient(to right, ${stops.join(", ")})`;
    for (const [place, end] of [[from, 0] as const, [to, 1] as const]) place.textContent = show(ends()[end]!);
  };
  for (const [end, label] of [`Lowest ${name}`, `Highest ${name}`].entries()) {
    const input = rangeInput(scale, value[end]!, () => {
      now[end] = exactly(Number(input.value), scale); // the other one stays what it was, to the last digit
      paint();
      change(...ends());
    });
    input.setAttribute("aria-label", label);
    bar.append(input);
  }
  paint();
  return h("div", { className: "legend" }, bar, h("div", { className: "row between quiet" }, from, to));
}

/** Browsers round what a slider says: at its ends it is what they are. */
function exactly(value: number, { min, max }: Pick<Scale, "min" | "max">): number {
  const near = (end: number): boolean => Math.abs(value - end) <= 1e-9 * (max - min);
  return near(min) ? min : near(max) ? max : value;
}

function rangeInput({ min, max, step }: Omit<Scale, "show">, value: number, input: () => void): HTMLInputElement {
  const element = h("input", { type: "range", min: String(min), max: String(max), step: String(step) });
  element.value = String(value);
  element.addEventListener("input", input);
  return element;
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

export function check(name: string, checked: boolean, change: (checked: boolean) => void): HTMLLabelElement {
  const input = h("input", { type: "checkbox", checked });
  input.addEventListener("change", () => change(input.checked));
  return h("label", { className: "check" }, input, name);
}

export const button = (text: string, click: () => void, label?: string): HTMLButtonElement => {
  const element = h("button", { type: "button" }, text);
  if (label !== undefined) element.setAttribute("aria-label", label);
  element.addEventListener("click", click);
  return element;
};
