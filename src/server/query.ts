/**
 * Queries over HTTP: `/query?box=…&where=…` as JSON (what `octavo get` writes), NDJSON, or an Arrow file.
 *
 * The work for one request is bounded: so many vertices, so long, so many at once. An answer that would be more is refused before it begins
 * (413), with a sentence that says what to ask instead.
 */
import { feedOf } from "../convert/feed.js";
import { itemsWriter } from "../convert/json/items-text.js";
import { LimitExceeded, OctavoError } from "../errors.js";
import type { Selection, SelectOptions, VectorDataset } from "../model/vectors.js";
import { Prefix } from "../store/key.js";
import { memoryStore } from "../store/memory.js";
import { scratchIn } from "../store/scratch.js";
import { refusal, single } from "./guard.js";
import { type FORMATS, parseQuery, type QueryText } from "./query-text.js";
import { turns } from "./turns.js";
import type { Asked, Reply, Route, ServerRequest } from "./types.js";

/** What one request may ask for. */
export interface QueryLimits {
  /** Vertices of an answer; a million unless told. */
  readonly maxVertices?: number | undefined;
  /** Milliseconds; 30,000 unless told. */
  readonly timeout?: number | undefined;
  /** Queries at once; the others wait. 2 unless told. */
  readonly atOnce?: number | undefined;
}

const TYPES = {
  json: "application/json",
  ndjson: "application/x-ndjson",
  arrow: "application/vnd.apache.arrow.file",
} as const satisfies Record<(typeof FORMATS)[number], string>;

const ARROW_BYTES = 256 << 20;

/** Answers queries about a dataset. */
export function queryRoute(at: string, dataset: VectorDataset, limits: QueryLimits = {}): Route {
  const { maxVertices = 1e6, timeout = 30_000, atOnce = 2 } = limits;
  const take = turns(atOnce);

  async function answer(asked: Asked): Promise<Reply> {
    const { request } = asked;
    const text = parseQuery(new URLSearchParams(asked.search));
    const format = text.format ?? accepted(request);
    const headers = { "content-type": TYPES[format], "cache-control": "no-cache" };
    if (request.method === "HEAD") return { status: 200, headers };
    const signal = AbortSignal.any([
      AbortSignal.timeout(timeout),
      ...(request.signal === undefined ? [] : [request.signal]),
    ]);
    const leave = await take();
    try {
      const selection = dataset.select(text.query);
      const level = await selection.level({ signal });
      const counts = await countsOf(selection, text.count, signal);
      if (text.count) return document({ level, ...counts });
      const reading = { signal, attributes: text.attributes };
      if (format === "arrow") return arrow(await arrowOf(dataset, text, level, reading), headers);
      const body = items(dataset, selection, level, format === "ndjson", reading);
      const first = await body.next(); // what is wrong with a query shows before the first byte is sent
      return { status: 200, headers, body: held(first, body, take) };
    } finally {
      leave();
    }
  }

  /** How much it is; LimitExceeded where it is too much, which is looked at closely where only a bound is known. */
  async function countsOf(selection: Selection, exact: boolean, signal: AbortSignal) {
    let counts = await selection.count({ signal, exact });
    if (!exact && counts.vertices > maxVertices && !counts.exact)
      counts = await selection.count({ signal, exact: true });
    if (!exact && counts.vertices > maxVertices)
      throw new LimitExceeded(`the answer has ${counts.vertices} vertices, at most ${maxVertices} are given at once`, {
        hint: "Ask for a smaller box, a limit, or max-vertices.",
      });
    return counts;
  }

  return {
    at,
    async answer(asked) {
      try {
        return await answer(asked);
      } catch (error) {
        if ((error as Error).name === "TimeoutError")
          return refusal(503, `the answer takes longer than ${timeout / 1000} s`);
        if (!(error instanceof OctavoError)) throw error;
        const status = { "invalid-input": 400, "not-found": 404, "limit-exceeded": 413 }[error.kind as string];
        if (status === undefined) throw error;
        const sentence = [error.message, ...(error.hint === undefined ? [] : [error.hint])].join(" ");
        return refusal(status, sentence.replaceAll(dataset.url, "the dataset"));
      }
    },
  };
}

function accepted({ headers }: ServerRequest): (typeof FORMATS)[number] {
  const accept = single(headers.accept) ?? "";
  return /vnd\.apache\.arrow/.test(accept) ? "arrow" : /ndjson/.test(accept) ? "ndjson" : "json";
}

function document(value: object): Reply {
  const body = new TextEncoder().encode(`${JSON.stringify(value)}\n`);
  return { status: 200, headers: { "content-type": TYPES.json, "content-length": String(body.length) }, body };
}

const arrow = (body: Uint8Array, headers: Readonly<Record<string, string>>): Reply => ({
  status: 200,
  headers: { ...headers, "content-length": String(body.length) },
  body,
});

/** The answer as `octavo get` writes it. */
async function* items(
  dataset: VectorDataset,
  selection: Selection,
  level: number,
  lines: boolean,
  options: SelectOptions,
): AsyncGenerator<Uint8Array> {
  const units = dataset.axes.map(({ unit }) => unit ?? null);
  const writer = itemsWriter(lines, {
    level,
    geometry: selection.query.geometry ?? dataset.geometries[0] ?? "points",
    axes: dataset.axes.map(({ name }) => name),
    ...(units.some((unit) => unit !== null) ? { units } : {}),
  });
  let begun = false;
  for await (const batch of selection.batches(options)) {
    if (!begun) yield writer.head(batch);
    begun = true;
    yield* writer.batch(batch);
  }
  if (!begun) yield writer.head(undefined);
  yield writer.tail();
}

/** The rest of an answer, each piece when it is its turn: who reads slowly keeps nobody waiting. */
async function* held(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
  take: () => Promise<() => void>,
): AsyncGenerator<Uint8Array> {
  try {
    for (let next = first; next.done !== true; ) {
      yield next.value;
      const leave = await take();
      try {
        next = await rest.next();
      } finally {
        leave();
      }
    }
  } finally {
    await rest.return(undefined);
  }
}

async function arrowOf(
  dataset: VectorDataset,
  { query }: QueryText,
  level: number,
  options: SelectOptions,
): Promise<Uint8Array> {
  const { writeArrow } = await import("../format/interchange/arrow-write.js");
  const feed = await feedOf(dataset, { ...query, level, maxVertices: undefined, resolution: undefined }, options);
  const pieces: Uint8Array[] = [];
  const sink = {
    write: async (bytes: Uint8Array) => void pieces.push(bytes),
    commit: async () => {},
    abort: async () => {},
  };
  const scratch = scratchIn({ store: memoryStore(), at: Prefix.root }, ARROW_BYTES, options.signal);
  await writeArrow(sink, feed, { ...options, scratch, limits: { resultBytes: ARROW_BYTES } });
  return pieces[0]!;
}
