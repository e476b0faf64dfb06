import { fuzzSuite } from "./suite.js";
import { zarrVectorsMetaTargets } from "./targets-zarr-vectors-meta.js";

fuzzSuite(zarrVectorsMetaTargets);
