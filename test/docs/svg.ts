/** Pictures as SVG, with colours that follow the reader's light or dark mode; small, because they live in the repository. */

const LIGHT = { paper: "#ffffff", ink: "#1f2328", soft: "#656d76", line: "#d0d7de", fill: "#f6f8fa" };
const DARK = { paper: "#0d1117", ink: "#e6edf3", soft: "#8d96a0", line: "#30363d", fill: "#161b22" };
/** One for each object of a picture: light, dark. */
const HUES = [
  ["#0969da", "#58a6ff"],
  ["#bc4c00", "#ffa657"],
  ["#1a7f37", "#56d364"],
  ["#8250df", "#d2a8ff"],
  ["#bf3989", "#ff9bce"],
  ["#9a6700", "#e3b341"],
] as const;

export const HUE_COUNT = HUES.length;

const rules = (shades: typeof LIGHT, dark: 0 | 1): string =>
  [
    `.paper{fill:${shades.paper}}.ink{fill:${shades.ink}}.soft{fill:${shades.soft}}.fill{fill:${shades.fill}}`,
    `.line{stroke:${shades.line};fill:none}.edge{stroke:${shades.soft};fill:none}.box{stroke:${shades.ink};fill:none}`,
    ...HUES.map((pair, i) => `.h${i}{fill:${pair[dark]}}.s${i}{stroke:${pair[dark]};fill:none}`),
  ].join("");

export function picture(width: number, height: number, title: string, parts: readonly string[]): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(title)}</title>
<style>text{font:14px system-ui,-apple-system,"Segoe UI",sans-serif}.code{font:13px ui-monospace,Menlo,Consolas,monospace}.head{font-weight:600}${rules(LIGHT, 0)}@media(prefers-color-scheme:dark){${rules(DARK, 1)}}</style>
<rect class="paper" width="${width}" height="${height}" rx="8"/>
${parts.join("\n")}
</svg>
`;
}

const escaped = (text: string): string => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");
const short = (value: number): string => String(Math.round(value * 10) / 10);

export const text = (x: number, y: number, words: string, look = "ink", anchor?: "middle" | "end"): string =>
  `<text x="${short(x)}" y="${short(y)}" class="${look}"${anchor === undefined ? "" : ` text-anchor="${anchor}"`}>${escaped(words)}</text>`;

export const rect = (x: number, y: number, w: number, h: number, look: string, more = ""): string =>
  `<rect x="${short(x)}" y="${short(y)}" width="${short(w)}" height="${short(h)}" class="${look}"${more}/>`;

export const dot = (x: number, y: number, r: number, look: string): string =>
  `<circle cx="${short(x)}" cy="${short(y)}" r="${short(r)}" class="${look}"/>`;

export const line = (points: readonly (readonly [number, number])[], look: string, more = ""): string =>
  `<path d="M${points.map(([x, y]) => `${short(x)} ${short(y)}`).join("L")}" class="${look}"${more}/>`;
