import { matrix } from "./matrix.js";

matrix("lines", "streamlines", "tree");
