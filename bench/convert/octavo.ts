/**
 * Octavo's side of `npm run bench convert`: octavo.ts convert SOURCE TARGET OPTIONS (as JSON) prints times and the peak in one JSON
 * object; octavo.ts diff A B OPTIONS what differs.
 */
import { convert, diff } from "../../src/node.js";

const [what, source, target, text] = process.argv.slice(2) as [string, string, string, string];
const options = JSON.parse(text) as object;
if (what === "diff") {
  const { equal, differences } = await diff(source, target, options);
  console.log(JSON.stringify({ equal, differences }));
} else {
  const [wall, cpu] = [performance.now(), process.cpuUsage()];
  await convert(source, target, options);
  const { user, system } = process.cpuUsage(cpu);
  const times = { wall: (performance.now() - wall) / 1e3, cpu: (user + system) / 1e6 };
  console.log(JSON.stringify({ ...times, peak: process.resourceUsage().maxRSS / 1024 }));
}
