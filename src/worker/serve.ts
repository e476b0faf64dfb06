/** The worker's side: tasks by name, one reply for each request, in Node and in browsers. */
import { builtin } from "../platform.js";
import { alone, PortableError, type Reply, type Request } from "./message.js";

export type TaskMap = { readonly [name: string]: (payload: never) => Promise<unknown> };

interface Port {
  postMessage(reply: Reply, transfer: ArrayBuffer[]): void;
}

export function serve(tasks: TaskMap): void {
  const parent = builtin("node:worker_threads")?.parentPort;
  if (parent) {
    parent.on("message", (request: Request) => void answer(tasks, parent as Port, request));
  } else {
    const self = globalThis as unknown as Port & { onmessage: (event: MessageEvent<Request>) => void };
    self.onmessage = (event) => void answer(tasks, self, event.data);
  }
}

async function answer(tasks: TaskMap, port: Port, { id, task, payload }: Request): Promise<void> {
  try {
    const result = await tasks[task]!(payload as never);
    if (!(result instanceof Uint8Array)) return port.postMessage({ id, value: result }, []);
    const value = alone(result);
    port.postMessage({ id, value }, [value.buffer]);
  } catch (error) {
    port.postMessage({ id, error: PortableError.from(error) }, []);
  }
}
