/** Sets of particles by number: of every kind that a tree could be wrong about. */
import type { TreeBox } from "../../src/format/packed-tree/box.js";
import type { TreeRegion } from "../../src/format/packed-tree/region.js";
import type { Positions } from "../../src/model/vectors.js";
import { type Random, random } from "../fuzz/mutate.js";

export interface ParticleSet {
  readonly kind: string;
  readonly positions: Positions;
  readonly threshold: number;
  readonly box: TreeBox | undefined;
}

type Point = [x: number, y: number, z: number];

const unit = (dice: Random): number => dice.below(2 ** 30) / 2 ** 30;
const point = (dice: Random, scale = 1): Point => [scale * unit(dice), scale * unit(dice), scale * unit(dice)];

/** How the particles of a kind come, one by one. */
const kinds: Record<string, (dice: Random) => () => Point> = {
  uniform: (dice) => () => point(dice),
  equal(dice) {
    const one = point(dice, 10 ** (dice.below(7) - 3));
    return () => [...one];
  },
  duplicates(dice) {
    const few = Array.from({ length: 1 + dice.below(6) }, () => point(dice));
    return () => [...few[dice.below(few.length)]!];
  },
  line(dice) {
    const [from, way] = [point(dice), point(dice)];
    return () => {
      const t = unit(dice);
      return [from[0] + t * way[0], from[1] + t * way[1], from[2] + t * way[2]];
    };
  },
  axis(dice) {
    const [one, axis] = [point(dice), dice.below(3)];
    return () => one.map((value, i) => (i === axis ? unit(dice) : value)) as Point;
  },
  plane(dice) {
    const [value, axis] = [unit(dice), dice.below(3)];
    return () => point(dice).map((other, i) => (i === axis ? value : other)) as Point;
  },
  clusters(dice) {
    const centres = Array.from({ length: 1 + dice.below(5) }, () => ({ at: point(dice), size: 10 ** -dice.below(12) }));
    return () => {
      const { at, size } = centres[dice.below(centres.length)]!;
      return at.map((value) => value + size * (unit(dice) - 0.5)) as Point;
    };
  },
  grid(dice) {
    const [cells, scale] = [1 + dice.below(8), [0.1, 1, 1 / 3][dice.below(3)]!];
    return () => [scale * dice.below(cells + 1), scale * dice.below(cells + 1), scale * dice.below(cells + 1)];
  },
  denormals: (dice) => () => point(dice, 2 ** -1040).map((value) => (dice.below(4) === 0 ? -value : value)) as Point,
  huge(dice) {
    const scale = [1e6, 1e15, 1e100, 1e300][dice.below(4)]!;
    return () => point(dice, scale).map((value) => (dice.below(2) === 0 ? -value : value)) as Point;
  },
  "far from 0"(dice) {
    const away = point(dice, 10 ** (3 + dice.below(9)));
    return () => point(dice).map((value, i) => value + away[i]!) as Point;
  },
  outlier(dice) {
    const far = 10 ** dice.below(9);
    return () => point(dice, dice.below(50) === 0 ? far : 1);
  },
};

/** The particles of this number, how they are to be divided, and what else is to be drawn. */
export function particleSet(seed: number): { readonly set: ParticleSet; readonly dice: Random } {
  const dice = random(seed);
  const names = Object.keys(kinds);
  const kind = names[seed % names.length]!;
  const next = kinds[kind]!(dice);
  const count = [0, 1, 2, 3][dice.below(40)] ?? dice.below(400);
  const list = Array.from({ length: count }, next).flat();
  const narrow = dice.below(3) === 0 && !list.some((value) => Math.abs(value) > 1e38);
  const positions = narrow ? Float32Array.from(list) : Float64Array.from(list);
  const box: TreeBox | undefined =
    dice.below(4) === 0 ? { origin: point(dice), size: point(dice).map((v) => v + 0.1) as Point } : undefined;
  return { set: { kind, positions, threshold: dice.below(dice.below(3) === 0 ? 3 : 60), box }, dice };
}

/** Places that particles have, or that are near to them, or somewhere else. */
export function placeFor({ positions }: ParticleSet, dice: Random): Point {
  const count = positions.length / 3;
  if (count === 0) return point(dice);
  const one = (): number => 3 * dice.below(count);
  const [a, b] = [one(), one()];
  const t = [0, 0, 0.5, unit(dice), 4 * unit(dice) - 2][dice.below(5)]!;
  return [0, 1, 2].map((axis) => {
    const [low, high] = [positions[a + axis]!, positions[b + axis]!];
    return low + t * (high / 4 - low / 4);
  }) as Point;
}

export function regionFor(set: ParticleSet, dice: Random): TreeRegion {
  const [a, b] = [placeFor(set, dice), placeFor(set, dice)];
  if (dice.below(2) === 0) {
    const low = a.map((value, axis) => Math.min(value, b[axis]!));
    const high = a.map((value, axis) => Math.max(value, b[axis]!));
    return { box: dice.below(20) === 0 ? [-Infinity, ...low.slice(1), ...high] : [...low, ...high] };
  }
  const radius = Math.hypot(...a.map((value, axis) => value / 2 - b[axis]! / 2));
  return { sphere: [...a, [radius, 0, radius / 16, 2 * radius, Infinity][dice.below(20)] ?? radius] };
}
