import { fuzzSuite } from "./suite.js";
import { tableTargets } from "./targets-interchange-tables.js";

fuzzSuite(tableTargets, 500);
