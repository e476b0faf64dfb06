import { fuzzSuite } from "./suite.js";
import { zarrVectorsTargets } from "./targets-zarr-vectors.js";

fuzzSuite(zarrVectorsTargets);
