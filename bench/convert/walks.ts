/** Random walks through a cube of 1000, as many as anybody wants. */
const STEPS = 2 ** 16;

/** Walk after walk, x, y, z of its vertices, `mean` on average: in memory that is used again. */
export function* walks(mean: number): Generator<Float32Array> {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
  const steps = Float32Array.from({ length: STEPS }, () => 4 * random() - 2);
  const room = new Float32Array(6 * mean);
  for (;;) {
    const length = 3 * Math.round(mean * (2 / 3 + (2 / 3) * random()));
    const from = Math.floor(random() * (STEPS - length));
    for (let axis = 0; axis < 3; axis++) {
      let at = 150 + 700 * random();
      for (let i = axis; i < length; i += 3) {
        at = Math.fround(at + steps[from + i]!);
        room[i] = at;
      }
    }
    yield room.subarray(0, length);
  }
}
