/** Numbers of which nobody says beforehand how many they are. */
export class Growing<T extends Uint8Array | Uint32Array | Float64Array> {
  length = 0;
  values: T;

  constructor(values: T) {
    this.values = values;
  }

  push(value: number): void {
    if (this.length === this.values.length) this.reserve(1);
    this.values[this.length++] = value;
  }

  /** Makes room for so many more, which may then be put into `values` by hand. */
  reserve(more: number): void {
    if (this.length + more <= this.values.length) return;
    const grown = new (this.values.constructor as new (length: number) => T)(2 * this.length + more + 1024);
    grown.set(this.values);
    this.values = grown;
  }

  /** What has come so far, in memory of its own. */
  done(): T {
    return this.values.slice(0, this.length) as T;
  }
}
