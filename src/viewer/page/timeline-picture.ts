/** Memory over time, as a curve, and what was read: for whoever wants to know why something takes long. */
import type { Layer } from "../stage.js";
import { h } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const mega = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;

export function timelinePicture(layers: readonly Layer[]): Element[] {
  const entries = layers.flatMap(({ object }) => object.engine.timeline.entries());
  const states = layers.map(({ object }) => object.engine.status());
  const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
  const memory = sum(states.map(({ bytes }) => bytes));
  const requests = sum(states.map(({ traffic }) => traffic?.requests ?? 0));
  const received = sum(states.map(({ traffic }) => traffic?.bytes ?? 0));
  const rows = entries.flatMap(({ at, bytes }) => (bytes === undefined ? [] : [{ at, bytes }]));
  const [width, height] = [280, 56];
  const last = Math.max(1, ...rows.map(({ at }) => at));
  const most = Math.max(1, ...rows.map(({ bytes }) => bytes));
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("class", "timeline");
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", `Memory over time, now ${mega(memory)}`);
  const line = document.createElementNS(SVG, "polyline");
  line.setAttribute("fill", "none");
  line.setAttribute("stroke", "var(--accent)");
  line.setAttribute(
    "points",
    rows
      .map(({ at, bytes }) => `${(at / last) * width},${height - 2 - (Math.max(0, bytes) / most) * (height - 4)}`)
      .join(" "),
  );
  picture.append(line);
  const reads = entries.filter(({ what }) => what === "read").length;
  return [
    picture,
    h(
      "div",
      { className: "quiet" },
      `${requests} requests, ${mega(received)} · ${reads} reads of chunks · ${mega(memory)} in memory`,
    ),
  ];
}
