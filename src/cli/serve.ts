/** `octavo serve`: stores and folders over HTTP, until it is interrupted. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { InvalidInput } from "../errors.js";
import { DEMO } from "../format/precomputed/client/serving.js";
import {
  createHandler,
  healthRoute,
  LOOPBACK,
  type LogEntry,
  listen,
  locationRoute,
  type Route,
} from "../server/index.js";
import { count, flag, list, size, text, value } from "./args.js";
import { client } from "./link.js";
import type { Output } from "./output.js";
import { datasetsAt, isAlone, placeOf, queryRoutes, type Served } from "./serve-places.js";
import { viewRoutes } from "./serve-views.js";
import { skipOption, skipping } from "./source.js";
import { verb } from "./verb.js";

export const serve = verb({
  about:
    "One folder or zip file is served at /, several and single files by their names. Browsers get ranges, tags, listings as JSON, " +
    "packed chunks (.gz) and old shards (.index, .data) as what they stand for; /query?box=…&where=… answers with JSON or Arrow, by the " +
    "names of the options of get, /query/NAME that of one of several; /health says that it lives. Only this machine is answered, and only its own pages, unless --host, --allow-host and --cors say otherwise.",
  options: {
    json: flag("print where it listens as one JSON document"),
    port: value("N", "the port (default 8080; 0 takes one that is free)", count),
    host: text("ADDRESS", "listen at this address (default 127.0.0.1, which only this machine reaches)"),
    "allow-host": list("NAME,…", "answer to these names too, besides the address and localhost", (name) => name),
    cors: list(
      "ORIGIN,…",
      "pages that may read, such as https://neuroglancer-demo.appspot.com, or *",
      (origin) => origin,
    ),
    neuroglancer: flag(
      "views of each dataset for Neuroglancer, below /neuroglancer/, and the address that shows them; its page may read",
    ),
    client,
    ...skipOption,
    cache: value("SIZE", "how much of the views of a dataset is kept on disk until the end (default 1G)", size),
    log: flag("a line for every request, on stderr"),
  },
  examples: [
    ["octavo serve data/", "http://127.0.0.1:8080/ is the folder"],
    ["octavo serve . --neuroglancer", "an address to click on: a layer for each dataset here, as it is"],
    ["octavo serve data/ --host 0.0.0.0 --allow-host lab-server --log", "for other machines, too"],
  ],
  async run(paths, options, session) {
    const { output, signal } = session;
    const places = await Promise.all(paths.map((path) => placeOf(path, signal)));
    const folder = mkdtempSync(join(tmpdir(), "octavo-serve-"));
    const told = new Set<string>(); // each once, however often a dataset is opened
    const onBad = skipping(options, (problem) => {
      if (!told.has(problem)) output.remark(`skipped ${problem}`);
      told.add(problem);
    });
    const opening = { signal, onBad };
    try {
      const views = options.neuroglancer
        ? await viewRoutes(await datasetsAt(places, opening), folder, options.cache ?? 2 ** 30, session)
        : undefined;
      const routes = [healthRoute, ...routesOf(places), ...queryRoutes(places, opening), ...(views?.routes ?? [])];
      const host = options.host ?? "127.0.0.1";
      const hosts = [...LOOPBACK, host.includes(":") ? `[${host}]` : host, ...(options["allow-host"] ?? [])];
      const handler = createHandler({
        routes,
        hosts,
        origins: [...(options.cors ?? []), ...(views === undefined ? [] : [new URL(options.client ?? DEMO).origin])],
        onError: (error, path) => output.remark(`octavo: /${path}: ${error instanceof Error ? error.message : error}`),
      });
      const server = await listen(handler, {
        host,
        port: options.port ?? 8080,
        onLog: options.log ? (entry) => output.remark(logLine(entry)) : undefined,
      });
      try {
        const link = await views?.link(server.url, options.client);
        tell(output, server.url, places, link);
        await new Promise((done) => signal.addEventListener("abort", done, { once: true }));
      } finally {
        await server.close();
      }
      return 0;
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

/** One folder is everything; several places have a listing above them. */
function routesOf(places: readonly Served[]): Route[] {
  const [first] = places;
  if (isAlone(places)) return [locationRoute("", first!)];
  for (const [i, { name }] of places.entries())
    if (places.findIndex((other) => other.name === name) !== i)
      throw new InvalidInput(`two of the places are called ${name}, which would be the name of both`);
  const above = {
    keys: places.filter(({ file }) => file !== undefined).map(({ name }) => name),
    prefixes: places.filter(({ file }) => file === undefined).map(({ name }) => `${name}/`),
  };
  const body = new TextEncoder().encode(`${JSON.stringify(above)}\n`);
  const headers = { "content-type": "application/json", "content-length": String(body.length) };
  const root: Route = {
    at: "",
    answer: ({ rest }) => (rest === "" ? { status: 200, headers, body } : { status: 404, headers: {} }),
  };
  return [root, ...places.map((place) => locationRoute(place.file === undefined ? `${place.name}/` : "", place))];
}

function tell(output: Output, url: string, places: readonly Served[], link: string | undefined): void {
  const urls = isAlone(places)
    ? [`${url}/`]
    : places.map(({ name, file }) => `${url}/${encodeURIComponent(name)}${file === undefined ? "/" : ""}`);
  if (output.json) output.document({ url, paths: urls, ...(link !== undefined && { neuroglancer: link }) });
  else for (const address of [...urls, ...(link === undefined ? [] : [link])]) output.line(address);
  output.remark("Ctrl-C ends it");
}

const logLine = ({ time, method, path, status, bytes, milliseconds, aborted }: LogEntry): string =>
  [
    time.toISOString(),
    method,
    path,
    status,
    bytes,
    `${milliseconds.toFixed(1)}ms`,
    ...(aborted ? ["aborted"] : []),
  ].join(" ");
