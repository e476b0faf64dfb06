/** The web page of the viewer: a stage, a panel of controls, and an address that says what is shown. */
import type { Source } from "../engine/source.js";
import { boxToScene } from "../space.js";
import { type Layer, type LayerLook, nameOf, Stage, type VectorLayer } from "../stage.js";
import { clipCard } from "./clip-card.js";
import { h } from "./dom.js";
import { type Card, layerCard } from "./layer-card.js";
import { messagesIn } from "./messages.js";
import { type OpeningActions, openingForm, takeDrops } from "./opening.js";
import { pickedCard } from "./picked-card.js";
import { Prepared } from "./prepared.js";
import { readState, type State, writeState } from "./state.js";
import { timelineCard } from "./timeline-picture.js";
import { viewCard } from "./view-card.js";
import { volumeCard } from "./volume-card.js";

const GROUNDS = { dark: 0x10151c, light: 0xffffff } as const;
const SOON = 100; // ms
const place = document.getElementById("stage")!;
const panel = document.getElementById("panel")!;
const { say, clear } = messagesIn(document.getElementById("messages")!);

const cards = new Map<Layer, Card>();
const urls = new Map<Layer, string>();
let theme: "dark" | "light" = matchMedia("(prefers-color-scheme: light)").matches ? "light" : "dark";
let pending = 0;
let opening = 0;
/** Restoring what an address says: counts, so that a later address takes over from an earlier one. */
let restored = 0;

const prepared = new Prepared(new URL(location.href));
const preparing = h("div", { className: "quiet", role: "status" });
const list = h("div", { className: "layers" });
const empty = h("div", { className: "empty" });
const timeline = timelineCard();
const picked = pickedCard({
  only(layer, id) {
    layer.object.set({ filter: { ...layer.object.look.filter, object: [id] } });
    cards.get(layer)?.rebuild();
    touched();
  },
  close: () => stage?.choose(undefined, undefined),
});
const clipping = clipCard((clip) => {
  if (stage !== undefined) stage.clip = clip;
  touched();
});

const stage = start();
const view = stage && viewCard(stage, () => theme === "light", { theme: setTheme, failed: say });

function start(): Stage | undefined {
  try {
    return new Stage(place, {
      worker: new URL("./worker.js", import.meta.url), // built beside the page
      background: GROUNDS[theme],
      onError: say,
      onPick: picked.show,
      onChange: () => changed(),
    });
  } catch (error) {
    say(error);
    return undefined;
  }
}

async function openUrl(url: string, look: LayerLook = {}, hidden = false): Promise<void> {
  const address = URL.canParse(url, location.href) ? new URL(url, location.href).href : undefined;
  if (address === undefined) return say(`${url} is no address: one looks like https://host/data.zv.`);
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
  look: LayerLook,
  hidden: boolean,
): Promise<void> {
  if (stage === undefined) return;
  const mine = restored;
  opening++;
  document.body.ariaBusy = "true";
  tellEmpty(name);
  try {
    const layer = await stage.add(await find(), name, look);
    if (mine !== restored) return stage.remove(layer);
    layer.object.visible = !hidden;
    if (url !== undefined) urls.set(layer, url);
    if (look.clip !== undefined) stage.clip ??= boxToScene(look.clip, layer.factor);
    const actions = { remove: removeByHand, changed: touched, find: findObject, failed: say };
    const card = layer.kind === "vectors" ? layerCard(layer, actions) : volumeCard(layer, actions);
    cards.set(layer, card);
    list.append(card.element);
    for (const note of layer.about.notes) say(note, "note");
  } catch (error) {
    if (mine === restored) say(error);
  } finally {
    opening--;
  }
  tellEmpty();
  touched();
}

function remove(layer: Layer): void {
  cards.get(layer)?.element.remove();
  cards.delete(layer);
  urls.delete(layer);
  stage?.remove(layer);
  if (layer.kind === "vectors" && layer.object.look.highlight !== undefined) stage?.choose(undefined, undefined);
  tellEmpty();
  touched();
}

