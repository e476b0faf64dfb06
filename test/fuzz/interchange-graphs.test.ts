import { fuzzSuite } from "./suite.js";
import { graphTargets } from "./targets-interchange-graphs.js";

fuzzSuite(graphTargets);
