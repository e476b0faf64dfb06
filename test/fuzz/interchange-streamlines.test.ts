import { fuzzSuite } from "./suite.js";
import { streamlineTargets } from "./targets-interchange-streamlines.js";

fuzzSuite(streamlineTargets);
