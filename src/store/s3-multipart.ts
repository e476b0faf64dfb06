/**
 * A large value on its way to S3: a multipart upload, which nobody sees before it is completed.
 *
 *   POST ?uploads → UploadId · PUT ?partNumber=n&uploadId= … → ETag · POST ?uploadId= (the list of parts) or DELETE
 *
 * S3 allows 10,000 parts of 5 MiB to 5 GiB and 5 TiB in all. Parts start at 8 MiB and double every 1000, so that small
 * uploads need little memory and 10,000 parts reach 7.8 TiB. A value that ends within the first part is put in one piece.
 */
import { Corrupt, type OctavoError, Unsupported } from "../errors.js";
import { again } from "./retry.js";
import type { Fault, S3Client, S3Request } from "./s3-request.js";
import { Xml } from "./s3-xml.js";
import { readText } from "./send.js";
import type { HeaderMap } from "./sigv4.js";
import { sinkState } from "./sink.js";
import type { Sink } from "./types.js";

export const FIRST_PART = 8 << 20;
/** How much may be under way at once: enough to keep a link busy, and one part whatever its size. */
const IN_FLIGHT = 32 << 20;

export const partSize = (part: number): number => FIRST_PART * 2 ** Math.floor((part - 1) / 1000);

export interface Upload {
  readonly client: S3Client;
  readonly where: string;
  /** The whole key. */
  readonly path: string;
  readonly signal: AbortSignal | undefined;
  /** The headers of the condition under which the value may appear. */
  readonly condition: HeaderMap;
  /** Puts a value that turned out to be small in one piece, under the condition. */
  put(value: Uint8Array): Promise<void>;
  /** The error for a completion that was refused, perhaps by the condition. */
  refused(fault: Fault): OctavoError;
}

export function multipartSink(upload: Upload): Sink {
  const { client, where, path, signal } = upload;
  const state = sinkState(where);
  const tags: string[] = [];
  const pending = new Map<Promise<void>, number>();
  let failure: unknown;
  let id: string | undefined;
  let parts = 0;
  let sent = 0;
  let part = new Uint8Array(0);
  let filled = 0;

  async function ask(request: S3Request): Promise<Response> {
    const answer = await client.call(request);
    if (answer.fault !== undefined) throw answer.fault.error;
    return answer.response;
  }

  async function begin(): Promise<string> {
    const request: S3Request = { method: "POST", path, query: { uploads: "" }, signal };
    const xml = Xml.parse(await readText(await ask(request)), where);
    const found = Xml.text(xml, "UploadId");
    if (!found) throw new Corrupt(`S3 began the upload of ${where} without giving it an UploadId`, { where });
    return found;
  }

  /** A part may be sent twice: the second takes the place of the first. */
  const send = (number: number, body: Uint8Array): Promise<void> =>
    again(async () => {
      const query = { partNumber: String(number), uploadId: id! };
      const response = await ask({ method: "PUT", path, query, body, signal });
      await readText(response);
      const tag = response.headers.get("etag");
      if (tag === null)
        throw new Unsupported(`part ${number} of ${where} came back without its ETag`, {
          where,
          hint: "in a browser, the bucket's CORS settings must expose the header ETag",
        });
      tags[number - 1] = tag;
    }, upload);

  /** Starts sending the part at hand, as soon as there is room for it among those under way. */
  async function flush(): Promise<void> {
    const body = part.subarray(0, filled);
    part = new Uint8Array(0);
    filled = 0;
    id ??= await begin();
    const underWay = () => [...pending.values()].reduce((sum, size) => sum + size, 0);
    while (pending.size > 0 && underWay() + body.length > IN_FLIGHT) await Promise.race(pending.keys());
    if (failure !== undefined) throw failure;
    const sending: Promise<void> = send(++parts, body).then(
      () => void pending.delete(sending),
      (error) => {
        failure ??= error;
        pending.delete(sending);
      },
    );
    pending.set(sending, body.length);
    sent += body.length;
  }

  async function complete(): Promise<void> {
    if (id === undefined) return upload.put(part.subarray(0, filled));
    if (filled > 0) await flush();
    await Promise.all(pending.keys());
    if (failure !== undefined) throw failure;
    const list = tags.map((tag, i) => `<Part><PartNumber>${i + 1}</PartNumber><ETag>${Xml.escape(tag)}</ETag></Part>`);
    const document = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${list.join("")}</CompleteMultipartUpload>`;
    const answer = await client.call({
      method: "POST",
      path,
      query: { uploadId: id },
      headers: upload.condition,
      body: new TextEncoder().encode(document),
      moved: sent,
      signal,
    });
    if (answer.fault !== undefined) throw upload.refused(answer.fault);
    const text = await readText(answer.response); // completing takes long, so that S3 may find out after saying 200
    if (Xml.parse(text, where).name === "Error") throw upload.refused(client.fault(answer.response, text, path));
  }

  async function discard(): Promise<void> {
    state.end();
    part = new Uint8Array(0);
    await Promise.all(pending.keys()); // a part that arrives after the abort would be kept, and paid for
    const abandoned = id;
    id = undefined;
    // Best effort, without the signal, which may be the reason; buckets have rules that clear what is left.
    if (abandoned !== undefined)
      await client.call({ method: "DELETE", path, query: { uploadId: abandoned } }).catch(() => undefined);
  }

  /** Runs a step; whatever goes wrong in it ends the upload. */
  async function guarded(step: () => Promise<void>): Promise<void> {
    state.mustBeOpen();
    try {
      signal?.throwIfAborted();
      await step();
    } catch (error) {
      await discard();
      throw error;
    }
  }

  return {
    write: (bytes) =>
      guarded(async () => {
        if (failure !== undefined) throw failure;
        for (let at = 0; at < bytes.length; ) {
          const size = partSize(parts + 1);
          if (part.length < Math.min(size, filled + bytes.length - at))
            part = grown(part, filled, bytes.length - at, size);
          const taken = Math.min(bytes.length - at, size - filled);
          part.set(bytes.subarray(at, at + taken), filled);
          filled += taken;
          at += taken;
          if (filled === size) await flush();
        }
      }),
    commit: () =>
      guarded(async () => {
        await complete();
        state.end();
        id = undefined;
      }),
    async abort() {
      if (state.open) await discard();
    },
  };
}

/** Room for `more` bytes after those filled, doubling so that many small pieces cost little, up to the part's size. */
function grown(part: Uint8Array, filled: number, more: number, size: number): Uint8Array<ArrayBuffer> {
  const next = new Uint8Array(Math.min(size, Math.max(filled + more, part.length * 2, 1 << 16)));
  next.set(part.subarray(0, filled));
  return next;
}
