/**
 * Bytes that came, as bars, requests and memory, as curves, over the time since the page began: for whoever wants to know why
 * something takes long. Each has a scale of its own, which the words beneath say.
 */
import { shown } from "../../scene/scale-bar.js";
import type { Layer } from "../stage.js";
import { h } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, BARS] = [288, 64, 96];
const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

interface Sample {
  readonly at: number;
  readonly received: number;
  readonly requests: number;
  readonly memory: number;
}

export interface TimelineCard {
  readonly element: HTMLElement;
  update(layers: readonly Layer[]): void;
}

export function timelineCard(): TimelineCard {
  const said = h("div", { className: "quiet" });
  const means = h("ul", { className: "means", label: "What is drawn" });
  const scale = h("div", { className: "row between quiet" });
  const picture = svg("svg", { class: "timeline", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" });
  const body = h("div", { className: "fields" });
  body.append(picture, scale, means, said);
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
      samples.push({ at: performance.now(), received, requests, memory });
      if (samples.length > 1000) samples.splice(1, 500); // the first says where time begins
      const last = samples.at(-1)!.at;
      scale.replaceChildren(h("span", {}, "0 s"), h("span", {}, `${Math.round(last / 1000)} s`));
      said.textContent = `${requests} requests, ${mega(received)} · ${mega(memory)} in memory${missing > 0 ? ` · ${missing} damaged chunks` : ""}`;
      const came = cameIn(samples, last);
      const words = [
        [
          "came",
          `bytes in ${shown(Number((last / BARS / 1000).toPrecision(2)))} s, the highest bar is ${mega(Math.max(...came))}`,
        ],
        ["asked", `requests so far, up to ${requests}`],
        ["memory", `memory, up to ${mega(Math.max(...samples.map((sample) => sample.memory)))}`],
      ] as const;
      means.replaceChildren(
        ...words.map(([name, text]) => h("li", {}, h("span", { className: `swatch ${name}` }), text)),
      );
      picture.setAttribute(
        "aria-label",
        `Over ${Math.round(last / 1000)} s: ${words.map(([, text]) => text).join("; ")}. ${said.textContent}`,
      );
      picture.replaceChildren(...drawn(samples, came, last));
    },
  };
}

/** Bytes, for each bar. */
function cameIn(samples: readonly Sample[], last: number): Float64Array {
  const came = new Float64Array(BARS);
  for (const [i, { at, received }] of samples.entries())
    came[Math.min(BARS - 1, Math.floor((at / last) * BARS))]! += Math.max(
      0,
      received - (samples[i - 1]?.received ?? 0),
    );
  return came;
}

function drawn(samples: readonly Sample[], came: Float64Array, last: number): SVGElement[] {
  const most = Math.max(1, ...came);
  const bars = [...came].flatMap((bytes, i) => {
    const high = (bytes / most) * (HEIGHT - 6);
    const place = { x: (i * WIDTH) / BARS, y: HEIGHT - high, width: WIDTH / BARS - 1, height: high };
    return bytes > 0 ? [svg("rect", { ...place, class: "came" })] : [];
  });
  const curve = (name: string, of: (sample: Sample) => number): SVGElement => {
    const highest = Math.max(1, ...samples.map(of));
    const points = samples.map((sample) => {
      const [x, y] = [(sample.at / last) * WIDTH, HEIGHT - 2 - (of(sample) / highest) * (HEIGHT - 6)];
      return `${x.toFixed(1)},${y.toFixed(1)}`;
    });
    return svg("polyline", { points: points.join(" "), class: name });
  };
  return [...bars, curve("asked", ({ requests }) => requests), curve("memory", ({ memory }) => memory)];
}

function svg(name: string, attributes: Readonly<Record<string, string | number>>): SVGElement {
  const node = document.createElementNS(SVG, name) as SVGElement;
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, String(value));
  return node;
}
