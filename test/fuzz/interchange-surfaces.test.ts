import { fuzzSuite } from "./suite.js";
import { surfaceTargets } from "./targets-interchange-surfaces.js";

fuzzSuite(surfaceTargets);
