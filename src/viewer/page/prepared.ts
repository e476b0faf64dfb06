/**
 * Data that the server still prepares (`octavo view` of a file without an index): a document of the page's own server says what can
 * be shown meanwhile. The address of the data is the same all the time, so that what the page's address says stays true.
 */
export interface Preparing {
  /** Where the data will be, relative to the page. */
  readonly url: string;
  /** What is shown meanwhile; absent where there is nothing yet. */
  readonly shows?: string | undefined;
  /** For people: what goes on. */
  readonly says: string;
  /** It will never be there: what is shown meanwhile is all. */
  readonly failed?: true | undefined;
}

const PACE = 1000; // ms

export class Prepared {
  readonly #page: URL;
  #list: Promise<readonly Preparing[]>;

  /** Pages that no `octavo view` serves ask nobody. */
  constructor(page: URL) {
    this.#page = page;
    this.#list = page.searchParams.has("preparing") ? this.#ask() : Promise.resolve([]);
  }

  /** Where to read what has this address: there, or what stands for it until it is there. */
  async whereIs(address: string): Promise<string> {
    for (;;) {
      const own = (await this.#list).find(({ url }) => this.#absolute(url) === address);
      if (own === undefined) return address;
      if (own.shows !== undefined) return this.#absolute(own.shows);
      if (own.failed) throw new Error(own.says);
      await new Promise((go) => setTimeout(go, PACE));
    }
  }

  /** Tells what goes on, and each address once its data are there; ends when all are. */
  async watch(says: (text: string) => void, ready: (address: string) => void): Promise<void> {
    for (;;) {
      const before = await this.#list;
      says(before.map((own) => own.says).join(" "));
      if (before.every(({ failed }) => failed)) return;
      await new Promise((go) => setTimeout(go, PACE));
      const asked = this.#ask();
      const left = new Set((await asked).map(({ url }) => url));
      this.#list = asked;
      for (const { url } of before) if (!left.has(url)) ready(this.#absolute(url));
    }
  }

  /** A server that has gone away will prepare nothing more: what is shown stays. */
  async #ask(): Promise<readonly Preparing[]> {
    const last = this.#list;
    try {
      const response = await fetch(this.#absolute("preparing.json"), { cache: "no-store" });
      if (response.ok) return (await response.json()) as readonly Preparing[];
    } catch {}
    return (await last)?.map((own) => ({ ...own, failed: true })) ?? [];
  }

  readonly #absolute = (url: string): string => new URL(url, this.#page).href;
}
