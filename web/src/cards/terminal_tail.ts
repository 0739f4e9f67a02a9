/** The end of a long output. */

export interface Tail {
  from: number;
  hidden: number;
}

/** Where the last lines of a text begin, and how many lines are before them. */
export function tailOf(text: string, lines: number, characters: number): Tail {
  // The end of the last line is no line.
  let from = text.endsWith("\n") ? text.length - 1 : text.length;
  for (let line = 0; line < lines && from >= 0; line++) from = from === 0 ? -1 : text.lastIndexOf("\n", from - 1);
  from = Math.max(from + 1, text.length - characters);
  if (from === 0) return { from, hidden: 0 };
  let hidden = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < from; at = text.indexOf("\n", at + 1)) hidden += 1;
  return { from, hidden: Math.max(1, hidden) };
}
