import { fuzzSuite } from "./suite.js";
import { precomputedTargets } from "./targets-precomputed.js";

fuzzSuite(precomputedTargets);
