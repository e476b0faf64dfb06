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
      const gateway = ["--port", `127.0.0.1:${port}`, "--quiet", "--cors-allow-origin", "*"];
      // Metadata in extended attributes: in a sidecar folder, value and ETag change one after the other, and of 40 runs of
      // eight competing writers 18 lost an update.
      return [...gateway, "posix", join(folder, "data")];
    },
    { ROOT_ACCESS_KEY_ID: credentials.accessKeyId, ROOT_SECRET_ACCESS_KEY: credentials.secretAccessKey },
    async (url) => (await fetch(url)).status > 0,
  );
}
