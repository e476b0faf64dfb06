import { fuzzSuite } from "./suite.js";
import { precomputedVectorTargets } from "./targets-precomputed-vectors.js";

fuzzSuite(precomputedVectorTargets);
