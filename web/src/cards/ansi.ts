/** Terminal output as styled pieces: colours (SGR) become classes, other controls are shown and never obeyed. */

import { spell } from "./reveal";

export interface Styled {
  text: string;
  /** Class names, separated by blanks; empty for plain text. */
  style: string;
  /** A control that is shown instead of obeyed. */
  control?: boolean;
}

interface Style {
  fg: number | null;
  bg: number | null;
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  strike: boolean;
  inverse: boolean;
}

const PLAIN: Style = {
  fg: null,
  bg: null,
  bold: false,
  dim: false,
  italic: false,
  underline: false,
  strike: false,
  inverse: false,
};

// An SGR sequence, or any other control but line feed and tab. A sequence that is cut off at the end is a control too.
// eslint-disable-next-line no-control-regex
const CONTROL = /\x1b\[([0-9;:]*)m|\r\n|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g;

/** Cuts output into pieces; `\r\n` is a line end. */
export function parseAnsi(output: string): Styled[] {
  const found: Styled[] = [];
  let style = PLAIN;
  let end = 0;
  const add = (text: string, control = false): void => {
    if (!text) return;
    const names = control ? "" : classes(style);
    const last = found.at(-1);
    if (last && !control && !last.control && last.style === names) last.text += text;
    else found.push(control ? { text, style: names, control } : { text, style: names });
  };
  for (const match of output.matchAll(CONTROL)) {
    add(output.slice(end, match.index));
    end = match.index + match[0].length;
    if (match[1] !== undefined) style = apply(style, match[1]);
    else if (match[0] === "\r\n") add("\n");
    else add(spell(match[0].charCodeAt(0)), true);
  }
  add(output.slice(end));
  return found;
}

/** The output without colours and controls, for copying. */
export function plainText(output: string): string {
  return parseAnsi(output)
    .filter((piece) => !piece.control)
    .map((piece) => piece.text)
    .join("");
}

function apply(style: Style, parameters: string): Style {
  const next = { ...style };
  const codes = parameters.split(/[;:]/).map((word) => Number(word || "0"));
  for (let at = 0; at < codes.length; at++) {
    const code = codes[at] ?? 0;
    if (code === 0) Object.assign(next, PLAIN);
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 7) next.inverse = true;
    else if (code === 9) next.strike = true;
    else if (code === 22) next.bold = next.dim = false;
    else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code === 27) next.inverse = false;
    else if (code === 29) next.strike = false;
    else if (code >= 30 && code <= 37) next.fg = code - 30;
    else if (code >= 90 && code <= 97) next.fg = code - 82;
    else if (code >= 40 && code <= 47) next.bg = code - 40;
    else if (code >= 100 && code <= 107) next.bg = code - 92;
    else if (code === 39) next.fg = null;
    else if (code === 49) next.bg = null;
    else if (code === 38 || code === 48) {
      const [colour, used] = extended(codes, at + 1);
      if (code === 38) next.fg = colour;
      else next.bg = colour;
      at += used;
    }
  }
  return next;
}

/** Reads `5;N` or `2;R;G;B`: one of the 16 colours of the theme, whose contrast is known, and how many codes it took. */
function extended(codes: number[], at: number): [number | null, number] {
  if (codes[at] === 5) return [indexed(codes[at + 1] ?? 0), 2];
  if (codes[at] === 2) return [nearest(codes[at + 1] ?? 0, codes[at + 2] ?? 0, codes[at + 3] ?? 0), 4];
  return [null, 1];
}

function indexed(index: number): number {
  if (index < 16) return index;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return nearest(grey, grey, grey);
  }
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  const cube = index - 16;
  return nearest(level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6));
}

function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue);
  const least = Math.min(red, green, blue);
  if (most - least < 32) return most > 200 ? 15 : most > 120 ? 7 : most > 50 ? 8 : 0;
  const middle = (most + least) / 2;
  const hue = (red > middle ? 1 : 0) + (green > middle ? 2 : 0) + (blue > middle ? 4 : 0);
  return hue + (most > 200 ? 8 : 0);
}

function classes(style: Style): string {
  const [fg, bg] = style.inverse ? [style.bg ?? "bg", style.fg ?? "fg"] : [style.fg, style.bg];
  const names: string[] = [];
  if (fg !== null) names.push(`ansi-${fg}`);
  if (bg !== null) names.push(`ansi-on-${bg}`);
  for (const name of ["bold", "dim", "italic", "underline", "strike"] as const) {
    if (style[name]) names.push(`ansi-${name}`);
  }
  return names.join(" ");
}
