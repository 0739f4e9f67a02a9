/** One block of Markdown as safe HTML.
 *
 * Three guards stand behind each other: HTML that an agent writes is shown as text (but for a few tags without
 * attributes), the result is sanitised, and the page's Content-Security-Policy runs no inline script.
 */
import DOMPurify from "dompurify";
import { Lexer, Parser, Renderer, type MarkedOptions, type Tokens, type TokensList } from "marked";
import { escapeHtml, highlight, languageOf } from "./highlight";

export type Links = TokensList["links"];

const PLAIN_TAG = /^<\/?(?:b|br|dd|del|details|dl|dt|em|hr|i|ins|kbd|mark|s|small|strong|sub|summary|sup|u|var|wbr) *\/?>$/i;
const TAG = /<[^>]*>?/g;
const WEB = /^(?:https?:\/\/|mailto:)/i;
const INLINE_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[a-z0-9+/=\s]*$/i;

export const SHORT_CELL = 16; // characters

const SANITISED = {
  ALLOWED_TAGS: [
    ..."a b blockquote br button code dd del details div dl dt em h3 h4 h5 h6 hr i img ins kbd li mark ol p pre s".split(" "),
    ..."small span strong sub summary sup table tbody td th thead tr u ul var wbr".split(" "),
  ],
  ALLOWED_ATTR: [
    ..."align alt aria-label class colspan data-copy dir href rel role src start tabindex target title type".split(" "),
  ],
  ALLOW_DATA_ATTR: false,
  // These hold no address, so they need not look like one.
  ADD_URI_SAFE_ATTR: "align aria-label colspan data-copy dir rel start tabindex target type".split(" "),
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:|data:image\/(?:png|jpeg|gif|webp);base64,)/i,
};

/** Whether a page may offer this address to be clicked. */
export function isWebAddress(address: string): boolean {
  return WEB.test(address);
}

class SafeRenderer extends Renderer {
  override html({ text }: Tokens.HTML | Tokens.Tag): string {
    const tags = text.match(TAG) ?? [];
    return tags.every((tag) => PLAIN_TAG.test(tag)) ? text : escapeHtml(text);
  }

  override link({ href, title, tokens }: Tokens.Link): string {
    const text = this.parser.parseInline(tokens);
    return anchor(href, text, title ?? undefined);
  }

  override image({ href, title, text }: Tokens.Image): string {
    const about = escapeHtml(text || title || "");
    if (INLINE_IMAGE.test(href)) return `<img src="${escapeHtml(href)}" alt="${about}">`;
    // An image from elsewhere would tell its server who reads this.
    return anchor(href, `image: ${about || escapeHtml(href)}`);
  }

  override heading({ tokens, depth }: Tokens.Heading): string {
    // The page has headings of its own above these.
    const level = Math.min(6, depth + 2);
    return `<h${level} class="heading-${depth}">${this.parser.parseInline(tokens)}</h${level}>\n`;
  }

  override code({ text, lang }: Tokens.Code): string {
    const language = languageOf(lang);
    const head = `<div class="code-head"><span class="code-language">${escapeHtml(language || "text")}</span>`;
    const copy = '<button type="button" class="quiet-button" data-copy="" aria-label="Copy the code">Copy</button></div>';
    return `<div class="code">${head}${copy}<pre tabindex="0" aria-label="Code"><code>${highlight(text, language)}</code></pre></div>\n`;
  }

  override list(token: Tokens.List): string {
    return withDirection(super.list(token));
  }

  override blockquote(token: Tokens.Blockquote): string {
    return withDirection(super.blockquote(token));
  }

  override table(token: Tokens.Table): string {
    return `<div class="table-scroll" tabindex="0" role="region" aria-label="Table">${withDirection(super.table(token))}</div>\n`;
  }

  override tablecell(cell: Tokens.TableCell): string {
    const html = super.tablecell(cell);
    // Dates and amounts stay on one line.
    return cell.text.length <= SHORT_CELL ? html.replace(/^<t[dh]/, "$& class=\"short\"") : html;
  }

  override checkbox({ checked }: Tokens.Checkbox): string {
    return `<span class="task" role="img" aria-label="${checked ? "done" : "to do"}">${checked ? "☑" : "☐"}</span> `;
  }
}

/** Marks, bars and columns stand on the side where the first words begin. */
function withDirection(html: string): string {
  return html.replace(/^<\w+/, '$& dir="auto"');
}

function anchor(href: string, html: string, title?: string): string {
  if (!isWebAddress(href)) return `${html} <span class="no-link">(${escapeHtml(href)})</span>`;
  const shown = escapeHtml(title ? `${title}: ${href}` : href);
  return `<a href="${escapeHtml(href)}" title="${shown}" target="_blank" rel="noopener noreferrer nofollow">${html}</a>`;
}

// A line that the agent ended stays one: the output of a program, a poem or an address would run together.
const OPTIONS: MarkedOptions = { gfm: true, breaks: true, renderer: new SafeRenderer() };

/** Gives a block as HTML; `links` are the link definitions of the whole text. */
export function blockHtml(source: string, links: Links): string {
  const lexer = new Lexer(OPTIONS);
  Object.assign(lexer.tokens.links, links);
  return sanitise(Parser.parse(lexer.lex(source), OPTIONS));
}

/** Gives a paragraph as HTML: its text is never read as another kind of block. */
export function paragraphHtml(source: string, links: Links): string {
  const lexer = new Lexer(OPTIONS);
  Object.assign(lexer.tokens.links, links);
  return sanitise(`<p>${Parser.parseInline(lexer.inlineTokens(source), OPTIONS)}</p>`);
}

function sanitise(html: string): string {
  return DOMPurify.sanitize(html, SANITISED);
}
