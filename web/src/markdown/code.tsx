/** A block of code with its language, its colours and a button that copies it. */
import { useMemo } from "preact/hooks";
import { CopyButton } from "../cards/clipboard";
import { escapeHtml, highlight } from "./highlight";

const MOST_WHILE_GROWING = 8_000; // characters

interface Props {
  code: string;
  language: string;
  /** More of it is to come: a long one gets its colours at its end. */
  growing?: boolean;
}

export function CodeBlock({ code, language, growing = false }: Props) {
  const plain = growing && code.length > MOST_WHILE_GROWING;
  const html = useMemo(() => (plain ? escapeHtml(code) : highlight(code, language)), [code, language, plain]);
  return (
    <div class="code">
      <div class="code-head">
        <span class="code-language">{language || "text"}</span>
        <CopyButton text={() => code} label="Copy the code" />
      </div>
      <pre tabIndex={0} aria-label={language ? `Code in ${language}` : "Code"}>
        <code dangerouslySetInnerHTML={{ __html: html }} />
      </pre>
    </div>
  );
}
