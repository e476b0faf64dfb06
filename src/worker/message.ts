/**
 * What passes between the pool and its workers, one message per task each way.
 *
 *   → { id, task, payload }        ← { id, value } or { id, error }
 *
 * Buffers are handed over, not copied. An error crosses as its parts and is built again as the same one of the six.
 */
import {
  Conflict,
  Corrupt,
  type ErrorDetails,
  type ErrorKind,
  InvalidInput,
  LimitExceeded,
  NotFound,
  OctavoError,
  Unsupported,
} from "../errors.js";

export interface Request {
  readonly id: number;
  readonly task: string;
  readonly payload: unknown;
}

export type Reply =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: PortableError };

export interface PortableError {
  readonly kind: ErrorKind | undefined;
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  readonly details: ErrorDetails;
}

const classes: Record<ErrorKind, new (message: string, details: ErrorDetails) => OctavoError> = {
  "not-found": NotFound,
  corrupt: Corrupt,
  unsupported: Unsupported,
  "invalid-input": InvalidInput,
  conflict: Conflict,
  "limit-exceeded": LimitExceeded,
};

export const PortableError = {
  from(thrown: unknown): PortableError {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const { name, message, stack } = error;
    if (!(error instanceof OctavoError)) return { kind: undefined, name, message, stack, details: {} };
    const details: Record<string, unknown> = {};
    for (const part of ["where", "reason", "hint", "retryAfter"] as const)
      if (error[part] !== undefined) details[part] = error[part];
    if (error.cause !== undefined) details.cause = PortableError.from(error.cause);
    return { kind: error.kind, name, message, stack, details };
  },

  toError({ kind, name, message, stack, details }: PortableError): Error {
    const cause = details.cause === undefined ? undefined : PortableError.toError(details.cause as PortableError);
    const error =
      kind === undefined
        ? Object.assign(new Error(message), { name }) // a mistake in the code of a task, not one of the six
        : new classes[kind](message, { ...details, cause });
    if (stack !== undefined) error.stack = stack;
    return error;
  },
};

/**
 * The same bytes alone in their buffer, ready to be handed over. A view of a larger buffer is copied: cloning it would
 * clone all of the buffer, and memory of WASM or of Node's pool cannot be given away.
 */
export function alone(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = bytes;
  const whole = buffer instanceof ArrayBuffer && buffer.byteLength === byteLength && byteLength > 0;
  return whole ? (bytes as Uint8Array<ArrayBuffer>) : new Uint8Array(bytes);
}
