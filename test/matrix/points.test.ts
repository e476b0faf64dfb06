import { matrix } from "./matrix.js";

matrix("cloud", "points");
