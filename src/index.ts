/** Octavo, wherever JavaScript runs. In Node, "octavo/node" has the same names and opens files too. */
import { converter } from "./convert/index.js";
import { merger } from "./convert/merge.js";
import { splitter } from "./convert/split.js";
import { differ } from "./diff/index.js";
import { datasetOpener } from "./open.js";
import { pyramider } from "./pyramid/index.js";
import { locationOpener, webSchemes } from "./store/open.js";

/** The store and the place in it that an address stands for: http(s):, s3:, gs:, memory:, zip files, pipelines. */
export const openLocation = /* @__PURE__ */ locationOpener(webSchemes);
/** The dataset at an address. */
export const open = /* @__PURE__ */ datasetOpener(openLocation);
/** A dataset, or what is at an address, to another address; answers what was copied, what was encoded anew, what was lost. */
export const convert = /* @__PURE__ */ converter(open, openLocation);
/** Datasets of one kind become one, which keeps the ids, attributes and groups of each. */
export const merge = /* @__PURE__ */ merger(convert);
/** A dataset becomes a folder of datasets: one for each group, value of an attribute, object, or box of a grid. */
export const split = /* @__PURE__ */ splitter(open, openLocation, convert);
/** Do two datasets hold the same data, whatever their formats? */
export const diff = /* @__PURE__ */ differ(open);
/** Builds the coarser levels of a Zarr Vectors store, or builds them again. */
export const pyramid = /* @__PURE__ */ pyramider(openLocation);

export type { DataType, Field, FixedDataType } from "./bytes/dtype.js";
export type { Json } from "./bytes/json.js";
export type { ChunkData, CodecSpec, Element, NumericArray, VlenValue } from "./codec/types.js";
export type { ConvertReport } from "./convert/arrays.js";
export type { Source } from "./convert/index.js";
export type { MergeOptions } from "./convert/merge.js";
export type { ConvertToOptions } from "./convert/options.js";
export type { SplitOptions, SplitReport } from "./convert/split.js";
export type { Difference, DifferenceKind, DiffOptions, DiffReport } from "./diff/index.js";
export {
  Conflict,
  Corrupt,
  type ErrorDetails,
  type ErrorKind,
  InvalidInput,
  LimitExceeded,
  NotFound,
  OctavoError,
  Unsupported,
} from "./errors.js";
export type { ImageSpace, TableOptions } from "./format/interchange/types.js";
export { formats } from "./formats.js";
export { defaultLimits, type Limits } from "./limits.js";
export type { AxisSelection, NdArray, Region } from "./model/array.js";
export type { AttributeInfo, Column } from "./model/attributes.js";
export type {
  ArrayDataset,
  Child,
  Dataset,
  GroupDataset,
  Progress,
  ReadArrayOptions,
  ReadOptions,
  ReadPlan,
  StoredChunk,
} from "./model/dataset.js";
export { ndarray, typed, type Value, valueAt } from "./model/elements.js";
export type {
  Finding,
  Format,
  FormatOptions,
  Match,
  RepairOptions,
  RepairReport,
  Severity,
  ValidateOptions,
} from "./model/format.js";
export type {
  ChunkTable,
  Joints,
  LevelSource,
  LinkFilter,
  LinkSet,
  ObjectSource,
  Parts,
  Placement,
  Tile,
  Want,
} from "./model/source.js";
export type {
  Axis,
  Batch,
  Columns,
  Counts as SelectionCounts,
  Domain,
  Geometry,
  LevelOutline,
  Links,
  ObjectGroup,
  Parametric,
  ParametricObject,
  Positions,
  Query,
  Schema,
  Selection,
  SelectOptions,
  VectorDataset,
  VectorLevel,
} from "./model/vectors.js";
export { type Detected, detect, type OpenOptions } from "./open.js";
export type { PyramidChoice, PyramidLevel, PyramidOptions, PyramidReport } from "./pyramid/index.js";
export type { Picture } from "./render/frame.js";
export { encodePicture, type Rendered, type RenderOptions, render } from "./render/picture.js";
export { Key, Prefix } from "./store/key.js";
export type { Location, LocationOptions } from "./store/open.js";
export type { Fetch, WebOptions } from "./store/send.js";
export type {
  ByteRange,
  CallOptions,
  Capabilities,
  ChangeOptions,
  Children,
  Condition,
  GetOptions,
  Listed,
  ListOptions,
  OpenValue,
  SetOptions,
  Sink,
  Stat,
  Store,
} from "./store/types.js";
export { inlinePool } from "./worker/inline.js";
export { createPool, type Pool, type PoolOptions } from "./worker/pool.js";
