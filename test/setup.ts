/** Once before the tests: what is made into sources, if what it is made from is newer. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export default function setup(): void {
  for (const name of ["kernel", "draco"]) {
    const script = fileURLToPath(new URL(`../scripts/${name}.mjs`, import.meta.url));
    execFileSync(process.execPath, [script, "--if-stale"], { stdio: "inherit" });
  }
}
