/**
 * Bytes that came, as bars, and memory, as a curve, over the time since the page began: for whoever wants to know why something takes
 * long.
 */
import type { Layer } from "../stage.js";
import { h } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, BARS] = [288, 64, 96];
const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

interface Sample {
  readonly at: number;
  readonly received: number;
  readonly memory: number;
}

export interface TimelineCard {
  readonly element: HTMLElement;
  update(layers: readonly Layer[]): void;
}

export function timelineCard(): TimelineCard {
  const said = h("div", { className: "quiet" });
  const scale = h("div", { className: "row between quiet" });
  const picture = svg("svg", { class: "timeline", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const body = h("div", { className: "fields" });
  body.append(picture, scale, said);
  const element = h("details", {}, h("summary", {}, "Requests and memory"), body);
  const samples: Sample[] = [];
  return {
    element,
    update(layers) {
      const states = layers.map(({ object }) => object.engine.status());
      const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
      const memory = sum(states.map(({ bytes }) => bytes));
      const requests = sum(states.map(({ traffic }) => traffic?.requests ?? 0));
      const received = sum(states.map(({ traffic }) => traffic?.bytes ?? 0));
      const missing = sum(states.map((state) => state.missing));
      samples.push({ at: performance.now(), received, memory });
      if (samples.length > 1000) samples.splice(1, 500); // the first says where time begins
      const last = samples.at(-1)!.at;
      scale.replaceChildren(h("span", {}, "0 s"), h("span", {}, `${Math.round(last / 1000)} s`));
      said.textContent = `${requests} requests, ${mega(received)} · ${mega(memory)} in memory${missing > 0 ? ` · ${missing} damaged chunks` : ""}`;
      picture.setAttribute("aria-label", `Over time: ${said.textContent}`);
      picture.replaceChildren(...drawn(samples, last));
    },
  };
}

function drawn(samples: readonly Sample[], last: number): SVGElement[] {
  const came = new Float64Array(BARS);
  for (const [i, { at, received }] of samples.entries())
    came[Math.min(BARS - 1, Math.floor((at / last) * BARS))]! += Math.max(
      0,
      received - (samples[i - 1]?.received ?? 0),
    );
  const most = Math.max(1, ...came);
  const fullest = Math.max(1, ...samples.map(({ memory }) => memory));
  const bars = [...came].flatMap((bytes, i) => {
    const high = (bytes / most) * (HEIGHT - 6);
    const place = { x: (i * WIDTH) / BARS, y: HEIGHT - high, width: WIDTH / BARS - 1, height: high };
    return bytes > 0 ? [svg("rect", { ...place, class: "came" })] : [];
  });
  const points = samples.map(
    ({ at, memory }) =>
      `${((at / last) * WIDTH).toFixed(1)},${(HEIGHT - 2 - (memory / fullest) * (HEIGHT - 6)).toFixed(1)}`,
  );
  return [...bars, svg("polyline", { points: points.join(" "), class: "memory" })];
}

function svg(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const node = document.createElementNS(SVG, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  return node;
}
