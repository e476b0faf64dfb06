/** Smooth walks through a cube of 1000, half a unit from vertex to vertex, as many as anybody wants. */
const STEPS = 3 * 2 ** 16;

/** Walk after walk, x, y, z of its vertices, `mean` on average: in memory that is used again. */
export function* walks(mean: number): Generator<Float32Array> {
  let state = 1;
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
  const steps = new Float32Array(STEPS);
  for (let i = 3; i < STEPS; i++) steps[i] = 0.98 * steps[i - 3]! + 0.2 * random() - 0.1;
  const room = new Float32Array(6 * mean);
  for (;;) {
    const length = 3 * Math.round(mean * (2 / 3 + (2 / 3) * random()));
    const from = 3 * Math.floor((random() * (STEPS - length)) / 3);
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
