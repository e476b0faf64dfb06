/** What the viewer's worker runs: one dataset, opened and streamed for a page. Bundled into one file, as pages start it. */
import type { Port } from "../worker/channel.js";
import { host } from "./engine/host.js";

const port = globalThis as unknown as Port;
host(port);
port.postMessage("ready", []);
