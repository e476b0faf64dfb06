/** From where, and how, everything is seen. */
import { viewOf, views } from "../../scene/camera.js";
import type { Stage } from "../stage.js";
import { button, check, folded, h } from "./dom.js";
import { save } from "./export.js";

export interface ViewCard {
  readonly element: HTMLElement;
  /** Follows a camera that was set elsewhere. */
  update(): void;
}

const KEYS = [
  ["drag, arrow keys", "turn"],
  ["shift and drag, shift and arrow keys, two fingers", "move"],
  ["wheel, + and −, two fingers", "come closer, go away"],
  ["F, double click", "show everything"],
  ["click", "pick an object"],
  ["Escape", "let it go"],
] as const;

export interface ViewActions {
  theme(next: "dark" | "light"): void;
  failed(error: unknown): void;
}

export function viewCard(stage: Stage, isLight: () => boolean, actions: ViewActions): ViewCard {
  const perspective = check("Perspective", true, (on) => {
    stage.camera = { ...stage.camera, perspective: on };
  });
  const light = check("Light background", isLight(), (on) => actions.theme(on ? "light" : "dark"));
  const picture = async (): Promise<void> => save(await stage.screenshot(), "octavo.png");
  const copied = button("Copy link", () => {
    const text = (words: string): void => {
      copied.textContent = words;
      setTimeout(() => copied.replaceChildren("Copy link"), 2000);
    };
    navigator.clipboard.writeText(location.href).then(() => text("Copied"), actions.failed);
  });
  const keys = h("dl", { className: "keys" });
  for (const [key, does] of KEYS) keys.append(h("dt", {}, key), h("dd", {}, does));
  const element = h(
    "section",
    { label: "View" },
    h("h2", {}, "View"),
    h(
      "div",
      { className: "fields" },
      h(
        "div",
        { className: "views" },
        ...views.map((name) => button(name, () => stage.fit(...viewOf(name)), `From the ${name}`)),
        button("Show everything", () => stage.fit()),
      ),
      h("div", { className: "row between" }, perspective, light),
      h(
        "div",
        { className: "views two" },
        button("Save picture", () => void picture().catch(actions.failed)),
        copied,
      ),
      folded("Keys, mouse and fingers", keys),
    ),
  );
  return {
    element,
    update() {
      perspective.querySelector("input")!.checked = stage.camera.perspective;
      light.querySelector("input")!.checked = isLight();
    },
  };
}
