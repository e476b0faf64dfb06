import { fuzzSuite } from "./suite.js";
import { precomputedVolumeTargets } from "./targets-precomputed-volumes.js";

fuzzSuite(precomputedVolumeTargets);
