import { fuzzSuite } from "./suite.js";
import { twinTargets } from "./targets-twin.js";

fuzzSuite(twinTargets);
