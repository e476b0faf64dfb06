/** One golden case: it passes by returning a line about what was seen, and fails by throwing `Failed`. */
export interface Case {
  /** "zarr/v0__dtype_i4" */
  readonly name: string;
  run(): Promise<string>;
}

export interface Row {
  readonly case: string;
  readonly passed: boolean;
  readonly detail: string;
}

export class Failed extends Error {}

export const LIMITS = { milliseconds: 5_000, bytes: 256 << 20 };

export async function runCase(one: Case): Promise<Row> {
  const start = performance.now();
  try {
    const detail = await one.run();
    const took = performance.now() - start;
    if (took > LIMITS.milliseconds) return { case: one.name, passed: false, detail: `took ${Math.round(took)} ms` };
    return { case: one.name, passed: true, detail };
  } catch (error) {
    const detail = error instanceof Failed ? error.message : error instanceof Error ? `${error.stack}` : String(error);
    return { case: one.name, passed: false, detail };
  }
}
