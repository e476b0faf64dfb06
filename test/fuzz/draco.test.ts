import { fuzzSuite } from "./suite.js";
import { dracoTargets } from "./targets-draco.js";

fuzzSuite(dracoTargets);
