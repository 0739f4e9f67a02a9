/** Cuts Markdown that is still being written into blocks, so that only the last ones are read again. */
import { Lexer, type Token, type Tokens } from "marked";
import { languageOf } from "./highlight";
import type { Links } from "./html";

export interface Block {
  kind: "code" | "paragraph" | "other";
  source: string;
  /** Of code: its text and language. */
  code?: string;
  language?: string;
  /** The rest of a paragraph that was too long for one block. */
  continued?: boolean;
}

const LONGEST = 8_000; // characters of a block that may be cut
const UNSETTLED = 2; // the last blocks may still change with what follows
const LEAD = "\ue000"; // keeps the rest of a paragraph from being read as a list or a heading
const MOST_LINKS = 500;
const DETAILS = /<(\/?)details>/gi;

export class BlockSplitter {
  /** The link definitions found so far, and how often there were new ones. */
  readonly links: Links = Object.create(null) as Links;
  linkCount = 0;
  private text = "";
  private blocks: readonly Block[] | null = null;
  private settled: Block[] = [];
  private end = 0;
  private inParagraph = false;

  /** Gives all blocks of a text; one that begins as the last one did is read only from its unsettled end on. */
  split(text: string): readonly Block[] {
    if (text === this.text && this.blocks !== null) return this.blocks;
    if (!text.startsWith(this.text)) this.forget();
    this.text = text;
    for (;;) {
      const [open, moved] = this.read(text);
      if (!moved) return (this.blocks = [...this.settled, ...open]);
    }
  }

  private forget(): void {
    this.settled = [];
    this.end = 0;
    this.inParagraph = false;
  }

  /** Reads the unsettled end; true when a block was cut, so that the rest must be read again. */
  private read(text: string): [Block[], boolean] {
    const lead = this.inParagraph ? LEAD : "";
    const rest = lead + text.slice(this.end);
    const lexer = new Lexer({ gfm: true });
    const tokens = joinDetails(lexer.blockTokens(rest, []));
    this.collect(lexer.tokens.links);
    // The places of blocks are counted by their sources: if these are not the text, all of it stays open.
    const counted = tokens.reduce((length, token) => length + token.raw.length, 0) === rest.length;
    const long = counted ? tokens.findIndex(isTooLong) : -1;
    const settled = !counted ? 0 : long >= 0 ? long : firstUnsettled(tokens);
    const open: Block[] = [];
    tokens.forEach((token, index) => {
      if (index > settled && long >= 0) return;
      const led = index === 0 && lead !== "";
      if (index === long) {
        this.settled.push(this.cut(token, led));
      } else {
        const block = blockOf(token, led);
        if (block !== null) (index < settled ? this.settled : open).push(block);
        if (index < settled) {
          this.end += token.raw.length - (led ? lead.length : 0);
          this.inParagraph = false;
        }
      }
    });
    return [open, long >= 0];
  }

  /** Cuts the beginning off a block that is too long, and moves behind it. */
  private cut(token: Token, led: boolean): Block {
    let length = 0;
    if (token.type === "list") {
      for (const item of (token as Tokens.List).items) {
        length += item.raw.length;
        if (length > LONGEST) break;
      }
      this.end += length;
      this.inParagraph = false;
      return { kind: "other", source: token.raw.slice(0, length) };
    }
    const blank = token.raw.lastIndexOf(" ", LONGEST);
    length = blank > LONGEST / 2 ? blank + 1 : LONGEST;
    this.end += length - (led ? LEAD.length : 0);
    this.inParagraph = true;
    return { kind: "paragraph", source: token.raw.slice(led ? LEAD.length : 0, length), continued: led };
  }

  private collect(found: Links): void {
    for (const name of Object.keys(found)) {
      if (name in this.links || this.linkCount >= MOST_LINKS) continue;
      const link = found[name];
      if (link !== undefined) this.links[name] = link;
      this.linkCount += 1;
    }
  }
}

function blockOf(token: Token, led: boolean): Block | null {
  const source = led ? token.raw.slice(LEAD.length) : token.raw;
  if (token.type === "space" || token.type === "def") return null;
  if (token.type === "code") {
    const { text, lang } = token as Tokens.Code;
    return { kind: "code", source, code: text, language: languageOf(lang) };
  }
  if (token.type === "paragraph" || led) return { kind: "paragraph", source, continued: led };
  return { kind: "other", source };
}

/** Joins what is folded below a summary: its two tags and all between them are one block. */
function joinDetails(tokens: Token[]): Token[] {
  const depths = tokens.map(depthOf);
  const joined: Token[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    let depth = depths[at] as number;
    let length = token.raw.length;
    let end = at;
    while (depth > 0 && end + 1 < tokens.length && length <= 2 * LONGEST) {
      end += 1;
      length += (tokens[end] as Token).raw.length;
      depth += depths[end] as number;
    }
    // What is too long stays open to all: a block is read anew as a whole when it grows.
    const fits = length <= 2 * LONGEST;
    const raw = tokens.slice(at, fits ? end + 1 : at).map((one) => one.raw).join("");
    joined.push(end > at && fits ? { type: "html", raw, text: raw, pre: false, block: true } : token);
    if (fits) at = end;
  }
  return joined;
}

/** How many foldings a block opens more than it closes. */
function depthOf(token: Token): number {
  if (token.type !== "html") return 0;
  return [...token.raw.matchAll(DETAILS)].reduce((depth, [, close]) => depth + (close === "" ? 1 : -1), 0);
}

function isTooLong(token: Token): boolean {
  if (token.raw.length <= 2 * LONGEST) return false;
  if (token.type === "paragraph") return true;
  // A list whose first item is long enough to be all of it cannot be cut.
  return token.type === "list" && ((token as Tokens.List).items[0]?.raw.length ?? 0) < token.raw.length / 2;
}

/** The place of the first token that may still change. */
function firstUnsettled(tokens: Token[]): number {
  let solid = 0;
  for (let index = tokens.length - 1; index >= 0; index--) {
    if (tokens[index]?.type !== "space") solid += 1;
    if (solid === UNSETTLED) return index;
  }
  return 0;
}
