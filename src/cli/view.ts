/** `octavo view`: serves data beside the viewer's page, and opens it. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InvalidInput, NotFound } from "../errors.js";
import {
  createHandler,
  type Handler,
  healthRoute,
  type Listening,
  listen,
  pageRoute,
  type Route,
} from "../server/index.js";
import { fileStore } from "../store/file.js";
import { count, flag, size, value } from "./args.js";
import { skipOption } from "./source.js";
import { type Session, verb } from "./verb.js";
import { openBrowser } from "./view-browser.js";
import { layerOf, type ViewLayer } from "./view-layers.js";
import { trim } from "./view-store.js";

export const view = verb({
  about:
    "Serves the viewer's page and the data to this machine alone, and opens the page; each address is a layer. What a file without " +
    "an index holds (TRK, TCK, LAS, CSV …) is shown as an even sample within seconds, while a store is made behind it and kept for the " +
    "next time: the page changes to it when it is whole. The address of the page says what is shown and how.",
  options: {
    json: flag("print the page's address as one JSON document"),
    "no-open": flag("print the address, and open nothing"),
    port: value("N", "the port (default 8080, or one that is free where that is taken)", count),
    ...skipOption,
    cache: value("SIZE", "how much of stores of files without an index is kept on disk (default 20G)", size),
  },
  examples: [
    ["octavo view tracts.zv", "a store"],
    ["octavo view tracts.trk cortex.ply", "two files, as two layers"],
    ["octavo view https://host/cells --no-open", "data on the web; the address is printed"],
  ],
  async run(urls, options, session) {
    await show(urls, { ...options, open: !options["no-open"], skipBad: options["skip-bad"] }, session);
    return 0;
  },
});

export interface ShowOptions {
  readonly open: boolean;
  readonly port?: number | undefined;
  readonly cache?: number | undefined;
  /** What is damaged in files is left out, and told. */
  readonly skipBad?: boolean | undefined;
}

/** Shows data until the session ends. */
export async function show(urls: readonly string[], options: ShowOptions, session: Session): Promise<void> {
  const { output, signal } = session;
  const page = fileURLToPath(new URL("./page/", import.meta.url));
  if (!existsSync(join(page, "index.html")))
    throw new NotFound(`the viewer's page is not in ${page}`, { hint: "npm run build makes it" });
  const folder = mkdtempSync(join(tmpdir(), "octavo-view-"));
  const layers: ViewLayer[] = [];
  try {
    for (const [i, url] of urls.entries()) layers.push(await layerOf(url, i, folder, session, options.skipBad));
    const works = layers.flatMap(({ work }) => work ?? []);
    const routes = [healthRoute, pageRoute("", fileStore(page)), ...layers.flatMap((layer) => layer.routes)];
    const handler = createHandler({
      routes: [...routes, preparingRoute(layers)],
      onError: (error, path) => output.remark(`octavo: /${path}: ${error instanceof Error ? error.message : error}`),
    });
    const server = await listenAt(handler, options.port);
    const background = Promise.all(works.map((work) => work.run())).then(() =>
      trim(
        options.cache ?? 20 * 2 ** 30,
        works.map(({ path }) => path),
      ),
    );
    try {
      const asked = new URLSearchParams(layers.map(({ url }) => ["url", url]));
      if (works.some((work) => work.state() !== undefined)) asked.set("preparing", "");
      const address = `${server.url}/?${asked}`;
      if (output.json) output.document({ url: address, layers: layers.map(({ url }) => url) });
      else output.line(address);
      if (options.open && !(await openBrowser(address))) output.remark("open this address in a browser");
      output.remark("Ctrl-C ends it");
      if (!signal.aborted) await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
    } finally {
      for (const work of works) work.stop();
      await Promise.all([server.close(), background]);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** What is not there yet, as the page asks for it. */
const preparingRoute = (layers: readonly ViewLayer[]): Route => ({
  at: "preparing.json",
  answer: () => {
    const body = new TextEncoder().encode(JSON.stringify(layers.flatMap(({ work }) => work?.state() ?? [])));
    const headers = {
      "content-type": "application/json",
      "content-length": String(body.length),
      "cache-control": "no-store",
    };
    return { status: 200, headers, body };
  },
});

/** At the usual port, so that an address that was kept still works; elsewhere where that is taken and none was asked for. */
async function listenAt(handler: Handler, port: number | undefined): Promise<Listening> {
  if (port !== undefined) return listen(handler, { port });
  return listen(handler, { port: 8080 }).catch((error: unknown) => {
    if (error instanceof InvalidInput) return listen(handler);
    throw error;
  });
}
