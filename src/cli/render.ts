/** `octavo render`: a picture of geometry, drawn here, without a browser. */
import { InvalidInput } from "../errors.js";
import { render as draw, encodePicture } from "../render/picture.js";
import { colourOf, palettes } from "../scene/palette.js";
import { choice, count, flag, number, numbers, shape, text, value } from "./args.js";
import { queryOf, refuse, selectionOptions } from "./get-vectors.js";
import { counted } from "./output.js";
import { openSink } from "./sink.js";
import { findSource, remarkForbidden, skipOption, sourceOptions } from "./source.js";
import { verb } from "./verb.js";

const { attributes: _, ...selecting } = selectionOptions;

const options = {
  ...sourceOptions,
  ...skipOption,
  view: text("VIEW", "front, back, left, right, top, bottom, or AZIMUTH,ELEVATION in degrees (default 30,20)"),
  size: value("WxH", "of the picture, in pixels (default 1024x768)", shape),
  color: text("COLOR", "#rrggbb, orientation, object, or an attribute such as fa or object.length"),
  palette: choice(Object.keys(palettes), "for numbers (default viridis)"),
  range: value("LOW,HIGH", "the values at the ends of the palette (default: those of the data)", numbers),
  mark: value("PIXELS", "how large points and how wide lines are (default 2)", number),
  background: value("COLOR", "#rrggbb or a name (default #10151c)", colourOf),
  perspective: flag("what is near is larger; there is no scale bar then"),
  bare: flag("the data alone, without scale bar and legend"),
  overwrite: flag("replace OUT.png"),
  ...selecting,
  level: value("N", "the level, 0 is the finest (default: the finest that a picture needs)", count),
};

export const render = verb({
  about:
    "Draws points, lines and surfaces, with colours by attribute, a scale bar and a legend. Without --level it takes the finest " +
    "level of at most two million vertices, else the coarsest. Lines are coloured by their orientation unless told: red " +
    "along x, green along y, blue along z.",
  options,
  examples: [
    ["octavo render tracts.zv tracts.png", "all of it, by orientation"],
    ["octavo render neuron.swc n.png --view front --color radius --background white", "one attribute, on white"],
    ["octavo render gas.ptree part.png --box 0,0,0,9,9,9 --clip --color Density", "a part"],
  ],
  async run([url, target], given, session) {
    const { size, range, mark } = given;
    if (target !== "-" && !/\.png$/i.test(target!)) throw new InvalidInput(`${target} does not end in .png`);
    if (size !== undefined && size.length !== 2)
      throw new InvalidInput(`--size is a width and a height such as 800x600, found ${size.join("x")}`);
    if (range !== undefined && !(range.length === 2 && range[0]! < range[1]!))
      throw new InvalidInput(`--range is two numbers, the lower one first, found ${range.join(",")}`);
    if (mark !== undefined && !(mark > 0 && mark <= 1000))
      throw new InvalidInput(`--mark is more than 0 and at most 1000, found ${mark}`);
    const source = await findSource(url!, given, session);
    const dataset = await source.match.open();
    if (dataset.kind !== "vectors") {
      refuse(given, Object.keys(selecting), url!, dataset.kind === "array" ? "an array" : "a group");
      throw new InvalidInput(
        `${url} is ${dataset.kind === "array" ? "an array" : "a group"}, and render draws geometry`,
      );
    }
    const picture = await draw(dataset, queryOf({ ...given, attributes: undefined }), {
      signal: session.signal,
      width: size?.[0],
      height: size?.[1],
      view: given.view,
      perspective: given.perspective,
      color: given.color,
      palette: given.palette,
      range: range as readonly [number, number] | undefined,
      mark,
      background: given.background,
      furniture: !given.bare,
      onProgress: session.report.update,
    });
    const sink = await openSink(target!, given.overwrite, session);
    try {
      await sink.write(await encodePicture(picture));
      await sink.commit();
    } finally {
      await sink.abort();
    }
    const { width, height, level, vertices } = picture;
    if (session.output.json) session.output.document({ width, height, level, vertices });
    else if (target !== "-")
      session.output.remark(`level ${level}: ${counted(vertices, "vertex", "vertices")}, ${width} × ${height} pixels`);
    for (const note of dataset.notes) session.output.remark(`note: ${note}`);
    remarkForbidden(source, session.output);
    return 0;
  },
});
