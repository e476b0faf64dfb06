/** The web page of the viewer: a stage, a panel of controls, and an address that says what is shown. */
import { OctavoError } from "../../errors.js";
import { type Bounds, viewOf, views } from "../../scene/camera.js";
import { shown } from "../../scene/scale-bar.js";
import type { Picked } from "../engine/picked.js";
import type { Source } from "../engine/source.js";
import { type Layer, nameOf, Stage } from "../stage.js";
import type { Look } from "../three/object.js";
import { button, h, slider } from "./dom.js";
import { droppedFiles } from "./dropped.js";
import { save } from "./export.js";
import { type Card, layerCard } from "./layer-card.js";
import { Prepared } from "./prepared.js";
import { readState, type State, writeState } from "./state.js";
import { timelinePicture } from "./timeline-picture.js";

const GROUNDS = { dark: 0x10151c, light: 0xffffff } as const;
const place = document.getElementById("stage")!;
const panel = document.getElementById("panel")!;
const messages = document.getElementById("messages")!;

const cards = new Map<Layer, Card>();
const urls = new Map<Layer, string>();
let theme: "dark" | "light" = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
let pending = 0;
let opening = 0;
/** Restoring what an address says: counts, so that a later address takes over from an earlier one. */
let restored = 0;

const prepared = new Prepared(new URL(location.href));
const preparing = h("div", { className: "quiet", role: "status" });
const list = h("div", { css: "display:grid;gap:10px" });
const clipping = h("div", { css: "display:grid;gap:7px" });
const about = h("section", { label: "Picked" });
const timeline = h("div", { css: "margin-top:8px;display:grid;gap:6px" });
const empty = h(
  "div",
  { className: "empty" },
  h("strong", {}, "Drop a file or a folder here"),
  "or give an address on the right",
);

/** A failure is a sentence in the page. */
function say(error: unknown): void {
  const known = error instanceof OctavoError;
  const text = error instanceof Error ? error.message : String(error);
  const hint = known && error.hint !== undefined ? ` ${error.hint}` : "";
  if ([...messages.children].some((own) => own.firstChild?.textContent === text + hint)) return;
  const message = h("div", {}, h("span", {}, text + hint));
  const close = button("×", () => message.remove(), "Close this message");
  close.className = "plain";
  message.append(close);
  messages.append(message);
}

const stage = start();

function start(): Stage | undefined {
  try {
    return new Stage(place, {
      worker: new URL("./worker.js", import.meta.url), // built beside the page
      background: GROUNDS[theme],
      onError: say,
      onPick: showPicked,
      onChange: () => changed(),
    });
  } catch (error) {
    say(error);
    return undefined;
  }
}

async function openUrl(url: string, look: Look = {}, hidden = false): Promise<void> {
  const address = new URL(url, location.href).href;
  await show(() => prepared.whereIs(address), nameOf(address), address, look, hidden);
}

/** What stood for these data goes, and they come in its place, as it looked. */
async function reopen(address: string): Promise<void> {
  const old = [...urls].find(([, url]) => url === address)?.[0];
  if (old === undefined || stage === undefined) return;
  const before = stage.layers.length;
  await openUrl(address, old.object.look, !old.object.visible);
  if (stage.layers.length > before) remove(old);
}

async function show(
  find: () => Promise<Source>,
  name: string,
  url: string | undefined,
  look: Look,
  hidden: boolean,
): Promise<void> {
  if (stage === undefined) return;
  empty.replaceChildren(h("strong", {}, `Opening ${name} …`));
  const [mine] = [restored, opening++];
  document.body.ariaBusy = "true";
  try {
    const layer = await stage.add(await find(), name, look);
    if (mine !== restored) return stage.remove(layer);
    layer.object.visible = !hidden;
    if (url !== undefined) urls.set(layer, url);
    const card = layerCard(layer, { remove, changed: touched, failed: say });
    cards.set(layer, card);
    list.append(card.element);
    for (const note of layer.about.notes) say(note);
  } catch (error) {
    if (mine === restored) say(error);
  } finally {
    opening--;
  }
  empty.replaceChildren(h("strong", {}, "Drop a file or a folder here"), "or give an address on the right");
  if (stage.layers.length === 0) place.append(empty);
  else empty.remove();
  clipFields();
  touched();
}

function remove(layer: Layer): void {
  cards.get(layer)?.element.remove();
  cards.delete(layer);
  urls.delete(layer);
  stage?.remove(layer);
  if (stage?.layers.length === 0) place.append(empty);
  clipFields();
  touched();
}

/** By hand: also the address follows. */
function touched(): void {
  document.body.ariaBusy = "true";
  stage?.redraw();
  changed();
}

/** Told when nothing is on its way: the frame that asks for data is drawn before this looks. */
function tellWhetherBusy(): void {
  requestAnimationFrame(() =>
    setTimeout(() => {
      const loading = stage?.layers.some(({ object }) => object.visible && object.engine.status().loading);
      document.body.ariaBusy = String(opening > 0 || pending !== 0 || loading === true);
    }),
  );
}

function changed(): void {
  if (pending !== 0) return;
  pending = window.setTimeout(() => {
    pending = 0;
    for (const card of cards.values()) card.update();
    timeline.replaceChildren(...timelinePicture(stage?.layers ?? []));
    const state: State = {
      layers: [...urls].map(([{ object }, url]) => ({
        url,
        look: object.look,
        ...(object.visible ? {} : { hidden: true }),
      })),
      camera: stage?.camera,
      theme,
    };
    if (urls.size > 0 && opening === 0) history.replaceState(null, "", writeState(state));
    tellWhetherBusy();
  }, 100);
}

