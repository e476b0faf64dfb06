/**
 * `octavo demo`: a guided tour on data it makes itself, in a temporary folder that is gone afterwards. Every step is a
 * command that the reader can type; what follows it is what that command prints.
 */
import { closeSync, createReadStream, mkdtempSync, openSync, readSync, rmSync, statSync, writeSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createArray, writeRegion } from "../format/zarr/index.js";
import { ndarray } from "../model/elements.js";
import { fileStore } from "../store/file.js";
import { Prefix } from "../store/key.js";
import { parse } from "./args.js";
import { bytesText } from "./output.js";
import { common, type Session, verb } from "./verb.js";
import { verbs } from "./verbs.js";

const SIDE = 512;

export const demo = verb({
  options: {},
  examples: [
    ["octavo demo", "takes a few seconds and leaves nothing behind"],
    ["octavo demo --no-color", "without colours"],
    ["octavo demo -q", "only the commands and their results"],
  ],
  async run(_operands, options, session) {
    const { output } = session;
    const say = (text: string): void => void (options.quiet || output.line(`\n${text}`));
    const here = process.cwd();
    const folder = mkdtempSync(join(tmpdir(), "octavo-demo-"));
    let server: Server | undefined;
    try {
      process.chdir(folder);
      say(
        `A landscape of ${SIDE} × ${SIDE} heights, as the first Zarr wrote it in 2016. Today's readers do not know that format:`,
      );
      await makeLandscape(session.signal);
      await type(session, "info", "heights");

      say("Convert it to Zarr v3, sixteen chunks to a shard:");
      await type(
        session,
        "convert",
        "heights",
        "heights.zarr",
        "--to",
        "zarr3",
        "--shard",
        "256,256",
        "--codec",
        "zstd",
      );
      await type(session, "info", "heights.zarr");

      say("The same over HTTP. Only the parts of shards that hold the slice travel:");
      const traffic = { requests: 0, bytes: 0 };
      server = await serve(folder, traffic);
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/heights.zarr`;
      await type(session, "get", url, "--slice", "100:104,250:254");
      say(
        `That took ${traffic.requests} requests and ${bytesText(traffic.bytes)}; the array is ${bytesText(SIDE * SIDE * 2)}.`,
      );

      say("Copies get damaged. One bit of one shard flips, and validate says where:");
      flipBit("heights.zarr/c/1/0");
      await type(session, "validate", "heights.zarr");

      say("That was the tour. Next: octavo --help, or octavo info on data of your own.");
      return 0;
    } finally {
      server?.closeAllConnections();
      server?.close();
      process.chdir(here);
      rmSync(folder, { recursive: true, force: true });
    }
  },
});

/** Shows a command and runs it, in this process. */
async function type(session: Session, name: string, ...args: string[]): Promise<void> {
  const { output } = session;
  output.line(output.bold(`$ octavo ${[name, ...args].join(" ")}`));
  const verb = await verbs.find((known) => known.name === name)!.load();
  const { operands, options } = parse({ ...verb.options, ...common }, args);
  await verb.run(operands, options, session);
}

async function makeLandscape(signal: AbortSignal): Promise<void> {
  const heights = new Int16Array(SIDE * SIDE);
  for (let y = 0; y < SIDE; y++) {
    for (let x = 0; x < SIDE; x++) {
      heights[y * SIDE + x] = 900 * Math.sin(x / 41) * Math.cos(y / 59) + 300 * Math.sin((x + 2 * y) / 17);
    }
  }
  const description = {
    version: 0,
    shape: [SIDE, SIDE],
    chunkShape: [64, 64],
    dtype: "int16",
    attributes: { unit: "m" },
  } as const;
  const array = await createArray(fileStore("heights"), Prefix.root, description, { signal });
  await writeRegion(array, undefined, ndarray([SIDE, SIDE], heights), { signal });
}

/** Just enough of a web server: GET and HEAD with one range. */
async function serve(folder: string, traffic: { requests: number; bytes: number }): Promise<Server> {
  const server = createServer((request, response) => {
    const path = join(folder, decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname));
    const size = statSync(path, { throwIfNoEntry: false })?.size;
    traffic.requests++;
    if (size === undefined) return void response.writeHead(404).end();
    const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
    const whole = request.headers.range === undefined;
    const start = from === "" && !whole ? Math.max(0, size - Number(to)) : Number(from);
    const end = from === "" || to === "" ? size - 1 : Math.min(size - 1, Number(to));
    response.writeHead(whole ? 200 : 206, {
      "content-length": end - start + 1,
      ...(whole ? {} : { "content-range": `bytes ${start}-${end}/${size}` }),
    });
    if (request.method === "HEAD") return void response.end();
    traffic.bytes += end - start + 1;
    createReadStream(path, { start, end }).pipe(response);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  return server;
}

function flipBit(path: string): void {
  const file = openSync(path, "r+");
  const byte = Buffer.alloc(1);
  readSync(file, byte, 0, 1, 1000);
  byte[0]! ^= 0x10;
  writeSync(file, byte, 0, 1, 1000);
  closeSync(file);
}
