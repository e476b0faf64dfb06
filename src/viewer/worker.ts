/** What the viewer's worker runs: one dataset, opened and streamed for a page. Built with the page (scripts/page.mjs). */
import type { Port } from "../worker/channel.js";
import { host } from "./engine/host.js";

const port = globalThis as unknown as Port;
host(port);
port.postMessage("ready", []);
