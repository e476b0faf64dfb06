/** Apart from the others: most of a minute of it is waiting. */
import { promised } from "./promised.js";
import { serverRows } from "./server.js";

promised(serverRows);
