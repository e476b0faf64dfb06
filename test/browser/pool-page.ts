/** A page that uses the worker pool and, where one is given, an S3 server; it leaves what happened in `outcome`. */
import { defaultLimits } from "../../src/limits.js";
import { Key, Prefix } from "../../src/store/key.js";
import { s3Store } from "../../src/store/s3.js";
import { createPool } from "../../src/worker/pool.js";

export interface PoolOutcome {
  readonly decoded: readonly number[];
  readonly detached: boolean;
  readonly refused: string;
  readonly died: string;
}

const chunk = { shape: [4], dtype: { kind: "uint", size: 1, endian: "little" }, fill: new Uint8Array(1) } as const;
const specs = [
  { name: "bytes", configuration: {} },
  { name: "gzip", configuration: { level: 1 } },
];

async function usePool(): Promise<PoolOutcome> {
  const pool = createPool({ size: 2, workerUrl: "/worker.js" });
  const nothing = createPool({ size: 1, workerUrl: "/nothing.js" });
  const describe = (error: Error & { reason?: string }) => `${error.name} ${error.reason ?? ""}`.trim();
  try {
    const bytes = await pool.run("codec.encode", { specs, chunk, data: Uint8Array.of(1, 2, 3, 4) });
    const payload = { specs, chunk, bytes, limits: defaultLimits };
    const decoded = await pool.run("codec.decode", payload, { transfer: [bytes.buffer as ArrayBuffer] });
    const bad = { ...payload, bytes: Uint8Array.of(0) };
    return {
      decoded: [...(decoded as Uint8Array)],
      detached: bytes.length === 0,
      refused: await pool.run("codec.decode", bad).then(() => "", describe),
      died: await nothing.run("codec.decode", bad).then(() => "", describe),
    };
  } finally {
    await pool.close();
    await nothing.close();
  }
}

async function useS3(endpoint: string, accessKeyId: string, secretAccessKey: string): Promise<unknown> {
  const store = s3Store({ bucket: "one", prefix: "page", endpoint, credentials: { accessKeyId, secretAccessKey } });
  const key = Key.of("a b/c");
  await store.set(key, Uint8Array.of(1, 2, 3, 4));
  const [whole, part] = [await store.get(key), await store.get(key, { range: { offset: 1, length: 2 } })];
  const absent = (await store.get(Key.of("x"))) === undefined;
  const { prefixes } = await store.children(Prefix.root);
  return { whole: [...whole!], part: [...part!], absent, prefixes, size: (await store.stat(key))?.size };
}

Object.assign(globalThis, { usePool, useS3 });
