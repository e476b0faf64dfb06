import { fuzzSuite } from "./suite.js";
import { codecTargets } from "./targets-codec.js";

fuzzSuite(codecTargets);
