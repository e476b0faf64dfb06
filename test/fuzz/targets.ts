/** One target per decoder: everything in Octavo that turns bytes from elsewhere into something. */
import type { Target } from "./driver.js";
import { codecTargets } from "./targets-codec.js";
import { dracoTargets } from "./targets-draco.js";
import { graphTargets } from "./targets-interchange-graphs.js";
import { streamlineTargets } from "./targets-interchange-streamlines.js";
import { surfaceTargets } from "./targets-interchange-surfaces.js";
import { tableTargets } from "./targets-interchange-tables.js";
import { metadataTargets } from "./targets-metadata.js";
import { packedTreeTargets } from "./targets-packed-tree.js";
import { precomputedTargets } from "./targets-precomputed.js";
import { precomputedVectorTargets } from "./targets-precomputed-vectors.js";
import { precomputedVolumeTargets } from "./targets-precomputed-volumes.js";
import { queryTargets } from "./targets-query.js";
import { snapshotTargets } from "./targets-snapshot.js";
import { storeTargets } from "./targets-store.js";
import { twinTargets } from "./targets-twin.js";
import { zarrVectorsTargets } from "./targets-zarr-vectors.js";
import { zarrVectorsMetaTargets } from "./targets-zarr-vectors-meta.js";

export const targets: readonly Target[] = [
  ...metadataTargets,
  ...graphTargets,
  ...streamlineTargets,
  ...codecTargets,
  ...dracoTargets,
  ...twinTargets,
  ...storeTargets,
  ...queryTargets,
  ...packedTreeTargets,
  ...precomputedTargets,
  ...precomputedVectorTargets,
  ...precomputedVolumeTargets,
  ...snapshotTargets,
  ...zarrVectorsMetaTargets,
  ...zarrVectorsTargets,
  ...surfaceTargets,
  ...tableTargets,
];
