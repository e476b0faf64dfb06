/**
 * How points, lines and surfaces look on a graphics card: round points; lines as wide as they are said, in pixels or in units of
 * the data; surfaces lit from the eye, on both sides. All take their colour from a palette or as it is, are cut by a box, and
 * hide what a random subset leaves out.
 */
import {
  DataTexture,
  DoubleSide,
  LinearFilter,
  RGBAFormat,
  ShaderMaterial,
  UnsignedByteType,
  Vector2,
  Vector3,
} from "three";
import { ABSENT } from "../../scene/palette.js";
import type { Form } from "../../scene/shape.js";

const COLOUR = /* glsl */ `
  uniform sampler2D palette;
  uniform float low, high, direct, shade;
  vec3 unpacked(float value) {
    return vec3(floor(value / 65536.0), floor(mod(value, 65536.0) / 256.0), mod(value, 256.0)) / 255.0;
  }
  vec3 colourOf(float value) {
    if (shade >= 0.0) return unpacked(shade);
    if (direct > 0.5) return unpacked(value);
    if (!(value == value)) return vec3(${(ABSENT >> 16) / 255}, ${((ABSENT >> 8) & 255) / 255}, ${(ABSENT & 255) / 255});
    float at = high > low ? clamp((value - low) / (high - low), 0.0, 1.0) : 0.5;
    return texture2D(palette, vec2((at * 255.0 + 0.5) / 256.0, 0.5)).rgb;
  }`;

const CUT = /* glsl */ `
  uniform vec3 clipMin, clipMax;
  uniform float opacity;
  varying vec3 place;
  varying vec3 tint;
  varying float kept;
  void cut() {
    if (kept < 0.5 || any(lessThan(place, clipMin)) || any(greaterThan(place, clipMax))) discard;
  }`;

const VARYING = /* glsl */ `
  uniform float mark, wider, subset, pixelsPerUnit;
  uniform vec2 screen;
  varying vec3 place;
  varying vec3 tint;
  varying float kept;`;

const POINTS_VERTEX = /* glsl */ `
  attribute float value, seed, radius;
  ${COLOUR} ${VARYING}
  void main() {
    place = position;
    tint = colourOf(value);
    kept = step(seed, subset);
    gl_Position = projectionMatrix * modelViewMatrix * vec4(position, 1.0);
    gl_PointSize = max(mark, 2.0 * radius * pixelsPerUnit) + wider;
  }`;

const POINTS_FRAGMENT = /* glsl */ `
  ${CUT}
  void main() {
    cut();
    vec2 off = 2.0 * gl_PointCoord - 1.0;
    float r = dot(off, off);
    if (r > 1.0) discard;
    gl_FragColor = vec4(tint * (1.0 - 0.35 * r), opacity);
  }`;

/**
 * A line is a rectangle of two triangles: \`corner.x\` says which end, \`corner.y\` which side. Its ends are round, so that bends
 * have no teeth and a thick end is a ball; where it is seen through they are short, since what overlaps would be seen twice. What the
 * round is cut by is in pixels of the screen: it goes to the fragments times w, which takes the perspective out of it.
 */
const LINES_VERTEX = /* glsl */ `
  uniform float opacity;
  varying vec3 cap;
  varying vec3 reach;
  attribute vec2 corner;
  attribute vec3 from, to;
  attribute vec2 lineValue, lineRadius;
  attribute float seed;
  ${COLOUR} ${VARYING}
  void main() {
    place = mix(from, to, corner.x);
    vec3 a = colourOf(lineValue.x), b = colourOf(lineValue.y);
    tint = mix(a, b, corner.x);
    kept = step(seed, subset);
    vec4 start = projectionMatrix * modelViewMatrix * vec4(from, 1.0);
    vec4 end = projectionMatrix * modelViewMatrix * vec4(to, 1.0);
    vec2 along = end.xy / end.w * screen - start.xy / start.w * screen;
    float far = length(along);
    along = far > 0.0 ? along / far : vec2(1.0, 0.0);
    vec2 wides = max(vec2(mark), 2.0 * lineRadius * pixelsPerUnit) + wider;
    float way = 2.0 * corner.x - 1.0;
    float beyond = (opacity < 1.0 ? 0.25 : 1.0) * mix(wides.x, wides.y, corner.x);
    // Its sides go on as they are where its ends are round; of a ball that is larger than its line is long, there is room for both.
    float slope = (wides.y - wides.x) / max(far, 1e-6);
    bool steep = abs(slope) > 1.0;
    float wide = steep ? max(wides.x, wides.y) : max(0.0, mix(wides.x, wides.y, corner.x) + way * slope * beyond);
    vec2 side = vec2(-along.y, along.x) * corner.y * wide + along * way * beyond;
    vec4 here = corner.x < 0.5 ? start : end;
    if (min(start.w, end.w) <= 0.0) kept = 0.0;
    // Twice the pixels, as all lengths here: from the start, across, and the radii and the length of the line.
    cap = vec3(corner.x * far + way * beyond, corner.y * wide, 1.0) * here.w;
    reach = vec3(wides, far);
    // What has a radius is as near as its front: a thick vertex is before the thin lines that end in it.
    vec4 centre = modelViewMatrix * vec4(place, 1.0);
    centre.z += mix(lineRadius.x, lineRadius.y, corner.x) * length(modelViewMatrix[0].xyz);
    vec4 front = projectionMatrix * centre;
    float depth = front.w > 0.0 ? front.z / front.w * here.w : here.z;
    gl_Position = vec4(here.xy + side / screen * here.w, depth, here.w);
  }`;

