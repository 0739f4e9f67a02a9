/** A text that is approved: all of it as it is, with what hides in it marked. Rows of a table stand in columns. */
import { useState } from "preact/hooks";
import { Revealed } from "../cards/revealed";
import { SHORT_CELL } from "../markdown/html";

const LONGEST = 20_000; // characters of a text at first
const MOST_ROWS = 500; // of a table; more of them are shown as text

/** A very long text says loudly what is not shown yet. */
export function Whole({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  const hidden = all ? 0 : Math.max(0, text.length - LONGEST);
  return (
    <>
      <pre class="whole" tabIndex={text.length > 400 ? 0 : undefined}>
        <Revealed text={hidden ? text.slice(0, LONGEST) : text} />
      </pre>
      {hidden > 0 && (
        <div class="more more-warning">
          <span>{hidden} more characters are NOT shown</span>
          <button type="button" onClick={() => setAll(true)}>
            Show all
          </button>
        </div>
      )}
    </>
  );
}

/** What a call says of itself. Markdown is not drawn, because it can hide things; a table alone cannot. */
export function ApprovedText({ text }: { text: string }) {
  return (
    <>
      {inParts(text).map((part, index) =>
        typeof part === "string" ? <Whole key={index} text={part} /> : <ApprovedTable key={index} rows={part} />,
      )}
    </>
  );
}

function ApprovedTable({ rows }: { rows: readonly (readonly string[])[] }) {
  const [head, ...body] = rows;
  return (
    <div class="table-scroll whole" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>{head?.map((cell, at) => <th key={at}><Revealed text={cell} /></th>)}</tr>
        </thead>
        <tbody>
          {body.map((row, at) => (
            <tr key={at}>{row.map((cell, column) => <td key={column} class={cell.length <= SHORT_CELL ? "short" : ""}><Revealed text={cell} /></td>)}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const ROW = /^\|.*\|$/;
const RULE = /^\|(?: *:?-+:? *\|)+$/;

/** Cut a text into what is written and the rows of tables. */
function inParts(text: string): (string | string[][])[] {
  const parts: (string | string[][])[] = [];
  const lines = text.split("\n");
  let written: string[] = [];
  const keep = () => {
    const lines = written.join("\n").replace(/^\n+|\n+$/g, "");
    if (lines !== "") parts.push(lines);
    written = [];
  };
  for (let at = 0; at < lines.length; at += 1) {
    const rows = tableAt(lines, at);
    if (rows === null) {
      written.push(lines[at] ?? "");
      continue;
    }
    keep();
    parts.push(rows);
    at += rows.length; // The rule below the head is no row.
  }
  keep();
  return parts;
}

function tableAt(lines: readonly string[], from: number): string[][] | null {
  if (!ROW.test(lines[from] ?? "") || !RULE.test(lines[from + 1] ?? "")) return null;
  const rows = [cells(lines[from] ?? "")];
  for (let at = from + 2; ROW.test(lines[at] ?? ""); at += 1) rows.push(cells(lines[at] ?? ""));
  const isWhole = rows.every((row) => row.length === rows[0]?.length);
  return isWhole && rows.length <= MOST_ROWS ? rows : null;
}

function cells(row: string): string[] {
  return row.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}
