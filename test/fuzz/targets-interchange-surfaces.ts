/** Files of surfaces: one of each form, opened and read whole, also by who goes on without what is damaged. */
import { deflateSync } from "node:zlib";
import { concat } from "../../src/bytes/concat.js";
import type { FileContent, FileFormat } from "../../src/format/interchange/types.js";
import { defaultLimits } from "../../src/limits.js";
import { memoryStore } from "../../src/store/memory.js";
import { scratchIn } from "../../src/store/scratch.js";
import { dataOf, openBytes, written } from "../interchange.js";
import { asBytes } from "../surfaces.js";
import type { Target } from "./driver.js";

const cap = 1 << 24;
const limits = { ...defaultLimits, metadataBytes: cap, chunkBytes: cap, resultBytes: cap };

const MESH = `ply
format ascii 1.0
comment a
element vertex 4
property float x
property float y
property float z
property uchar red
property uchar green
property uchar blue
element face 2
property list uchar int vertex_indices
property float q
end_header
0 0 0 1 2 3
1 0 0 4 5 6
1 1 0 7 8 9
0 1 0 1 1 1
3 0 1 2 0.5
4 0 1 2 3 1.5
`;
const POINTS = MESH.slice(0, MESH.indexOf("3 0 1 2 0.5")).replace(/element face(.|\n)*end_header/, "end_header");
const OBJ = `o a
g x y
v 0 0 0 1 0 0.5
v 1 0 0
v 1 1 0
vt 0 1
vn 0 0 1
f 1/1/1 2/1/1 3//1
o b
v 5 5 5
f -1 -2 -3 \\
 -4
l 1 2 3
`;
const STL =
  "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n";
const VTK = `# vtk DataFile Version 5.1
t
ASCII
DATASET POLYDATA
POINTS 4 float
0 0 0 1 0 0 1 1 0 0 1 0
LINES 3 4
OFFSETS vtktypeint64
0 2 4
CONNECTIVITY vtktypeint64
0 1 2 3
POINT_DATA 4
SCALARS s int 1
LOOKUP_TABLE default
1 2 3 4
FIELD f 1
n 1 4 string
a
b
c
d
`;

const OLD_VTK = `# vtk DataFile Version 3.0
t
ASCII
DATASET POLYDATA
POINTS 4 double
0 0 0 1 0 0 1 1 0 0 1 0
LINES 2 7
2 0 1
3 1 2 3
CELL_DATA 2
SCALARS object_id vtktypeint64
5 7
`;

/** Text; what Octavo writes is bytes behind the tags. */
const TEXT_VTP = `<VTKFile type="PolyData"><PolyData><Piece NumberOfPoints="3" NumberOfLines="2"><Points>
<DataArray type="Float64" format="ascii">0 0 0 1 0 0 0 1 0</DataArray></Points><Lines>
<DataArray type="Int64" Name="connectivity">0 1 2 0</DataArray><DataArray type="UInt8" Name="offsets">3 4</DataArray></Lines>
<CellData><DataArray type="Int64" Name="object_id">5 -7</DataArray></CellData></Piece></PolyData></VTKFile>`;

/** A packed .vtp; what Octavo writes is not. */
function vtp(): Uint8Array {
  const array = (type: string, name: string, values: Float32Array | Int32Array) => {
    const packed = deflateSync(new Uint8Array(values.buffer));
    const header = Buffer.from(new Uint8Array(Uint32Array.of(1, values.byteLength, 0, packed.length).buffer)).toString(
      "base64",
    );
    return `<DataArray type="${type}" Name="${name}" NumberOfComponents="3" format="binary">${header}${packed.toString("base64")}</DataArray>`;
  };
  return asBytes(
    `<VTKFile type="PolyData" byte_order="LittleEndian" compressor="vtkZLibDataCompressor"><PolyData><Piece NumberOfPoints="3" NumberOfPolys="1"><Points>${array("Float32", "p", Float32Array.of(0, 0, 0, 1, 0, 0, 0, 1, 0))}</Points><Polys>${array("Int32", "connectivity", Int32Array.of(0, 1, 2))}${array("Int32", "offsets", Int32Array.of(3))}</Polys></Piece></PolyData></VTKFile>`,
  );
}

