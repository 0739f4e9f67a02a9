/** Markdown that may still be growing: each block is made once, only the last ones are made again. */
import { memo } from "preact/compat";
import { useEffect, useRef, useState } from "preact/hooks";
import { COPY_SHOWN, copyText } from "../cards/clipboard";
import { CodeBlock } from "./code";
import { BlockSplitter, type Block } from "./blocks";
import { blockHtml, paragraphHtml, type Links } from "./html";

interface Props {
  text: string;
  /** More text is to come. */
  streaming?: boolean;
}

export function Markdown({ text, streaming = false }: Props) {
  const splitter = useRef<BlockSplitter | null>(null);
  splitter.current ??= new BlockSplitter();
  const blocks = splitter.current.split(text.includes("\r") ? text.replaceAll("\r\n", "\n") : text);
  const { links, linkCount } = splitter.current;
  const made = useMadeBlocks(blocks);
  return (
    <div class={blocks.length > LONG ? "markdown long" : "markdown"} onClick={copyNestedCode}>
      {blocks.slice(0, made).map((block, index) => (
        <BlockView
          key={index}
          block={block}
          links={links}
          // A new definition matters to blocks that may have a link only.
          linkCount={block.source.includes("[") ? linkCount : 0}
          growing={streaming && index === blocks.length - 1}
        />
      ))}
    </div>
  );
}

const LONG = 60; // blocks; of more, those out of sight are not laid out
const MADE_AT_ONCE = 6_000; // characters of source

/** How many blocks to make now: a long text that comes at once is made in parts, so that the page stays quick. */
function useMadeBlocks(blocks: readonly Block[]): number {
  const made = useRef(0);
  const [, redraw] = useState(0);
  let count = Math.min(made.current, blocks.length);
  for (let cost = 0; count < blocks.length && cost < MADE_AT_ONCE; count++) cost += blocks[count]?.source.length ?? 0;
  useEffect(() => {
    made.current = count;
    if (count === blocks.length) return undefined;
    // A timer, because frames do not come in a hidden tab.
    const timer = setTimeout(() => redraw((round) => round + 1));
    return () => clearTimeout(timer);
  });
  return count;
}

interface BlockProps {
  block: Block;
  links: Links;
  linkCount: number;
  growing: boolean;
}

const BlockView = memo(
  function BlockView({ block, links, linkCount, growing }: BlockProps) {
    const source = usePaced(block.source, growing);
    if (block.kind === "code") {
      return <CodeBlock code={block.code ?? ""} language={block.language ?? ""} growing={growing} />;
    }
    return <HtmlBlock source={source} paragraph={block.kind === "paragraph"} continued={block.continued ?? false} links={links} linkCount={linkCount} />;
  },
  (before, after) =>
    before.block.source === after.block.source &&
    before.block.kind === after.block.kind &&
    before.linkCount === after.linkCount &&
    before.growing === after.growing,
);

interface HtmlProps {
  source: string;
  paragraph: boolean;
  continued: boolean;
  links: Links;
  linkCount: number;
}

const HtmlBlock = memo(
  function HtmlBlock({ source, paragraph, continued, links }: HtmlProps) {
    const html = paragraph ? paragraphHtml(source, links) : blockHtml(source, links);
    return <div class={continued ? "block continued" : "block"} dangerouslySetInnerHTML={{ __html: html }} />;
  },
  (before, after) =>
    before.source === after.source && before.paragraph === after.paragraph && before.linkCount === after.linkCount,
);

const CHEAP = 12_000; // characters
const PACE = 400; // milliseconds

/** Gives a growing text, a long one only now and then: a table of a thousand rows is not made anew for every word. */
function usePaced(text: string, growing: boolean): string {
  const shown = useRef({ text, at: 0 });
  const [, redraw] = useState(0);
  const now = performance.now();
  const due = !growing || text.length < CHEAP || now - shown.current.at >= PACE;
  if (due && shown.current.text !== text) shown.current = { text, at: now };
  const late = shown.current.text !== text;
  useEffect(() => {
    if (!late) return undefined;
    const timer = setTimeout(() => redraw((count) => count + 1), PACE);
    return () => clearTimeout(timer);
  }, [late]);
  return shown.current.text;
}

/** The buttons of code inside of lists and quotes are plain HTML. */
function copyNestedCode(event: Event): void {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>("button[data-copy]") : null;
  const code = button?.closest(".code")?.querySelector("pre")?.textContent;
  if (!button || code === undefined || code === null) return;
  void copyText(code).then((done) => {
    button.textContent = done ? "Copied" : "Not copied";
    setTimeout(() => (button.textContent = "Copy"), COPY_SHOWN);
  });
}
