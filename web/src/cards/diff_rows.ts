/** A change of a file as numbered rows, with unchanged stretches folded away. */
import { diffArrays } from "diff";

export type Sign = "+" | "-" | " ";

export interface Row {
  sign: Sign;
  text: string;
  /** Line numbers, from 1; none on the side where the line is not. */
  old?: number;
  new?: number;
  /** Where the line differs from its counterpart. */
  from?: number;
  to?: number;
}

export interface Change {
  word: "new" | "deleted" | "changed" | "unchanged";
  added: number;
  removed: number;
  rows: (Row | Fold)[];
  /** The texts were too long or too different to be compared line by line. */
  whole: boolean;
}

export interface Fold {
  /** Unchanged rows that are not shown at first. */
  folded: Row[];
}

const CONTEXT = 3;
const MOST_COMPARED = 20_000; // lines of both sides
const MOST_EDITS = 4_000;
const PATIENCE = 250; // milliseconds

/** Compares two texts; null is a file that is not there. */
export function changeOf(before: string | null | undefined, after: string | null | undefined): Change {
  const old = linesOf(before);
  const next = linesOf(after);
  const compared =
    old.length + next.length <= MOST_COMPARED
      ? diffArrays(old, next, { maxEditLength: MOST_EDITS, timeout: PATIENCE })
      : undefined;
  const rows = compared === undefined ? wholeRows(old, next) : rowsOf(compared);
  markPairs(rows);
  const count = (sign: Sign): number => rows.reduce((sum, row) => sum + (row.sign === sign ? 1 : 0), 0);
  return {
    word: before == null ? "new" : after == null ? "deleted" : before === after ? "unchanged" : "changed",
    added: count("+"),
    removed: count("-"),
    rows: fold(rows),
    whole: compared === undefined,
  };
}

/** The lines of a text; the last one says when the text does not end as a line does. */
function linesOf(text: string | null | undefined): string[] {
  if (!text) return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  else lines.push("\\ No newline at the end");
  return lines;
}

function wholeRows(old: string[], next: string[]): Row[] {
  return [
    ...old.map((text, at): Row => ({ sign: "-", text, old: at + 1 })),
    ...next.map((text, at): Row => ({ sign: "+", text, new: at + 1 })),
  ];
}

function rowsOf(parts: { value: string[]; added?: boolean; removed?: boolean }[]): Row[] {
  const rows: Row[] = [];
  let old = 1;
  let next = 1;
  for (const part of parts) {
    for (const text of part.value) {
      if (part.removed) rows.push({ sign: "-", text, old: old++ });
      else if (part.added) rows.push({ sign: "+", text, new: next++ });
      else rows.push({ sign: " ", text, old: old++, new: next++ });
    }
  }
  return rows;
}

/** Marks what differs in lines that were replaced one by one. */
function markPairs(rows: Row[]): void {
  for (let at = 0; at < rows.length; ) {
    let removed = 0;
    let added = 0;
    while (rows[at + removed]?.sign === "-") removed += 1;
    while (rows[at + removed + added]?.sign === "+") added += 1;
    if (removed > 0 && removed === added) {
      for (let line = 0; line < removed; line++) markPair(rows[at + line], rows[at + removed + line]);
    }
    at += Math.max(1, removed + added);
  }
}

function markPair(old: Row | undefined, next: Row | undefined): void {
  if (old === undefined || next === undefined) return;
  const shorter = Math.min(old.text.length, next.text.length);
  let from = 0;
  while (from < shorter && old.text[from] === next.text[from]) from += 1;
  let same = 0;
  while (same < shorter - from && old.text.at(-1 - same) === next.text.at(-1 - same)) same += 1;
  // Lines that have little in common are other lines.
  if (from + same < shorter / 3) return;
  Object.assign(old, { from, to: old.text.length - same });
  Object.assign(next, { from, to: next.text.length - same });
}

function fold(rows: Row[]): (Row | Fold)[] {
  const shown: (Row | Fold)[] = [];
  for (let at = 0; at < rows.length; ) {
    let same = 0;
    while (rows[at + same]?.sign === " ") same += 1;
    const before = at === 0 ? 0 : CONTEXT;
    const after = at + same === rows.length ? 0 : CONTEXT;
    if (same > before + after + 1) {
      shown.push(...rows.slice(at, at + before));
      shown.push({ folded: rows.slice(at + before, at + same - after) });
      shown.push(...rows.slice(at + same - after, at + same));
    } else {
      shown.push(...rows.slice(at, at + same));
    }
    at += same;
    if (at < rows.length) shown.push(rows[at++] as Row);
  }
  return shown;
}
