import { ensureServers } from "./binary.js";

ensureServers();
