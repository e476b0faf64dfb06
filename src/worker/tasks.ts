/**
 * What a worker can be asked to do, by name. Each task is loaded when it is first asked for; a format adds one by adding a
 * line here. A task gets a payload that structured cloning can carry and answers with such a value; bytes are handed over.
 */

import type { DivideTask, PartitionTask } from "../format/packed-tree/share-task.js";
import type { SharedRoom } from "../kernel/tree.js";
import type { ThinTask } from "../pyramid/thin.js";
import type { ChunkTask, EncodeTask } from "./codec-tasks.js";
import type { FileTask } from "./file-task.js";

export const tasks = {
  /** A chunk's bytes → its elements. */
  "codec.decode": async (task: ChunkTask) => (await import("./codec-tasks.js")).decode(task),
  /** A chunk's elements → its bytes. */
  "codec.encode": async (task: EncodeTask) => (await import("./codec-tasks.js")).encode(task),
  /** A chunk in a plain file → its elements; undefined where the store must be asked. */
  "file.decode": async (task: FileTask) => (await import("./file-task.js")).decodeFile(task),
  /** Shared memory for particles → memory that is there. */
  "tree.touch": async (room: SharedRoom) => (await import("../format/packed-tree/share-task.js")).touch(room),
  /** Particles in shared memory, on either side of a plane → the first of the upper side. */
  "tree.partition": async (task: PartitionTask) =>
    (await import("../format/packed-tree/share-task.js")).partition(task),
  /** Particles in shared memory → the nodes over them. */
  "tree.divide": async (task: DivideTask) => (await import("../format/packed-tree/share-task.js")).divide(task),
  /** Geometry → what stays of it on a coarser level. */
  "pyramid.thin": async (task: ThinTask) => (await import("../pyramid/thin.js")).thin(task),
};

export type Tasks = typeof tasks;
