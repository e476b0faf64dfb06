/** `npm run bench NAME arguments…`: runs bench/NAME.ts or bench/NAME/run.ts; without a name it says which there are. */
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const fileOf = (name) => [`bench/${name}.ts`, `bench/${name}/run.ts`].find((path) => existsSync(join(root, path)));
const names = readdirSync(join(root, "bench"))
  .map((entry) => basename(entry, ".ts"))
  .filter((name) => fileOf(name) !== undefined);

const [name = "", ...args] = process.argv.slice(2);
if (!names.includes(name)) {
  console.error(`usage: npm run bench NAME, where NAME is one of ${names.join(", ")}`);
  process.exit(2);
}
const file = join(root, fileOf(name));
process.exit(
  spawnSync(process.execPath, [join(root, "scripts/ts.mjs"), file, ...args], { stdio: "inherit" }).status ?? 1,
);
