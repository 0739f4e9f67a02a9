/** Makes visible what a text hides. The same rules as `trunkline/safe_text.py`: what a person approves is shown whole. */

export interface Piece {
  text: string;
  /** Set for a character that is not what it seems: what to say about it. */
  hidden?: string;
}

// Controls, invisible letters, zero widths, direction marks, odd line ends, fillers, halves of characters, tags.
const HIDDEN =
  "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f" +
  "\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\ud800-\\udfff\\u{e0000}-\\u{e0fff}";
const ODD_BLANKS = "\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000";
const LONG_BLANKS = "(?<=^|\\n)[ \\t]{41,}|(?<=[^ \\t\\n])[ \\t]{9,}";
const EMPTY_LINES = "\\n(?:[ \\t]*\\n){4,}";

const REVEALED = new RegExp(`${EMPTY_LINES}|${LONG_BLANKS}|[${HIDDEN}${ODD_BLANKS}]`, "gu");
const ESCAPED = new RegExp(`[${HIDDEN}]`, "gu");

const NAMES: Record<number, string> = {
  0x00: "null",
  0x07: "bell",
  0x08: "backspace",
  0x0d: "carriage return",
  0x1b: "escape",
  0x7f: "delete",
  0xa0: "no-break space",
  0xad: "soft hyphen",
  0x200b: "zero width space",
  0x200c: "zero width non-joiner",
  0x200d: "zero width joiner",
  0x200e: "left-to-right mark",
  0x200f: "right-to-left mark",
  0x202a: "left-to-right embedding",
  0x202b: "right-to-left embedding",
  0x202c: "end of direction",
  0x202d: "left-to-right override",
  0x202e: "right-to-left override",
  0x2060: "word joiner",
  0x2066: "left-to-right isolate",
  0x2067: "right-to-left isolate",
  0x2068: "first strong isolate",
  0x2069: "end of isolate",
  0xfeff: "byte order mark",
};

/** Spells one character as an escape that every programmer knows. */
export function spell(code: number): string {
  if (code < 0x100) return `\\x${code.toString(16).padStart(2, "0")}`;
  if (code < 0x10000) return `\\u${code.toString(16).padStart(4, "0")}`;
  return `\\U${code.toString(16).padStart(8, "0")}`;
}

/** Spells every such character inside of JSON as JSON does: it means the same, and shows itself. */
export function escapeJson(json: string): string {
  return json.replace(ESCAPED, (found) =>
    [...Array(found.length).keys()].map((at) => `\\u${found.charCodeAt(at).toString(16).padStart(4, "0")}`).join(""),
  );
}

/** Cuts a text at everything that hides; long runs of blanks and empty lines are counted, odd blanks are spelled. */
export function reveal(text: string): Piece[] {
  return pieces(text.replaceAll("\r\n", "\n"), REVEALED);
}

/** Cuts a text at characters that are not what they seem; blanks stay as they are. */
export function escapeHidden(text: string): Piece[] {
  return pieces(text.replaceAll("\r\n", "\n"), ESCAPED);
}

/** The same as one string, for labels and titles. */
export function revealed(text: string): string {
  return reveal(text)
    .map((piece) => piece.text)
    .join("");
}

/** Whether a text has anything that `reveal` would mark. */
export function hides(text: string): boolean {
  REVEALED.lastIndex = 0;
  return REVEALED.test(text.replaceAll("\r\n", "\n"));
}

function pieces(text: string, pattern: RegExp): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(pattern)) {
    if (match.index > end) found.push({ text: text.slice(end, match.index) });
    end = match.index + match[0].length;
    found.push(marked(match[0]));
  }
  if (end < text.length) found.push({ text: text.slice(end) });
  return found;
}

function marked(run: string): Piece {
  if (run.startsWith("\n")) {
    const count = run.split("\n").length - 2;
    return { text: `\n⟨${count} empty lines⟩\n`, hidden: `${count} empty lines` };
  }
  if (run[0] === " " || run[0] === "\t") return { text: `⟨${run.length} blanks⟩`, hidden: `${run.length} blanks` };
  const code = run.codePointAt(0) ?? 0;
  const point = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return { text: spell(code), hidden: `${point} ${NAMES[code] ?? "hidden character"}` };
}
