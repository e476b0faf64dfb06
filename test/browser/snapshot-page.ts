/** The page of snapshot.test.ts: a snapshot over HTTP, a damaged one, and one on which the HDF5 library crashes, in turns. */
import { loadHdf5 } from "../../src/format/snapshot/hdf5-library.js";
import { openHdf5 } from "../../src/format/snapshot/hdf5-source.js";
import { openSnapshot } from "../../src/format/snapshot/open.js";
import { httpStore } from "../../src/store/http.js";
import { Key } from "../../src/store/key.js";

async function askSnapshot(): Promise<unknown[]> {
  const store = httpStore(new URL("/", location.href).href);
  const said: unknown[] = [];
  const told = (error: unknown): void => void said.push(String(error).replace(store.url, ""));
  const { call } = await loadHdf5();
  const whole = await openHdf5(store, Key.of("swift.hdf5"));
  for (let turn = 0; turn < 2; turn++) {
    try {
      whole.use(() => call("it", "is odd", crash));
    } catch (error) {
      told(error);
    }
    await openSnapshot(store, Key.of("cut.hdf5")).catch(told);
    const dataset = await openSnapshot(store, Key.of("swift.hdf5"));
    said.push((await dataset.select({ sphere: [5, 5, 5, 3] }).read()).positions.length / 3);
  }
  return said;
}

/** Writes outside of the library's memory. */
const crash = (module: unknown): number =>
  (module as { _memset(at: number, value: number, count: number): number })._memset(2 ** 32 - 10, 1, 100);

Object.assign(globalThis, { askSnapshot });