const LINES_FRAGMENT = /* glsl */ `
  ${CUT}
  varying vec3 cap;
  varying vec3 reach;
  void main() {
    cut();
    vec2 at = cap.xy / cap.z;
    float along = clamp(at.x, 0.0, reach.z);
    float most = mix(reach.x, reach.y, reach.z > 0.0 ? along / reach.z : step(reach.x, reach.y));
    // Its sides are smooth by themselves: a pixel more leaves them so.
    if (length(at - vec2(along, 0.0)) > most + (along == at.x ? 2.0 : 0.0)) discard;
    gl_FragColor = vec4(tint, opacity);
  }`;

const TRIANGLES_VERTEX = /* glsl */ `
  attribute float value, seed;
  varying vec3 facing, eye;
  ${COLOUR} ${VARYING}
  void main() {
    place = position;
    tint = colourOf(value);
    kept = step(seed, subset);
    vec4 at = modelViewMatrix * vec4(position, 1.0);
    facing = normalMatrix * normal;
    eye = at.xyz;
    gl_Position = projectionMatrix * at;
  }`;

const TRIANGLES_FRAGMENT = /* glsl */ `
  ${CUT}
  varying vec3 facing, eye;
  void main() {
    cut();
    vec3 normal = length(facing) > 0.0 ? normalize(facing) : vec3(0.0, 0.0, 1.0);
    vec3 light = normalize(vec3(-0.2, 0.25, 1.0));
    float lit = 0.3 + 0.7 * abs(dot(normal, light));
    gl_FragColor = vec4(tint * lit, opacity);
  }`;

const SHADERS = {
  points: [POINTS_VERTEX, POINTS_FRAGMENT],
  lines: [LINES_VERTEX, LINES_FRAGMENT],
  triangles: [TRIANGLES_VERTEX, TRIANGLES_FRAGMENT],
} as const;

/** Of 256 colours. */
export function paletteTexture(steps: Uint32Array): DataTexture {
  const pixels = new Uint8Array(4 * steps.length);
  for (const [i, colour] of steps.entries()) pixels.set([colour >> 16, (colour >> 8) & 255, colour & 255, 255], 4 * i);
  const texture = new DataTexture(pixels, steps.length, 1, RGBAFormat, UnsignedByteType);
  texture.magFilter = LinearFilter;
  texture.minFilter = LinearFilter;
  texture.needsUpdate = true;
  return texture;
}

const FAR = 3.4e38;

export function materialFor(form: Form): ShaderMaterial {
  const [vertexShader, fragmentShader] = SHADERS[form];
  return new ShaderMaterial({
    vertexShader,
    fragmentShader,
    side: DoubleSide,
    uniforms: {
      palette: { value: undefined },
      low: { value: 0 },
      high: { value: 1 },
      direct: { value: 1 },
      shade: { value: -1 },
      clipMin: { value: new Vector3(-FAR, -FAR, -FAR) },
      clipMax: { value: new Vector3(FAR, FAR, FAR) },
      opacity: { value: 1 },
      mark: { value: 2 },
      wider: { value: 0 },
      subset: { value: 1 },
      pixelsPerUnit: { value: 1 },
      screen: { value: new Vector2(1, 1) },
    },
  });
}
