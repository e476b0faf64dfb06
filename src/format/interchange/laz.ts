import { Unsupported } from "../../errors.js";
import type { ReadOptions } from "../../model/dataset.js";
import type { InputFile } from "./file.js";
import type { PointPieces } from "./las.js";
import type { LasHeader } from "./las-header.js";

export async function lazPieces(input: InputFile, _header: LasHeader, _options: ReadOptions): Promise<PointPieces> {
  throw new Unsupported(`${input.where} is compressed`);
}