function removeByHand(layer: Layer): void {
  remove(layer);
  if (urls.size === 0) history.replaceState(null, "", writeState(stateNow())); // nobody else writes that there is nothing
}

function tellEmpty(coming?: string): void {
  const words = coming === undefined ? "Drop a file or a folder here" : `Opening ${coming} …`;
  const more = coming === undefined ? "or give an address, choose a file or a folder" : undefined;
  empty.replaceChildren(h("strong", {}, words), ...(more === undefined ? [] : [more]));
  empty.hidden = stage !== undefined && stage.layers.length > 0;
}

async function search(layer: VectorLayer, id: bigint): Promise<void> {
  const found = await layer.object.engine.find(id);
  if (found === undefined || stage === undefined) {
    say(`${layer.name} has no object ${id}.`, "note");
    return;
  }
  stage.choose(found, layer);
  stage.fit(undefined, undefined, boxToScene(found.bounds, layer.factor));
}

function findObject(layer: VectorLayer, id: bigint): void {
  search(layer, id).catch(say);
}

/** By hand: also the address follows. */
function touched(): void {
  document.body.ariaBusy = "true";
  stage?.redraw();
  changed();
}

function changed(): void {
  if (pending !== 0) return;
  pending = window.setTimeout(() => {
    pending = 0;
    const layers = stage?.layers ?? [];
    for (const card of cards.values()) card.update();
    timeline.update(layers);
    clipping.update(layers.length === 0 ? undefined : stage?.bounds(), stage?.clip, stage?.barUnit);
    view?.update();
    if (urls.size > 0 && opening === 0) history.replaceState(null, "", writeState(stateNow()));
    tellWhetherBusy();
  }, SOON);
}

const stateNow = (): State => ({
  layers: [...urls].map(([{ object }, url]) => ({
    url,
    look: object.look,
    ...(object.visible ? {} : { hidden: true }),
  })),
  camera: stage?.camera,
  unit: stage?.unit,
  theme,
});

/** Told when nothing is on its way: the frame that asks for data is drawn before this looks. */
function tellWhetherBusy(): void {
  requestAnimationFrame(() =>
    setTimeout(() => {
      const loading = stage?.layers.some(({ object }) => object.visible && object.engine.status().loading);
      document.body.ariaBusy = String(opening > 0 || pending !== 0 || loading === true);
    }),
  );
}

function setTheme(next: "dark" | "light"): void {
  theme = next;
  document.documentElement.dataset.theme = theme;
  if (stage !== undefined) stage.background = GROUNDS[theme];
  changed();
}

/** Shows what an address says, and nothing else. */
async function restore(): Promise<void> {
  const mine = ++restored;
  const state = readState(location);
  clear();
  if (state === undefined) say("The address of this page is damaged: what it should show cannot be read from it.");
  for (const layer of [...(stage?.layers ?? [])]) remove(layer);
  if (state?.theme !== undefined) setTheme(state.theme);
  if (stage !== undefined) stage.unit = state?.unit;
  if (state?.camera !== undefined && stage !== undefined) stage.camera = state.camera;
  for (const { url, look, hidden } of state?.layers ?? [])
    if (mine === restored) await openUrl(url, look, hidden === true);
  changed();
}

const openings: OpeningActions = {
  address: (url) => void openUrl(url).catch(say),
  files: (files) => void show(async () => files, files.name, undefined, {}, false).catch(say),
  failed: say,
};
const sections = [openingForm(openings), preparing, list, view?.element, clipping.element, timeline.element];
panel.append(h("h1", {}, "Octavo"), ...sections.flatMap((section) => section ?? []));
place.append(empty, picked.element);
setTheme(theme);
takeDrops(openings);
addEventListener("keydown", ({ key, defaultPrevented }) => {
  if (key === "Escape" && !defaultPrevented) stage?.choose(undefined, undefined);
});
addEventListener("hashchange", () => void restore().catch(say));
void restore().catch(say);
const says = (text: string): void => preparing.replaceChildren(text);
void prepared.watch(says, (address) => void reopen(address).catch(say)).catch(say);
