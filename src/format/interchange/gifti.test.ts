import { deflateSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { dataOf, written } from "../../../test/interchange.js";
import { asBytes, opened, plain, readFrom } from "../../../test/surfaces.js";
import { Corrupt, OctavoError, Unsupported } from "../../errors.js";
import { file } from "./gifti.js";

const floats = Buffer.from(new Uint8Array(Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0).buffer)).toString("base64");
const GIFTI = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE GIFTI SYSTEM "http://www.nitrc.org/frs/download.php/115/gifti.dtd">
<GIFTI Version="1.0" NumberOfDataArrays="3">
<MetaData><MD><Name><![CDATA[by]]></Name><Value><![CDATA[hand & foot]]></Value></MD></MetaData>
<LabelTable><Label Key="1" Red="1" Green="0" Blue="0" Alpha="1"><![CDATA[cortex]]></Label></LabelTable>
<DataArray Intent="NIFTI_INTENT_POINTSET" DataType="NIFTI_TYPE_FLOAT32" ArrayIndexingOrder="RowMajorOrder" Dimensionality="2" Dim0="3" Dim1="3" Encoding="Base64Binary" Endian="LittleEndian">
<MetaData><MD><Name>AnatomicalStructurePrimary</Name><Value>CortexLeft</Value></MD></MetaData>
<CoordinateSystemTransformMatrix><DataSpace><![CDATA[NIFTI_XFORM_TALAIRACH]]></DataSpace><TransformedSpace>NIFTI_XFORM_TALAIRACH</TransformedSpace>
<MatrixData>1 0 0 5
0 1 0 0 0 0 1 0 0 0 0 1</MatrixData></CoordinateSystemTransformMatrix>
<Data>${floats}</Data></DataArray>
<DataArray Intent="NIFTI_INTENT_TRIANGLE" DataType="NIFTI_TYPE_INT32" ArrayIndexingOrder="ColumnMajorOrder" Dimensionality="2" Dim0="2" Dim1="3" Encoding="ASCII" Endian="LittleEndian"><Data>0 2 1 1 2 0</Data></DataArray>
<DataArray Intent="NIFTI_INTENT_SHAPE" DataType="NIFTI_TYPE_FLOAT32" Dimensionality="1" Dim0="3" Encoding="ASCII" Endian="LittleEndian"><MetaData><MD><Name>Name</Name><Value>thickness</Value></MD></MetaData><Data>1 2.5 3</Data></DataArray>
</GIFTI>
`;

describe("GIFTI", () => {
  it("reads points, triangles in both orders, and data of vertices", async () => {
    const dataset = await opened(file, GIFTI);
    expect(dataset.axes[0]?.unit).toBe("millimeter");
    expect(plain(await dataset.select().read())).toMatchObject({
      geometry: "mesh",
      positions: [0, 0, 0, 1, 0, 0, 0, 1, 0],
      links: [0, 1, 2, 2, 1, 0],
      vertexColumns: { thickness: { type: "float4×1", values: [1, 2.5, 3] } },
    });
    expect((await dataset.headers()).get("file")).toMatchObject({
      metaData: [["by", "hand & foot"]],
      labels: [{ Key: "1", text: "cortex" }],
    });
  });

  it("reads the words of the C library as those of the standard, and refuses others", async () => {
    const library = GIFTI.replaceAll('"Base64Binary"', '"GIFTI_ENCODING_B64BIN"')
      .replaceAll('"ASCII"', '"GIFTI_ENCODING_ASCII"')
      .replaceAll('"LittleEndian"', '"GIFTI_ENDIAN_LITTLE"')
      .replaceAll('"ColumnMajorOrder"', '"GIFTI_IND_ORD_COL_MAJOR"');
    expect(plain(await readFrom(file, library))).toEqual(plain(await readFrom(file, GIFTI)));
    const swapped = Buffer.from(floats, "base64").swap32().toString("base64");
    const big = library.replace("GIFTI_ENDIAN_LITTLE", "GIFTI_ENDIAN_BIG").replace(floats, swapped);
    expect(plain(await readFrom(file, big))).toEqual(plain(await readFrom(file, GIFTI)));
    for (const [one, other] of [
      ["LittleEndian", "MiddleEndian"],
      ["RowMajorOrder", "AnyOrder"],
      ["Base64Binary", "toString"],
    ] as const)
      await expect(readFrom(file, GIFTI.replace(one, other))).rejects.toThrow(
        `DataArray 0 is ${other}, which is not read`,
      );
  });

  it("writes what it reads, headers too", async () => {
    const dataset = await opened(file, GIFTI, {}, "a.gifti");
    const { bytes, report } = await written(file, await dataOf(dataset));
    expect(report.losses).toEqual([]);
    const again = await opened(file, bytes, {}, "a.gifti");
    expect(plain(await again.select().read())).toEqual(plain(await dataset.select().read()));
    expect(await again.headers()).toEqual(await dataset.headers());
    for (let length = 0; length < bytes.length; length += 3)
      await expect(opened(file, bytes.subarray(0, length))).rejects.toThrow(OctavoError);
    for (let at = 0; at < bytes.length; at += 7) {
      const other = bytes.slice();
      other[at]! ^= 1 << (at % 8);
      await opened(file, other).catch((error) => expect(error).toBeInstanceOf(OctavoError));
    }
  });

  it("reads packed numbers to their end, and whole numbers of 64 bits as places", async () => {
    const points = (type: string, bytes: Uint8Array) =>
      GIFTI.replace("NIFTI_TYPE_FLOAT32", `NIFTI_TYPE_${type}`)
        .replace('Encoding="Base64Binary"', 'Encoding="GZipBase64Binary"')
        .replace(floats, Buffer.from(bytes).toString("base64"));
    const read = async (text: string) => (await readFrom(file, text)).positions;
    const long = new Uint8Array(BigInt64Array.of(0n, 0n, -7n, 1n, 0n, 0n, 0n, 1n, 0n).buffer);
    expect([...(await read(points("INT64", deflateSync(long))))]).toEqual([0, 0, -7, 1, 0, 0, 0, 1, 0]);
    const packed = deflateSync(new Uint8Array(36));
    const longer = points("FLOAT32", Buffer.concat([packed, Buffer.from("more")]));
    await expect(read(longer)).rejects.toThrow("DataArray 0, is damaged: there is more after its");
    await expect(read(points("FLOAT32", packed.subarray(0, -3)))).rejects.toThrow("where zlib was expected");
    const bomb = deflateSync(new Uint8Array(1 << 26));
    await expect(read(points("FLOAT32", bomb))).rejects.toThrow("DataArray 0 has more than the 36 bytes");
    const claimed = points("FLOAT32", bomb).replace('Dim0="3" Dim1="3"', 'Dim0="5592405" Dim1="3"');
    await expect(readFrom(file, claimed, { limits: { resultBytes: 1 << 20 } })).rejects.toThrow(
      "DataArray 0 has more than the 1048576 bytes that are held",
    );
  });

  it("says where a file is wrong", async () => {
    for (const [from, to, message] of [
      ['Dim0="3" Dim1="3"', 'Dim0="4" Dim1="3"', "DataArray 0 has 36 bytes where 48 were expected"],
      ['Dim0="3" Dim1="3"', 'Dim0="-4" Dim1="3"', "DataArray 0 has the shape -4 × 3"],
      ["0 2 1 1 2 0", "0 2 1 1 3 0", "triangle 0: a face points to vertex 3, counted from 0, of 3"],
      ["0 2 1 1 2 0", "0 2 1", "DataArray 1 needs 6 numbers, in 5 bytes"],
      ["0 2 1 1 2 0", "0 2 1 1 2 \n\n   ", "DataArray 1 ends after 5 of 6 numbers"],
      ["0 2 1 1 2 0", "0 2 1 1 2 0\n7", "DataArray 1 has more than the 6 numbers that were expected"],
      ["0 2 1 1 2 0", "0 2 1\n1 x 0", 'DataArray 1, line 2: "x" where a number was expected'],
      ["0 2 1 1 2 0", "0 2 <b/> 1 1 2 0", "has <b> within <Data>"],
      ["<GIFTI Version", "<GIFT Version", "should be <GIFTI>"],
    ] as const) {
      await expect(
        readFrom(file, GIFTI.replace(from, to).replace("</GIFTI>", to.startsWith("<GIFT ") ? "</GIFT>" : "</GIFTI>")),
      ).rejects.toThrow(message);
      await expect(readFrom(file, GIFTI.replace(from, to))).rejects.toThrow(Corrupt);
    }
    await expect(opened(file, GIFTI.replace("INTENT_POINTSET", "INTENT_SHAPE"))).rejects.toThrow(Unsupported);
    await expect(opened(file, GIFTI.replace("Base64Binary", "ExternalFileBinary"))).rejects.toThrow(Unsupported);
    const huge = GIFTI.replace(
      'Dim0="3" Dim1="3" Encoding="Base64Binary"',
      'Dim0="300000000" Dim1="3" Encoding="GZipBase64Binary"',
    );
    await expect(opened(file, asBytes(huge))).rejects.toThrow(OctavoError);
  });
});
