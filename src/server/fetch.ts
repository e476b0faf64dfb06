/** The server as a function from `Request` to `Response`: for runtimes that have these, and for tests without a socket. */
import { discard, type Handler, piecesOf, type ReplyBody } from "./types.js";

/** A handler, as `fetch` sees it. */
export function fetchHandler(handler: Handler): (request: Request) => Promise<Response> {
  return async (request) => {
    const { pathname, search, host } = new URL(request.url);
    const headers = { host, ...Object.fromEntries(request.headers) };
    const { method, signal } = request;
    const reply = await handler({ method, path: pathname + search, headers, signal });
    if (reply.body === undefined) return new Response(null, reply);
    return new Response(reply.body instanceof Uint8Array ? new Uint8Array(reply.body) : streamOf(reply.body), reply);
  };
}

function streamOf(body: ReplyBody): ReadableStream<Uint8Array> {
  const pieces = piecesOf(body);
  return new ReadableStream({
    async pull(controller) {
      const { value, done } = await pieces.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      discard(body); // a generator that has not begun closes nothing
      await pieces.return(undefined);
    },
  });
}
