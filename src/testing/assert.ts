/** The few assertions the exported suites need, without a test framework. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
}

export function check(holds: boolean, sentence: string): asserts holds {
  if (!holds) throw new AssertionError(sentence);
}

export function same(found: unknown, expected: unknown, what = "value"): void {
  const [left, right] = [show(found), show(expected)];
  check(left === right, `${what}: expected ${right}, found ${left}`);
}

function show(value: unknown): string {
  if (value === undefined) return "undefined";
  if (!ArrayBuffer.isView(value)) return JSON.stringify(value);
  const bytes = new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  if (bytes.length <= 64) return `bytes(${bytes.length}) ${bytes.join(" ")}`;
  let sum = 0;
  for (let i = 0; i < bytes.length; i++) sum = (Math.imul(sum, 31) + bytes[i]!) | 0;
  return `bytes(${bytes.length}) with sum ${sum}`;
}

/** The promise must reject with an error of this name. */
export async function rejects(promise: Promise<unknown>, name: string): Promise<void> {
  let found: unknown;
  try {
    found = await promise;
  } catch (error) {
    check((error as Error)?.name === name, `expected ${name}, found the error ${String(error)}`);
    return;
  }
  throw new AssertionError(`expected ${name}, found the value ${show(found)}`);
}

/** The promise must reject with this very reason. */
export async function rejectsWith(promise: Promise<unknown>, reason: unknown): Promise<void> {
  try {
    await promise;
  } catch (error) {
    check(error === reason, `expected the signal's own reason, found ${String(error)}`);
    return;
  }
  throw new AssertionError("expected an aborted call to reject, but it gave a value");
}
