/** The precomputed set: DIR/precomputed has a folder for each kind of data. */
import type { Case } from "./case.js";
import { shardedCases } from "./precomputed-sharded.js";
import { vectorCases } from "./precomputed-vectors.js";
import { volumeCases } from "./precomputed-volumes.js";

export const precomputedCases = (folder: string): Case[] => [
  ...shardedCases(folder),
  ...vectorCases(folder),
  ...volumeCases(folder),
];
