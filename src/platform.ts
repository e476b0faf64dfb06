/**
 * Node's own modules without an import that a bundler for browsers would trip over.
 * `process.getBuiltinModule` exists from Node 20.16; elsewhere the answer is undefined.
 */
type Builtins = {
  "node:zlib": typeof import("node:zlib");
  "node:worker_threads": typeof import("node:worker_threads");
  "node:os": typeof import("node:os");
  "node:fs": typeof import("node:fs");
  "node:path": typeof import("node:path");
  "node:crypto": typeof import("node:crypto");
};

export function builtin<Name extends keyof Builtins>(name: Name): Builtins[Name] | undefined {
  const host = (globalThis as { process?: { getBuiltinModule?: (id: string) => unknown } }).process;
  return host?.getBuiltinModule?.(name) as Builtins[Name] | undefined;
}
