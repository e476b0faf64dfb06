/** A client of bench/server.ts, in a thread of its own: as many requests as there is time for, over connections that stay. */
import http from "node:http";
import { parentPort } from "node:worker_threads";

async function run({ port, length, size, clients, seconds }) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: clients });
  const end = Date.now() + 1000 * seconds;
  let done = 0;
  const ask = (from) =>
    new Promise((resolve, reject) => {
      const headers = { range: `bytes=${from}-${from + length - 1}` };
      http
        .get({ host: "127.0.0.1", port, path: "/value", agent, headers }, (response) => {
          let bytes = 0;
          response.on("data", (piece) => {
            bytes += piece.length;
          });
          response.on("end", () => {
            if (response.statusCode !== 206 || bytes !== length) reject(new Error(`${response.statusCode}, ${bytes}`));
            done++;
            resolve();
          });
        })
        .on("error", reject);
    });
  const loop = async (own) => {
    for (let n = own; Date.now() < end; n += clients) await ask((n * 104_729) % (size - length));
  };
  await Promise.all(Array.from({ length: clients }, (_, own) => loop(own)));
  agent.destroy();
  return done / seconds;
}

parentPort.on("message", async (job) => parentPort.postMessage(await run(job)));
