/** Files of trees and graphs in text: opened and read, as they are and without what is damaged. */
import { fileDataset } from "../../src/format/interchange/dataset.js";
import { file as edges } from "../../src/format/interchange/edges.js";
import { openFile } from "../../src/format/interchange/file.js";
import { file as graphml } from "../../src/format/interchange/graphml.js";
import { file as swc } from "../../src/format/interchange/swc.js";
import type { FileContent, FileFormat, OpenFileOptions } from "../../src/format/interchange/types.js";
import { defaultLimits } from "../../src/limits.js";
import { Key } from "../../src/store/key.js";
import { memoryStore } from "../../src/store/memory.js";
import type { Target } from "./driver.js";
import { pass } from "./targets-interchange-surfaces.js";

const cap = 1 << 24;
const limits = { ...defaultLimits, metadataBytes: cap, chunkBytes: cap, resultBytes: cap };

/** What is done with a file that is opened one way or the other. */
type Way = (content: FileContent, name: string, where: string, options: OpenFileOptions) => Promise<unknown>;

const held: Way = (content, name, where, options) =>
  fileDataset(name, where, content, options).select().read({ limits });

const target = (name: string, file: FileFormat, texts: readonly string[], way: Way = held): Target => ({
  name: way === held ? name : `${name} passing`,
  cap,
  load: async () => ({
    seeds: texts.map((text) => new TextEncoder().encode(text)),
    async run(bytes) {
      const store = memoryStore();
      await store.set(Key.of(`a.${name}`), bytes);
      const input = await openFile(store, Key.of(`a.${name}`), { limits });
      for (const onBad of [() => {}, undefined]) {
        const options = { limits, onBad, maxMemory: way === held ? undefined : 1 };
        await way(await file.open(input, options), name, input.where, options);
      }
    },
  }),
});

const EDGES = "# node a 1 2 3\n# node b 4 5\na b 0.5\nb a\n";
const GRAPHML =
  '<?xml version="1.0"?><graphml><key id="a" for="node" attr.name="x" attr.type="float"><default>1</default></key>' +
  '<key id="b" for="all" attr.name="y" attr.type="double"/><key id="c" for="edge" attr.name="w" attr.type="long"/>' +
  '<graph edgedefault="directed"><node id="p"><data key="a">1</data><data key="b">2</data></node><node id="q"><data ' +
  'key="b">3</data></node><edge source="p" target="q"><data key="c">-7</data></edge></graph></graphml>';

export const graphTargets: readonly Target[] = [
  target("swc", swc, [
    "# a\n1 1 0.5 0 0 1 -1\n2 3 1e2 -0 0 .5 1\n3 2 7 7 7 1 1\n",
    " 9 1 0 0 0 1 8\r\n 8 0 1 1 1 1 -1\r\n",
  ]),
  target("edges", edges, [EDGES]),
  target("graphml", graphml, [GRAPHML]),
  // Numbers for names: there is no room for texts.
  target("edges", edges, [EDGES.replace(/\ba\b/g, "7").replace(/\bb\b/g, "720575940626838908")], pass),
  target("graphml", graphml, [GRAPHML.replaceAll('"p"', '"-3"').replaceAll('"q"', '"0"')], pass),
];
