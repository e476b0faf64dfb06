/** What goes wrong is a sentence in the page; the same one is said once, and many are counted. */
import { OctavoError } from "../../errors.js";
import { button, h } from "./dom.js";

const SHOWN = 5;

export interface Messages {
  /** An error, or (`note`) what somebody should know. */
  say(what: unknown, note?: "note"): void;
  clear(): void;
}

export function messagesIn(element: HTMLElement): Messages {
  const told = new Set<string>();
  const more = h("div", { className: "more", hidden: true });
  const count = (): void => {
    const hidden = [...element.children].filter((own) => own !== more && (own as HTMLElement).hidden).length;
    more.hidden = hidden === 0;
    more.textContent = `and ${hidden} more`;
  };
  return {
    say(what, note) {
      const text = sentence(what);
      if (told.has(text)) return;
      told.add(text);
      const message = h("div", { className: note ?? "wrong", hidden: told.size > SHOWN }, h("span", {}, text));
      const close = button(
        "×",
        () => {
          message.remove();
          told.delete(text);
          const next = [...element.children].find((own) => own !== more && (own as HTMLElement).hidden);
          if (next !== undefined) (next as HTMLElement).hidden = false;
          count();
        },
        "Close this message",
      );
      close.className = "plain";
      message.append(close);
      element.append(message, more);
      count();
    },
    clear() {
      told.clear();
      element.replaceChildren();
    },
  };
}

/** What is wrong, as people write: with a capital letter and a full stop; the names of files stay as they are. */
export function sentence(what: unknown): string {
  const text = what instanceof Error ? what.message : String(what);
  const whole = /[.!?…]$/.test(text) ? text : `${text}.`;
  const begun = whole.replace(/^[a-z](?=[a-z]*[\s,])/, (letter) => letter.toUpperCase());
  return what instanceof OctavoError && what.hint !== undefined ? `${begun} ${sentence(what.hint)}` : begun;
}
