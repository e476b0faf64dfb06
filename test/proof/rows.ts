/** The rows that need no other program, in the order of the table. The rest (fuzzing, peers, stores) have tests of their own. */
import { damage } from "./damage.js";
import { failing } from "./failing.js";
import { honesty } from "./honesty.js";
import { poison } from "./json.js";
import { kills } from "./kills.js";
import { memory } from "./memory.js";
import { precomputedRows } from "./precomputed.js";
import { queries } from "./queries.js";
import { roundTrip } from "./round-trip.js";
import type { Row } from "./row.js";
import { serverRows } from "./server.js";
import { treeRows } from "./trees.js";
import { vectorRows } from "./vectors.js";
import { writers } from "./writers.js";

export const rows: readonly Row[] = [
  ...[damage, honesty, roundTrip, kills, failing, writers, memory, poison, queries],
  ...vectorRows,
  ...precomputedRows,
  ...treeRows,
  ...serverRows,
];
