/**
 * `npm run bench tree-http [COUNT]`: what questions to a `.ptree` file cost over HTTP, 10,000,000 particles unless told, uniform and
 * clustered. The server is a plain one on 127.0.0.1 that counts requests and bytes; everything is asked with `open` and `select`, as
 * anybody would. Spheres hold 1 % of the particles; what is counted begins with `open`.
 *
 *     requests   with a range, the one that tells what the file is and those that open it included
 *     bytes      of bodies; "of the answer" are positions and all attributes of the particles inside
 */
import { createReadStream, existsSync, mkdirSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { buildTree, joinParticles, writeParticles } from "../src/format/packed-tree/index.js";
import type { Query, SelectOptions, VectorDataset } from "../src/model/vectors.js";
import { fileStore, Key, open } from "../src/node.js";
import { floats, particleFile, SETS, type SetName } from "./tree/inputs.js";

const cache = join(import.meta.dirname, "../.cache/bench/tree");
const count = Number(process.argv[2] ?? 10_000_000);
const seen = { requests: 0, bytes: 0 };

const server = createServer((request, response) => {
  const path = join(cache, decodeURIComponent(request.url!.slice(1)));
  if (!existsSync(path)) return void response.writeHead(404).end();
  const { size } = statSync(path);
  const [, from = "", to = ""] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
  if (request.method === "HEAD" || request.headers.range === undefined) {
    response.writeHead(200, { "content-length": size, "accept-ranges": "bytes" });
    return void (request.method === "HEAD" ? response.end() : createReadStream(path).pipe(response));
  }
  const first = from === "" ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === "" || to === "" ? size - 1 : Math.min(Number(to), size - 1);
  seen.requests++;
  seen.bytes += last - first + 1;
  response.writeHead(206, { "content-length": last - first + 1, "content-range": `bytes ${first}-${last}/${size}` });
  createReadStream(path, { start: first, end: last }).pipe(response);
});
await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** The file of a set; made on first use. */
async function treeFile(set: SetName): Promise<string> {
  mkdirSync(cache, { recursive: true });
  const name = `${set}_${count}.ptree`;
  const input = particleFile(cache, set, count);
  const particles = await joinParticles(await buildTree(floats(input), { created: 1 }));
  const started = performance.now();
  await writeParticles(fileStore(cache), Key.of(name), particles);
  const { size } = statSync(join(cache, name));
  console.log(
    `\n${set}: ${(size / 1e6).toFixed(0)} MB, written in ${((performance.now() - started) / 1000).toFixed(1)} s\n`,
  );
  return name;
}

/** A sphere around a place that has 1 % of the particles. */
function sphere(positions: Float64Array, place: readonly number[]): number[] {
  const all = new Float64Array(count);
  for (let i = 0; i < count; i++)
    all[i] = [0, 1, 2].reduce((sum, axis) => sum + (positions[3 * i + axis]! - place[axis]!) ** 2, 0);
  return [...place, Math.sqrt(all.sort()[Math.floor(count / 100)]!)];
}

async function measure(url: string, query: Query, options: SelectOptions = {}): Promise<string[]> {
  Object.assign(seen, { requests: 0, bytes: 0 });
  const dataset = (await open(url)) as VectorDataset;
  const started = performance.now();
  const batch = await dataset.select(query).read(options);
  const milliseconds = performance.now() - started;
  const rows = batch.positions.length / 3;
  const answer = rows * (batch.positions.BYTES_PER_ELEMENT * 3 + 4);
  const [mb, share] = [(bytes: number) => (bytes / 1e6).toFixed(2), (seen.bytes - 256_000) / answer];
  return [
    rows.toLocaleString("en"),
    `${seen.requests}`,
    mb(seen.bytes),
    mb(answer),
    share.toFixed(2),
    milliseconds.toFixed(0),
  ];
}

for (const set of SETS) {
  const name = await treeFile(set);
  const positions = floats(particleFile(cache, set, count));
  const places = [[0.5, 0.5, 0.5], [...positions.subarray(3, 6)], [...positions.subarray(300, 303)]];
  const url = `${address}/${name}`;
  console.log("| question | particles | requests | MB read | MB of the answer | (read − 256 kB) / answer | ms |");
  console.log("|---|---|---|---|---|---|---|");
  const tell = (what: string, cells: readonly string[]): void => console.log(`| ${what} | ${cells.join(" | ")} |`);
  for (const place of places) {
    const asked = { sphere: sphere(positions, place) };
    const around = place.map((value) => value.toFixed(2)).join(", ");
    tell(`1 % sphere at ${around}`, await measure(url, asked));
    tell(`… \`requests: 8\``, await measure(url, asked, { requests: 8 }));
  }
  tell("10 nearest to a place", await measure(url, { nearest: [0.4, 0.5, 0.6, 10] }));
  tell("all of it, at most 100,000", await measure(url, { maxVertices: 100_000 }));
  tell("an eighth, at most 100,000", await measure(url, { box: [0, 0, 0, 0.5, 0.5, 0.5], maxVertices: 100_000 }));
}
server.closeAllConnections();
server.close();
