import { fuzzSuite } from "./suite.js";
import { queryTargets } from "./targets-query.js";

fuzzSuite(queryTargets);
