/** Opens an address in the browser of whoever sits here. */
import { spawn } from "node:child_process";

/** False where there is no screen, or nothing that opens addresses. */
export async function openBrowser(url: string): Promise<boolean> {
  const [command, ...args] = openerOf(process.platform, process.env);
  if (command === undefined) return false;
  const child = spawn(command, [...args, url], { stdio: "ignore", detached: true });
  child.unref();
  return new Promise((resolve) => child.once("spawn", () => resolve(true)).once("error", () => resolve(false)));
}

/** The command that opens an address; nothing where it could not be seen. */
export function openerOf(platform: NodeJS.Platform, env: NodeJS.ProcessEnv): readonly string[] {
  if (platform === "darwin") return ["open"];
  if (platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  const hasScreen = [env.DISPLAY, env.WAYLAND_DISPLAY].some((name) => name !== undefined && name !== "");
  return hasScreen ? ["xdg-open"] : [];
}
