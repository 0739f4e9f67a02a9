/** One protocol of a turn: its lines with their times, a page of them at once. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { CopyButton, SaveButton } from "../cards/clipboard";
import { CodeBlock } from "../markdown/code";
import { prettyJson } from "../cards/json";
import { revealed } from "../cards/reveal";
import { Revealed } from "../cards/revealed";
import { lineOf, nameOf, offset, summaryOf } from "./describe";
import type { Line } from "./loading";

const PAGE = 200; // lines
const GAP = 0.25; // seconds between two lines that are worth a word

interface Props {
  title: string;
  /** Names the file of a download. */
  file: string;
  lines: readonly Line[];
  start: number;
  filter: string;
  raw: boolean;
  /** More lines are to come: the newest are kept in sight. */
  live: boolean;
  /** The moment that is marked in all columns. */
  moment: number | null;
  /** Marks a moment; null takes the mark away. */
  onMoment: (at: number | null) => void;
}

export function Column({ title, file, lines, start, filter, raw, live, moment, onMoment }: Props) {
  const shown = useMemo(() => matching(lines, filter), [lines, filter]);
  const [chosen, setChosen] = useState<number | null>(null);
  const last = Math.max(0, Math.ceil(shown.length / PAGE) - 1);
  const page = Math.min(chosen ?? (live ? last : 0), last);
  const [clicked, setClicked] = useState<Line | null>(null);
  // Several lines have the same time: here it is the one that was clicked.
  const marked = useMemo(() => {
    if (moment === null) return -1;
    const own = clicked?.at === moment ? shown.indexOf(clicked) : -1;
    return own >= 0 ? own : nearest(shown, moment);
  }, [shown, moment, clicked]);
  const list = useRef<HTMLDivElement>(null);

  useEffect(() => {
    if (marked >= 0) setChosen(Math.floor(marked / PAGE));
  }, [moment]);
  useEffect(() => {
    const row = list.current?.querySelector(".line-marked");
    if (marked < 0 || !row || list.current === null) return;
    // Not scrollIntoView, which would move the columns too.
    const [box, place] = [list.current.getBoundingClientRect(), row.getBoundingClientRect()];
    if (place.top < box.top) list.current.scrollTop -= box.top - place.top;
    else if (place.bottom > box.bottom) list.current.scrollTop += place.bottom - box.bottom;
  }, [moment, page]);
  useLayoutEffect(() => {
    const box = list.current;
    if (box !== null && live && chosen === null) box.scrollTop = box.scrollHeight;
  }, [shown.length, live, chosen]);

  const text = (): string => shown.map((line) => lineOf(line.data)).join("\n");
  const rows = shown.slice(page * PAGE, (page + 1) * PAGE);
  return (
    <section class="column" aria-label={title} data-column={file}>
      <header class="column-head">
        <h3>{title}</h3>
        <span class="muted">
          {shown.length === lines.length ? lines.length : `${shown.length} of ${lines.length}`}
        </span>
        <CopyButton text={text} label={`Copy ${title} as lines of JSON`} />
        <SaveButton text={text} label={`Download ${title} as lines of JSON`} name={`${file}.ndjson`} />
      </header>
      <div class="lines" ref={list} tabIndex={0} role="region" aria-label={`Lines of ${title}`}>
        {rows.length === 0 && <p class="muted lines-empty">{lines.length === 0 ? "Nothing yet." : "Nothing matches the filter."}</p>}
        {rows.map((line, index) => {
          const place = page * PAGE + index;
          const before = shown[place - 1];
          return (
            <LineView
              key={place}
              line={line}
              start={start}
              gap={before === undefined ? 0 : line.at - before.at}
              raw={raw}
              marked={place === marked}
              onMoment={(at) => {
                setClicked(line);
                onMoment(place === marked ? null : at);
              }}
            />
          );
        })}
      </div>
      {last > 0 && (
        <nav class="pager" aria-label={`Pages of ${title}`}>
          <button type="button" class="quiet-button" disabled={page === 0} onClick={() => setChosen(page - 1)}>
            Earlier
          </button>
          <span>
            {page * PAGE + 1}–{page * PAGE + rows.length}
          </span>
          <button type="button" class="quiet-button" disabled={page === last} onClick={() => setChosen(page + 1)}>
            Later
          </button>
          <button type="button" class="quiet-button" disabled={page === last} onClick={() => setChosen(live ? null : last)}>
            Newest
          </button>
        </nav>
      )}
    </section>
  );
}

/** The method of most lines of ACP: a narrow column leaves it out. */
const UPDATE = "session/update ";

interface LineProps {
  line: Line;
  start: number;
  gap: number;
  raw: boolean;
  marked: boolean;
  onMoment: (at: number) => void;
}

function LineView({ line, start, gap, raw, marked, onMoment }: LineProps) {
  const [open, setOpen] = useState(false);
  const name = nameOf(line.data);
  const arrow = line.direction === "in" ? "←" : line.direction === "out" ? "→" : "";
  return (
    <div class={marked ? "line line-marked" : "line"}>
      {gap >= GAP && <div class="line-gap">{gap.toFixed(gap < 10 ? 2 : 0)} s later</div>}
      <div class="line-row">
        <button type="button" class="line-time" title="Seconds since the turn began; a click marks this moment in every column" onClick={() => onMoment(line.at)}>
          {offset(Math.max(0, line.at - start))}
        </button>
        {raw ? (
          <code class="line-raw">
            {arrow && `${arrow} `}
            <Revealed text={lineOf(line.data)} what="controls" />
          </code>
        ) : (
          <button type="button" class="line-head" aria-expanded={open} onClick={() => setOpen(!open)}>
            {arrow && (
              <span class={`line-arrow line-${line.direction}`}>
                <span aria-hidden="true">{arrow}</span>
                <span class="off-screen">{line.direction === "in" ? "from the agent: " : "to the agent: "}</span>
              </span>
            )}
            <span class="line-name">
              {name.startsWith(UPDATE) ? (
                <>
                  <span class="line-method">{UPDATE}</span>
                  {revealed(name.slice(UPDATE.length))}
                </>
              ) : (
                revealed(name)
              )}
            </span>
            <span class="line-summary">{revealed(summaryOf(line.data))}</span>
          </button>
        )}
      </div>
      {open && !raw && <CodeBlock code={prettyJson(line.data)} language="json" />}
    </div>
  );
}

function matching(lines: readonly Line[], filter: string): readonly Line[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return lines;
  return lines.filter((line) => {
    const text = lineOf(line.data).toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** The place of the line that is nearest to a moment; lines are in the order of their times. */
function nearest(lines: readonly Line[], moment: number): number {
  let best = -1;
  let least = Number.POSITIVE_INFINITY;
  lines.forEach((line, index) => {
    const distance = Math.abs(line.at - moment);
    if (distance < least) [best, least] = [index, distance];
  });
  return best;
}
