/** What stays of geometry where nothing may move further than allowed: the task of a worker. Points and lines stay as they are. */
import { thinGraph } from "./graphs.js";
import { thinMesh } from "./meshes.js";
import { thinPaths } from "./paths.js";
import type { Coarse, Fine } from "./types.js";

export interface ThinTask {
  readonly fine: Fine;
  readonly allowed: number;
}

export async function thin({ fine, allowed }: ThinTask): Promise<Coarse> {
  switch (fine.geometry) {
    case "polylines":
    case "streamlines":
      return thinPaths(fine, allowed);
    case "graph":
    case "skeletons":
      return thinGraph(fine, allowed);
    case "mesh":
      return thinMesh(fine, allowed);
    default:
      return { rows: Uint32Array.from({ length: fine.positions.length / fine.dims }, (_, row) => row), error: 0 };
  }
}
