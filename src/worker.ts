/** What a worker runs: the entry "octavo/worker", bundled into one file. */
import { serve } from "./worker/serve.js";
import { tasks } from "./worker/tasks.js";

serve(tasks);
