/** Packed bytes as they come, unpacked: by Node's zlib, or by what browsers have. */
import { builtin } from "../platform.js";

const ENGINES = { gzip: "createGunzip", deflate: "createInflate", "deflate-raw": "createInflateRaw" } as const;

/**
 * Of gzip all members one after the other where Node unpacks, one in browsers; after a stream of zlib ("deflate") nothing may follow. `damaged`: the error for
 * bytes that are no such thing.
 */
export async function* unpackStream(
  format: keyof typeof ENGINES,
  source: AsyncGenerator<Uint8Array>,
  damaged: (cause: Error) => Error,
): AsyncGenerator<Uint8Array> {
  const zlib = builtin("node:zlib");
  try {
    if (zlib !== undefined) {
      const unpack = zlib[ENGINES[format]]({ chunkSize: 1 << 20 });
      let given = 0;
      const feed = async (): Promise<void> => {
        for await (const bytes of source) {
          if (unpack.destroyed) return;
          given += bytes.length;
          if (!unpack.write(bytes)) await new Promise<void>((go) => unpack.once("drain", go).once("close", go));
        }
        unpack.end();
      };
      const fed = feed().catch((error) => unpack.destroy(error));
      try {
        for await (const { buffer, byteOffset, length } of unpack as AsyncIterable<Uint8Array>)
          yield new Uint8Array(buffer, byteOffset, length); // no Buffer: its slice is no copy
      } finally {
        unpack.destroy();
      }
      await fed;
      if (format === "deflate" && unpack.bytesWritten < given)
        throw damaged(new Error(`there is more after its ${unpack.bytesWritten} bytes`));
      return;
    }
    const packed = new ReadableStream<BufferSource>({
      async pull(controller) {
        const { done, value } = await source.next();
        if (done === true) controller.close();
        else controller.enqueue(value as Uint8Array<ArrayBuffer>);
      },
    });
    const reader = packed.pipeThrough(new DecompressionStream(format)).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } catch (cause) {
    const { name, code } = cause as { name?: string; code?: string };
    if (code?.startsWith("Z_") || (name === "TypeError" && zlib === undefined)) throw damaged(cause as Error);
    throw cause;
  }
}
