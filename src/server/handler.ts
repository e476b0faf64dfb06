/** The whole of a server but its sockets: the guard, then the route with the longest place that fits, then what every reply says. */
import { OctavoError } from "../errors.js";
import { type GuardOptions, guard, refusal } from "./guard.js";
import { discard, type Handler, type Reply, type Route } from "./types.js";

/** What a server answers with, and whom. */
export interface HandlerOptions extends GuardOptions {
  readonly routes: readonly Route[];
  /** Told of every error that was not the asker's: the reply says nothing of it but its status. */
  readonly onError?: ((error: unknown, path: string) => void) | undefined;
}

/** A function from requests to replies, which never throws. */
export function createHandler(options: HandlerOptions): Handler {
  const admit = guard(options);
  const routes = [...options.routes].sort((a, b) => b.at.length - a.at.length);
  const handler: Handler = async (request) => {
    const admitted = admit(request);
    if ("status" in admitted) return finished(admitted, request.method, {});
    const { path, search, cors } = admitted;
    const route = routes.find(({ at }) => path === at || ((at === "" || at.endsWith("/")) && path.startsWith(at)));
    if (route === undefined) return finished(refusal(404, "there is nothing by this name"), request.method, cors);
    try {
      const rest = path.slice(route.at.length);
      return finished(await route.answer({ request, rest, search }), request.method, cors);
    } catch (error) {
      const refused = refusalFor(error);
      if (refused.status >= 500 && request.signal?.aborted !== true) options.onError?.(error, path);
      return finished(refused, request.method, cors);
    }
  };
  handler.close = () => {
    for (const route of routes) route.close?.();
  };
  return handler;
}

/** "I am here", for those who watch over servers. */
export const healthRoute: Route = {
  at: "health",
  answer: () => ({
    status: 200,
    headers: { "content-type": "application/json", "content-length": "16", "cache-control": "no-store" },
    body: new TextEncoder().encode('{"status":"ok"}\n'),
  }),
};

/** What an error of a store is to those who ask: where data lie on this machine is nobody's business. */
function refusalFor(error: unknown): Reply {
  if (!(error instanceof OctavoError)) return refusal(500, "the server failed");
  if (error.reason === "outside") return refusal(404, "there is nothing by this name");
  switch (error.kind) {
    case "not-found":
      return refusal(404, "there is nothing by this name");
    case "invalid-input":
      return refusal(400, "this cannot be asked");
    case "unsupported":
      return error.reason === "forbidden"
        ? refusal(403, "the system does not allow this to be read")
        : refusal(501, "this cannot be read here");
    case "limit-exceeded":
      return refusal(503, "this would take more than the server gives to one request");
    default:
      return refusal(500, "the data could not be read");
  }
}

function finished(reply: Reply, method: string, cors: Readonly<Record<string, string>>): Reply {
  const headers = Object.assign({ "x-content-type-options": "nosniff" }, reply.headers, cors);
  if (method !== "HEAD") return { status: reply.status, headers, body: reply.body };
  discard(reply.body);
  return { status: reply.status, headers };
}