/** Numbers as text and as bytes, column by column, from the last byte to the first; what Octavo writes is packed. */
const gifti = (): Uint8Array => {
  const array = (intent: string, type: string, dims: string, more: string, data: string) =>
    `<DataArray Intent="NIFTI_INTENT_${intent}" DataType="NIFTI_TYPE_${type}" Dimensionality="2" ${dims} ${more}><Data>${data}</Data></DataArray>`;
  const places = Buffer.from(Float32Array.of(0, 1, 0, 0, 0, 1, 0, 0, 0).buffer)
    .swap32()
    .toString("base64");
  const byColumn = 'ArrayIndexingOrder="ColumnMajorOrder"';
  return asBytes(
    `<GIFTI>${array("POINTSET", "FLOAT32", 'Dim0="3" Dim1="3"', `${byColumn} Encoding="Base64Binary" Endian="BigEndian"`, places)}${array("TRIANGLE", "INT32", 'Dim0="2" Dim1="3"', `${byColumn} Encoding="ASCII"`, "0 2 1\n1 2 0")}${array("LABEL", "INT64", 'Dim0="3" Dim1="1"', 'Encoding="ASCII"', "1 2 -3 ")}</GIFTI>`,
  );
};

const modules: { readonly [name: string]: () => Promise<{ readonly file: FileFormat }> } = {
  ply: () => import("../../src/format/interchange/ply.js"),
  obj: () => import("../../src/format/interchange/obj.js"),
  stl: () => import("../../src/format/interchange/stl.js"),
  vtk: () => import("../../src/format/interchange/vtk.js"),
  vtp: () => import("../../src/format/interchange/vtp.js"),
  gltf: () => import("../../src/format/interchange/gltf.js"),
  glb: async () => ({ file: (await import("../../src/format/interchange/gltf.js")).glb }),
  gifti: () => import("../../src/format/interchange/gifti.js"),
  freesurfer: () => import("../../src/format/interchange/freesurfer.js"),
};
const texts: { readonly [name: string]: readonly Uint8Array[] } = {
  ply: [asBytes(MESH), asBytes(POINTS)],
  obj: [asBytes(OBJ), asBytes(OBJ.replaceAll("f ", "l "))],
  stl: [asBytes(STL)],
  vtk: [asBytes(VTK), asBytes(OLD_VTK)],
  vtp: [vtp(), asBytes(TEXT_VTP)],
  gifti: [gifti()],
};

/** A target for a kind of file: what is done with each. */
const target = (
  name: string,
  way: string,
  run: (file: FileFormat, path: string, bytes: Uint8Array) => Promise<void>,
): Target => ({
  name: `interchange ${name}${way}`,
  cap: 6 * cap,
  async load() {
    const { file } = await modules[name]!();
    const { file: ply } = await modules.ply!();
    const mesh = await dataOf(await openBytes(ply, "a.ply", asBytes(MESH)));
    const seeds = [...(texts[name] ?? []), (await written(file, mesh)).bytes];
    if (name === "freesurfer") seeds.push(concat([seeds[0]!, asBytes("cras = 1 2 3\n")]));
    return { seeds, run: (bytes: Uint8Array) => run(file, `a.${name}`, bytes) };
  },
});

async function held(file: FileFormat, path: string, bytes: Uint8Array): Promise<void> {
  await (await openBytes(file, path, bytes, { limits, onBad: () => {} })).select().read({ limits });
  const dataset = await openBytes(file, path, bytes, { limits });
  await dataset.select().read({ limits });
}

/** As one that is too large to be held. */
async function passing(file: FileFormat, path: string, bytes: Uint8Array): Promise<void> {
  const maxMemory = 10 * (bytes.length - 1); // one byte less than it would take, so that documents are held
  for (const onBad of [() => {}, undefined]) {
    const { content } = await openBytes(file, path, bytes, { limits, maxMemory, onBad });
    await pass(content);
  }
}

/** Goes through a file, if it passes. */
export async function pass(content: FileContent): Promise<void> {
  const passed = await content.passing?.(() => scratchIn({ store: memoryStore() }, 1000), { limits });
  for await (const { links, late } of passed?.batches() ?? [])
    if (late && links!.ends.some((end) => end >= passed!.vertices)) throw new Error("a link points nowhere");
}

export const surfaceTargets: readonly Target[] = [
  ...Object.keys(modules).map((name) => target(name, "", held)),
  ...["ply", "obj", "stl", "vtk", "vtp", "freesurfer", "glb", "gifti"].map((name) => target(name, " passing", passing)),
];
