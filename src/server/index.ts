/** `octavo/server`: stores, virtual views and queries over HTTP. */
export { fetchHandler } from "./fetch.js";
export { locationRoute, PAGE_POLICY, pageRoute, type StoreRouteOptions, storeRoute } from "./files.js";
export { type GuardOptions, LOOPBACK } from "./guard.js";
export { createHandler, type HandlerOptions, healthRoute } from "./handler.js";
export { type Listening, type ListenOptions, type LogEntry, listen } from "./http.js";
export { type QueryLimits, queryRoute } from "./query.js";
export type { Asked, FileRange, Handler, Reply, ReplyBody, Route, ServerRequest } from "./types.js";
export { type View, type ViewOptions, viewsOf } from "./views/index.js";