function showPicked(picked: Picked | undefined, layer: Layer | undefined): void {
  if (picked === undefined || layer === undefined) {
    about.replaceChildren();
    return;
  }
  const rows: [string, string][] = [
    ["layer", layer.name],
    ...(picked.id === undefined ? [] : [["object", String(picked.id)] as [string, string]]),
    ["at", picked.position.map(shown).join(", ")],
    ...picked.attributes,
  ];
  const table = h("table");
  for (const [name, value] of rows) table.append(h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, value)));
  about.replaceChildren(h("h2", {}, "Picked"), h("div", { className: "card" }, table));
}

/** A box, by its two ends along each axis; a slab is a box that is thin along one. */
function clipFields(): void {
  clipping.replaceChildren();
  if (stage === undefined || stage.layers.length === 0) return;
  const bounds = stage.bounds();
  const box = { min: [...bounds.min], max: [...bounds.max] };
  const given = stage.layers[0]!.object.look.clip;
  if (given !== undefined) for (const end of ["min", "max"] as const) box[end] = [...given[end]];
  const apply = (): void => {
    const whole = [0, 1, 2].every((k) => box.min[k]! <= bounds.min[k]! && box.max[k]! >= bounds.max[k]!);
    const clip = whole ? undefined : ({ min: [...box.min], max: [...box.max] } as unknown as Bounds);
    for (const { object } of stage.layers) object.set({ clip });
    touched();
  };
  for (const [k, axis] of ["x", "y", "z"].entries())
    for (const end of ["min", "max"] as const) {
      const [low, high] = [bounds.min[k]!, bounds.max[k]!];
      if (!(low < high)) continue;
      const name = `${axis} ${end === "min" ? "from" : "to"}`;
      const change = (value: number): void => {
        box[end][k] = value;
        apply();
      };
      clipping.append(slider(name, { min: low, max: high, step: "any", value: box[end][k]!, show: shown, change }));
    }
}

function setTheme(next: "dark" | "light"): void {
  theme = next;
  document.documentElement.dataset.theme = theme;
  if (stage !== undefined) stage.background = GROUNDS[theme];
  changed();
}

function build(): void {
  const address = h("input", {
    type: "url",
    className: "grow",
    placeholder: "https://host/data.zv",
    label: "Address of data",
  });
  const form = h("form", { className: "row" }, address, h("button", { type: "submit" }, "Open"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (address.value.trim() !== "") void openUrl(address.value.trim());
  });
  const look = (name: string) => (): void => stage?.fit(...viewOf(name));
  const perspective = h("input", { type: "checkbox", checked: true });
  perspective.addEventListener("change", () => {
    if (stage !== undefined) stage.camera = { ...stage.camera, perspective: perspective.checked };
  });
  const light = h("input", { type: "checkbox", checked: theme === "light" });
  light.addEventListener("change", () => setTheme(light.checked ? "light" : "dark"));
  const picture = async (): Promise<void> => save(await stage!.screenshot(), "octavo.png");
  panel.append(
    h("h1", {}, "Octavo"),
    form,
    preparing,
    list,
    about,
    h(
      "section",
      { label: "View" },
      h("h2", {}, "View"),
      h(
        "div",
        { className: "row wrap" },
        ...views.map((name) => button(name, look(name))),
        button("fit", () => stage?.fit()),
      ),
      h(
        "div",
        { css: "display:grid;gap:6px;margin-top:8px" },
        h("label", { className: "row" }, perspective, "perspective"),
        h("label", { className: "row" }, light, "light background"),
        button("Save a picture", () => void picture().catch(say)),
      ),
    ),
    h("section", { label: "Clipping" }, h("h2", {}, "Clip"), clipping),
    h("details", {}, h("summary", {}, "Requests and memory"), timeline),
  );
  place.append(empty);
  setTheme(theme);
}

function dropping(): void {
  const over = (event: DragEvent, on: boolean): void => {
    event.preventDefault();
    document.body.classList.toggle("dropping", on);
  };
  addEventListener("dragover", (event) => over(event, true));
  addEventListener("dragleave", (event) => over(event, false));
  addEventListener("drop", (event) => {
    over(event, false);
    if (event.dataTransfer !== null) void dropped(event.dataTransfer).catch(say);
  });
}

async function dropped(transfer: DataTransfer): Promise<void> {
  const names = [...transfer.items].map((item) => item.webkitGetAsEntry()?.name ?? "files");
  for (const [i, files] of (await droppedFiles(transfer.items)).entries()) {
    const name = names[i] ?? "files";
    await show(async () => ({ name, files }), name, undefined, {}, false);
  }
}

/** Shows what an address says, and nothing else. */
async function restore(): Promise<void> {
  const mine = ++restored;
  const state = readState(location);
  messages.replaceChildren();
  if (state === undefined) say("The address of this page is damaged: what it should show cannot be read from it.");
  for (const layer of [...(stage?.layers ?? [])]) remove(layer);
  if (state?.theme !== undefined) setTheme(state.theme);
  if (state?.camera !== undefined && stage !== undefined) stage.camera = state.camera;
  for (const { url, look, hidden } of state?.layers ?? [])
    if (mine === restored) await openUrl(url, look, hidden === true);
  changed();
}

build();
dropping();
addEventListener("hashchange", () => void restore().catch(say));
void restore().catch(say);
const says = (text: string): void => preparing.replaceChildren(text);
void prepared.watch(says, (address) => void reopen(address).catch(say)).catch(say);
