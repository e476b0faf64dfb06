/** Ways in: an address that is typed, files and folders that are chosen or dropped. */
import type { Files } from "../engine/source.js";
import { button, h } from "./dom.js";
import { droppedFiles } from "./dropped.js";

export interface OpeningActions {
  address(url: string): void;
  files(files: Files): void;
  failed(error: unknown): void;
}

export function openingForm(actions: OpeningActions): HTMLElement {
  const address = h("input", {
    type: "text",
    className: "grow",
    placeholder: "https://host/data.zv",
    inputMode: "url",
    autocomplete: "off",
    spellcheck: false,
    label: "Address of data",
  });
  const form = h("form", { className: "row" }, address, h("button", { type: "submit" }, "Open"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (address.value.trim() !== "") actions.address(address.value.trim());
  });
  return h(
    "section",
    { className: "fields", label: "Open data" },
    form,
    h(
      "div",
      { className: "row" },
      chooser("Choose files …", false, actions),
      chooser("Choose a folder …", true, actions),
    ),
  );
}

/** A button that opens the system's own choice; several files that are chosen are several layers, a folder is one. */
function chooser(name: string, folder: boolean, actions: OpeningActions): HTMLElement {
  const input = h("input", { type: "file", multiple: !folder, hidden: true, label: name, webkitdirectory: folder });
  input.addEventListener("change", () => {
    const chosen = [...(input.files ?? [])];
    input.value = "";
    if (chosen.length === 0) return;
    if (!folder) {
      for (const file of chosen) actions.files({ name: file.name, files: new Map([[file.name, file]]) });
      return;
    }
    const below = chosen.map((file) => [file.webkitRelativePath.replace(/^[^/]*\//, ""), file] as const);
    actions.files({ name: chosen[0]!.webkitRelativePath.split("/")[0]!, files: new Map(below) });
  });
  const open = button(name, () => input.click());
  open.className = "grow";
  return h("div", { className: "grow row" }, open, input);
}

/** What is dropped anywhere on the page is opened. */
export function takeDrops(actions: OpeningActions): void {
  const over = (event: DragEvent, on: boolean): void => {
    event.preventDefault();
    document.body.classList.toggle("dropping", on);
  };
  addEventListener("dragover", (event) => over(event, true));
  addEventListener("dragleave", (event) => over(event, false));
  addEventListener("drop", (event) => {
    over(event, false);
    if (event.dataTransfer === null) return;
    const { items } = event.dataTransfer;
    const names = [...items].map((item) => item.webkitGetAsEntry()?.name ?? "files");
    droppedFiles(items).then((all) => {
      for (const [i, files] of all.entries()) actions.files({ name: names[i] ?? "files", files });
    }, actions.failed);
  });
}
