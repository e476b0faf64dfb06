/** Transactions on S3, on a real server that the tests start. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { availability, versitygw } from "../../test/servers/binary.js";
import type { Server } from "../../test/servers/process.js";
import { credentials, startVersitygw } from "../../test/servers/versitygw.js";
import { at, inPlace, k, logs, seenThrough, state, step, text } from "../../test/transactions.js";
import { LimitExceeded } from "../errors.js";
import { faultyStore } from "../testing/index.js";
import { s3Store } from "./s3.js";
import { Transaction } from "./transaction.js";

const { path, title } = availability(versitygw);

describe.skipIf(path === undefined)(title, () => {
  let server: Server;
  beforeAll(async () => {
    server = await startVersitygw(path!, ["one"]);
  });
  afterAll(() => server?.close());
  const open = () => s3Store({ bucket: "one", prefix: "tx", endpoint: server.url, credentials });

  it("writers at once lose nothing", async () => {
    await Promise.all(
      [open(), open()].map(async (store) => {
        for (let i = 0; i < 3; i++) await step(store, { memory: 300 });
      }),
    );
    expect(await inPlace(open())).toEqual(state(6));
  });

  it("a commit that was not applied is seen, and applied by the next writer", async () => {
    const stuck = faultyStore(open(), ({ kind, at }) => {
      if (kind === "set" && !at.includes(".octavo/")) throw new LimitExceeded("stuck");
    });
    const { unapplied } = await Transaction.run(stuck, at, (view) => view.set(k("data/x"), text("7")));
    expect(unapplied).toBeInstanceOf(LimitExceeded);
    expect(await seenThrough(open())).toEqual({ ...state(6), "data/x": "7" });
    await Transaction.recover(open(), at);
    expect(await inPlace(open())).toEqual({ ...state(6), "data/x": "7" });
    expect((await logs(open())).filter((name) => !name.endsWith(".journal"))).toEqual(["head"]);
  });
});
