import { fuzzSuite } from "./suite.js";
import { packedTreeTargets } from "./targets-packed-tree.js";

fuzzSuite(packedTreeTargets);
