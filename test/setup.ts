/** Once before the tests: the WebAssembly kernel, if its sources are newer than what was compiled. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

export default function setup(): void {
  const script = fileURLToPath(new URL("../scripts/kernel.mjs", import.meta.url));
  execFileSync(process.execPath, [script, "--if-stale"], { stdio: "inherit" });
}
