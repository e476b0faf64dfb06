import { fuzzSuite } from "./suite.js";
import { metadataTargets } from "./targets-metadata.js";

fuzzSuite(metadataTargets);
