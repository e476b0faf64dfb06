import { promised } from "./promised.js";
import { rows } from "./rows.js";
import { serverRows } from "./server.js";

promised(rows.filter((row) => !serverRows.includes(row)));
