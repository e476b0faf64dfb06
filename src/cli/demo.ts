/**
 * `octavo demo`: a guided tour on data it makes itself, in a temporary folder that is gone afterwards. Every step is a
 * command that the reader can type; what follows it is what that command prints.
 */
import {
  closeSync,
  createReadStream,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { flag, parse } from "./args.js";
import { makeLandscape, makeNeuron, makeParticles, makeSurface, makeTracts, SIDE } from "./demo-data.js";
import { bytesText, counted } from "./output.js";
import { common, type Session, verb } from "./verb.js";
import { verbs } from "./verbs.js";

export const demo = verb({
  about: "Ends in the viewer, until Ctrl-C; where nobody sits at a terminal, or with --no-serve, it ends before.",
  options: { "no-serve": flag("end without the viewer") },
  examples: [
    ["octavo demo", "takes a few seconds, ends in the viewer, and leaves nothing behind"],
    ["octavo demo --no-serve", "without the viewer"],
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
      const traffic = { requests: 0, bytes: 0 };
      server = await serve(folder, traffic);
      const tour: Tour = {
        say,
        type: (line) => type(session, line),
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        traffic,
        signal: session.signal,
      };
      await arrays(tour);
      await geometry(tour);
      await seeing(tour, !options["no-serve"] && process.stdout.isTTY);
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

interface Tour {
  say(text: string): void;
  /** Shows a command and runs it. */
  type(line: string): Promise<void>;
  /** Where a server has the folder, and what it has sent so far. */
  readonly url: string;
  readonly traffic: { requests: number; bytes: number };
  readonly signal: AbortSignal;
}

async function arrays({ say, type, url, traffic, signal }: Tour): Promise<void> {
  say(
    `ARRAYS. A landscape of ${SIDE} × ${SIDE} heights, as the first Zarr wrote it in 2016. Today's readers do not know that format:`,
  );
  await makeLandscape("heights", signal);
  await type("info heights");

  say("Convert it to Zarr v3, sixteen chunks to a shard:");
  await type("convert heights heights.zarr --to zarr3 --shard 256,256 --codec zstd");

  say("Read a corner over HTTP. Only the parts of shards that hold it travel:");
  await type(`get ${url}/heights.zarr --slice 100:104,250:254`);
  say(`That took ${sent(traffic)}; the array is ${bytesText(SIDE * SIDE * 2)}.`);

  say("Copies get damaged. One bit of one shard flips, and validate says where:");
  flipBit("heights.zarr/c/1/0");
  await type("validate heights.zarr");
}

async function geometry({ say, type, url, traffic, signal }: Tour): Promise<void> {
  say("GEOMETRY. Two hundred nerve fibres as Zarr Vectors: space is cut into chunks, each fibre is an object:");
  await makeTracts("tracts.zv", 200, signal, UNIT);
  await type("info tracts.zv --full");

  const box = "--box 60,60,60,75,75,75";
  say("Which fibres pass through a box? Whole fibres, also those that cross it between two of their vertices:");
  await type(`get tracts.zv ${box} --count`);
  say("The first of them, cut at the faces of the box, with its values at the cuts:");
  await type(`get tracts.zv ${box} --clip --limit 1 --to csv`);
  say("For the web there is a form of its own, of few files. Over HTTP, with a condition on a value at the vertices:");
  await type("publish tracts.zv web.zv");
  Object.assign(traffic, { requests: 0, bytes: 0 });
  await type(`get ${url}/web.zv ${box} --where "fa > 0.5" --count`);
  say(`That took ${sent(traffic)}, documents and indexes included.`);

  say("A neuron is a skeleton: vertices with a link to their parent. Where is it thick?");
  await makeNeuron("neuron.zv", signal);
  await type('get neuron.zv --where "radius > 1.8" --clip=vertices --to csv');
  say("Its cell body is a mesh. How much of the surface lies near a place?");
  await makeSurface("body.zv", signal);
  await type("info body.zv");
  await type("get body.zv --sphere 0,0,20,6 --clip=vertices --count");

  say("Edits are transactions: all of it or nothing, whatever happens meanwhile. Short fibres go, others come:");
  await makeTracts("more.zv", 40, signal, UNIT);
  await type('delete tracts.zv --where "object.length < 40"');
  await type("append tracts.zv more.zv");
  await type("validate tracts.zv");

  say("A count is wrong, as other software leaves it after a crash. validate finds it; repair writes it anew:");
  writeFileSync(LEVEL, readFileSync(LEVEL, "utf8").replace(/("vertex_count":\s*)\d+/, "$17"));
  await type("validate tracts.zv");
  await type("repair tracts.zv");
}

async function seeing({ say, type, signal }: Tour, isServed: boolean): Promise<void> {
  say("PICTURES. Particles, beside all that; a picture of them by their speed, drawn without a browser:");
  await makeParticles("particles.zv", 20_000, signal);
  await type("render particles.zv particles.png --view top --color speed");
  const command = "view tracts.zv neuron.zv body.zv particles.zv";
  if (isServed) {
    say("And all of it in the viewer, in your browser:");
    await type(command);
  } else say(`And in the viewer, in a browser: octavo ${command}`);
}

const LEVEL = "tracts.zv/0/zarr.json";
const UNIT = "micrometer"; // as the neuron and the particles have it: in the viewer they stand beside each other

const sent = ({ requests, bytes }: Tour["traffic"]): string =>
  `${counted(requests, "request")} and ${bytesText(bytes)}`;

/** Shows a command as one types it and runs it, in this process. */
async function type(session: Session, line: string): Promise<void> {
  const { output } = session;
  output.line(output.bold(`$ octavo ${line}`));
  const [name, ...args] = [...line.matchAll(/"([^"]*)"|\S+/g)].map(([word, quoted]) => quoted ?? word);
  const verb = await verbs.find((known) => known.name === name)!.load();
  const { operands, options } = parse({ ...verb.options, ...common }, args);
  const remark = (text: string): void => output.line(output.dim(text)); // in its place among the results
  await verb.run(operands, options, { ...session, output: { ...output, remark } });
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
