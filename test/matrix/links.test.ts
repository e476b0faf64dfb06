import { matrix } from "./matrix.js";

matrix("graph", "skeletons", "mesh", "surface");
