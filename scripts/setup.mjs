/**
 * What the launcher runs when the build is missing or old: `npm ci` where node_modules does not fit the lockfile, then
 * the bundles. Whoever comes second waits for the first. Everything it says goes to stderr, one line each.
 *
 * The lock is a file that holds its owner's process id, made by `link`, so that it appears with its content; the lock of
 * a process that is gone is taken away.
 */
import { spawnSync } from "node:child_process";
import { linkSync, lstatSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const say = (text) => process.stderr.write(`octavo: ${text}\n`);
const mtime = (path) => statSync(join(root, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;

const [major, minor] = process.versions.node.split(".").map(Number);
if (major < 20 || (major === 20 && minor < 16)) {
  say(`needs Node 20.16 or newer, and this is Node ${process.versions.node}; see https://nodejs.org`);
  process.exit(2);
}

/** Runs a step with its output held back, and shows it only if the step fails. */
function run(what, command, args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: "utf8" });
  if (status === 0) return;
  const said = `${stdout ?? ""}${stderr ?? ""}`.split("\n");
  process.stderr.write(`${said.slice(0, 30).join("\n")}\n`); // npm explains its own usage after that
  say(`${what} failed${error === undefined ? "" : `: ${error.message}`}`);
  process.exit(3);
}

function alive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

mkdirSync(join(root, ".cache"), { recursive: true });
const lock = join(root, ".cache/setup.lock");
const mine = `${lock}.${process.pid}`;
const started = Date.now();
writeFileSync(mine, String(process.pid));
for (let told = false; ; ) {
  try {
    linkSync(mine, lock);
    break;
  } catch (error) {
    if (error.code !== "EEXIST") throw error;
  }
  let owner = 0;
  try {
    owner = Number(readFileSync(lock, "utf8"));
  } catch {
    continue; // released in this moment
  }
  if (!alive(owner)) {
    rmSync(lock, { force: true });
    continue;
  }
  if (!told) say(`waiting for the build that process ${owner} is making …`);
  told = true;
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
}
rmSync(mine);
process.on("exit", () => rmSync(lock, { force: true }));

if (mtime("dist/cli.cjs") < started) {
  // npm writes this file last: where it is older than the lockfile, the install is old or was cut short.
  if (mtime("node_modules/.package-lock.json") < mtime("package-lock.json")) {
    if (lstatSync(join(root, "node_modules"), { throwIfNoEntry: false })?.isSymbolicLink()) {
      say("node_modules is a link to packages that do not fit package-lock.json; npm ci would empty their folder");
      process.exit(2);
    }
    say("installing packages (npm ci), once …");
    const npm = process.platform === "win32" ? "npm.cmd" : "npm";
    run("npm ci", npm, ["ci", "--no-audit", "--no-fund", "--loglevel=error"]);
  }
  say("building …");
  run("the build", process.execPath, ["scripts/build.mjs", "--cli"]);
}
