/** fake-gcs-server: the JSON API of Google Cloud Storage, in memory. */
import { type Server, startServer } from "./process.js";

export async function startFakeGcs(path: string): Promise<Server> {
  return startServer(
    path,
    (port) => [
      ...["-scheme", "http", "-host", "127.0.0.1", "-port", String(port), "-backend", "memory"],
      ...["-public-host", `127.0.0.1:${port}`, "-external-url", `http://127.0.0.1:${port}`, "-log-level", "error"],
    ],
    {},
    async (url) => (await fetch(`${url}/storage/v1/b?project=test`)).ok,
  );
}

export async function makeBucket(url: string, name: string): Promise<void> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ name }) };
  await mustBeOk(await fetch(`${url}/storage/v1/b?project=test`, init));
}

export async function upload(url: string, bucket: string, name: string, value: Uint8Array): Promise<void> {
  const target = `${url}/upload/storage/v1/b/${bucket}/o?uploadType=media&name=${encodeURIComponent(name)}`;
  await mustBeOk(await fetch(target, { method: "POST", body: Uint8Array.from(value) }));
}

async function mustBeOk(response: Response): Promise<void> {
  const text = await response.text();
  if (!response.ok) throw new Error(`fake-gcs-server answered ${response.status}: ${text}`);
}
