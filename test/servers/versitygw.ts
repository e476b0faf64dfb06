/** versitygw: S3 on a folder, faithful to conditional puts. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Server, startServer } from "./process.js";

export const credentials = { accessKeyId: "octavo-test", secretAccessKey: "octavo-test-secret" };

/** Buckets are made as folders below `data`. */
export async function startVersitygw(path: string, buckets: readonly string[]): Promise<Server> {
  return startServer(
    path,
    (port, folder) => {
      for (const bucket of buckets) mkdirSync(join(folder, "data", bucket), { recursive: true });
      // A sidecar folder holds the metadata, as not every file system of a test machine has extended attributes.
      mkdirSync(join(folder, "sidecar"));
      const sidecar = ["--sidecar", join(folder, "sidecar")];
      const gateway = ["--port", `127.0.0.1:${port}`, "--quiet", "--cors-allow-origin", "*"];
      return [...gateway, "posix", ...sidecar, join(folder, "data")];
    },
    { ROOT_ACCESS_KEY_ID: credentials.accessKeyId, ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey },
    async (url) => (await fetch(url)).status > 0,
  );
}
