import { fuzzSuite } from "./suite.js";
import { snapshotTargets } from "./targets-snapshot.js";

fuzzSuite(snapshotTargets, 300);
