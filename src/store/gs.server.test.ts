/** gs: on fake-gcs-server, which the tests start and fill through its upload API. */
import { afterAll, beforeAll, describe, it } from "vitest";
import { availability, fakeGcs } from "../../test/servers/binary.js";
import { makeBucket, startFakeGcs, upload } from "../../test/servers/fake-gcs.js";
import type { Server } from "../../test/servers/process.js";
import { runStoreSuite } from "../testing/index.js";
import { gsStore } from "./gs.js";

const { path, title } = availability(fakeGcs);

describe.skipIf(path === undefined)(title, () => {
  let server: Server;
  let stores = 0;
  beforeAll(async () => {
    server = await startFakeGcs(path!);
  });
  afterAll(() => server?.close());

  const can = { list: true, write: false, conditional: false };
  runStoreSuite({ describe, it }, "gs", can, async (values) => {
    const bucket = `bucket-${++stores}`; // the server takes longer for each object that a bucket already has
    await makeBucket(server.url, bucket);
    const entries = Object.entries(values);
    for (let at = 0; at < entries.length; at += 50)
      await Promise.all(
        entries.slice(at, at + 50).map(([key, value]) => upload(server.url, bucket, `p/q/${key}`, value)),
      );
    return gsStore({ bucket, prefix: "p/q", endpoint: server.url });
  });
});
