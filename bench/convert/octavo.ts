/**
 * Octavo's side of `npm run bench convert` and `convert-long`: octavo.ts convert SOURCE TARGET OPTIONS (as JSON) [WORKER] prints times and
 * the peak in one JSON object, with workers as the command has them where their program is given; octavo.ts skeletons COUNT TARGET OPTIONS
 * those of writing generated ones into shards; octavo.ts diff A B OPTIONS what differs.
 */
import { chooseSharding, createSkeletons } from "../../src/format/precomputed/index.js";
import { convert, diff } from "../../src/node.js";
import { fileStore } from "../../src/store/file.js";
import { Prefix } from "../../src/store/key.js";
import { createPool } from "../../src/worker/pool.js";
import { walks } from "./walks.js";

const [what, source, target, text, worker] = process.argv.slice(2) as [string, string, string, string, string?];
const options = JSON.parse(text) as object;
if (what === "diff") {
  const { equal, differences } = await diff(source, target, options);
  console.log(JSON.stringify({ equal, differences }));
} else {
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  const pool = worker === undefined ? undefined : createPool({ workerUrl: worker });
  await (what === "skeletons" ? skeletons(Number(source)) : convert(source, target, { ...options, pool }));
  const { user, system } = process.cpuUsage(cpu);
  const times = { wall: (performance.now() - wall) / 1e3, cpu: (user + system) / 1e6 };
  console.log(JSON.stringify({ ...times, peak: process.resourceUsage().maxRSS / 1024 }));
  await pool?.close();
}

async function skeletons(count: number): Promise<void> {
  const { sharding } = chooseSharding({ count, bytes: count * 1500 });
  const writer = await createSkeletons(fileStore(target), Prefix.root, { sharding }, options);
  const edges = Uint32Array.from({ length: 1 << 10 }, (_, i) => (i + 1) >> 1);
  let id = 1n;
  for (const vertices of walks(75)) {
    const own = edges.subarray(0, (2 * vertices.length) / 3 - 2);
    await writer.put(id, { vertices, edges: own, attributes: new Map() });
    if (id++ === BigInt(count)) break;
  }
  await writer.commit();
}
