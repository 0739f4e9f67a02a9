/** The change of a file: line numbers, signs and colours; long ones are shown in parts and say what is hidden. */
import { useMemo, useState } from "preact/hooks";
import type { DiffBlock } from "../model";
import { CopyButton } from "./clipboard";
import { changeOf, type Fold, type Row } from "./diff_rows";
import { MarkIcon } from "./icons";
import { Revealed } from "./revealed";

const SHOWN = 300; // rows at first, and more at a time
const LONGEST = 2_000; // characters of a line at first

interface Props {
  block: DiffBlock;
  /** A person decides by it: what hides in the text is marked, and what is not shown is said loudly. */
  approving?: boolean;
}

export function DiffView({ block, approving = false }: Props) {
  const change = useMemo(() => changeOf(block.old, block.new), [block.old, block.new]);
  const [most, setMost] = useState(SHOWN);
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set());
  const rows = change.rows.flatMap((row, index): (Row | (Fold & { index: number }))[] => {
    if (!("folded" in row)) return [row];
    return opened.has(index) ? row.folded : [{ ...row, index }];
  });
  const hidden = rows.slice(most).reduce((sum, row) => sum + ("folded" in row ? row.folded.length : 1), 0);
  const name = block.path.split("/").at(-1) || block.path;
  return (
    <figure class="diff" aria-label={`Change of ${name}: ${change.added} lines added, ${change.removed} removed`}>
      <figcaption class="diff-head">
        <MarkIcon mark="file" />
        <span class="diff-path" title={block.path}>
          <Revealed text={block.path} />
        </span>
        <span class={`diff-word diff-${change.word}`}>{change.word}</span>
        <span class="diff-count">
          {change.added > 0 && <span class="diff-added">+{change.added}</span>}{" "}
          {change.removed > 0 && <span class="diff-removed">−{change.removed}</span>}
        </span>
        <CopyButton text={() => block.new ?? block.old ?? ""} label="Copy the new text" />
      </figcaption>
      {change.whole && <p class="diff-note">Too long to compare line by line: all of the old text, then all of the new.</p>}
      {rows.length > 0 && (
        <div class="diff-scroll" tabIndex={0} role="region" aria-label={`Lines of ${name}`}>
          <table class="diff-table">
            <tbody>
              {rows.slice(0, most).map((row) =>
                "folded" in row ? (
                  <FoldRow key={`f${row.index}`} fold={row} open={() => setOpened(new Set([...opened, row.index]))} />
                ) : (
                  <LineRow key={`${row.sign}${row.old ?? ""}:${row.new ?? ""}`} row={row} approving={approving} />
                ),
              )}
            </tbody>
          </table>
        </div>
      )}
      {hidden > 0 && (
        <div class={approving ? "more more-warning" : "more"}>
          <span>
            {hidden} more lines are {approving ? "NOT " : "not "}shown
          </span>
          <button type="button" onClick={() => setMost(most + SHOWN * 4)}>
            Show more
          </button>
        </div>
      )}
    </figure>
  );
}

function FoldRow({ fold, open }: { fold: Fold; open: () => void }) {
  return (
    <tr class="diff-fold">
      <td colSpan={4}>
        <button type="button" class="quiet-button" onClick={open}>
          ⋯ {fold.folded.length} unchanged lines
        </button>
      </td>
    </tr>
  );
}

const CLASSES = { "+": "diff-plus", "-": "diff-minus", " ": "diff-same" };
const WORDS = { "+": "added", "-": "removed", " ": "" };

function LineRow({ row, approving }: { row: Row; approving: boolean }) {
  const [whole, setWhole] = useState(false);
  const most = approving ? LONGEST * 10 : LONGEST;
  const cut = !whole && row.text.length > most;
  const text = cut ? row.text.slice(0, most) : row.text;
  const show = (part: string) => <Revealed text={part} what={approving ? "all" : "controls"} />;
  return (
    <tr class={CLASSES[row.sign]}>
      <td class="diff-number" data-line={row.old} />
      <td class="diff-number" data-line={row.new} />
      <td class="diff-sign">
        {row.sign === "-" ? "−" : row.sign}
        {WORDS[row.sign] && <span class="off-screen">{WORDS[row.sign]}: </span>}
      </td>
      <td class="diff-text">
        {row.from === undefined || row.from === row.to || cut ? (
          show(text)
        ) : (
          <>
            {show(text.slice(0, row.from))}
            <span class="diff-part">{show(text.slice(row.from, row.to))}</span>
            {show(text.slice(row.to))}
          </>
        )}
        {cut && (
          <button type="button" class={approving ? "more-warning" : "quiet-button"} onClick={() => setWhole(true)}>
            … {row.text.length - most} more characters are {approving ? "NOT " : "not "}shown
          </button>
        )}
      </td>
    </tr>
  );
}
