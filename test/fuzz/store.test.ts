import { fuzzSuite } from "./suite.js";
import { storeTargets } from "./targets-store.js";

fuzzSuite(storeTargets);
