// What can be completed at the place of the caret: a slash command at the beginning, a file after an @.

import { useEffect, useState } from "preact/hooks";
import type { CommandInfo } from "../model";
import { api } from "../net/api";

export interface Suggestion {
  value: string;
  label: string;
  detail: string;
}
export interface Wanted {
  kind: "command" | "file";
  query: string;
  /** Where the word begins that is replaced, with its sign. */
  from: number;
  to: number;
}

const MOST = 8;
const PAUSE = 120;

/** Say what is being typed before the caret. */
export function wantedAt(text: string, caret: number): Wanted | null {
  const before = text.slice(0, caret);
  const command = /^\/([^\s/]*)$/.exec(before);
  if (command !== null) return { kind: "command", query: command[1] ?? "", from: 0, to: caret };
  const file = /(?:^|\s)@([^\s@]*)$/.exec(before);
  if (file === null) return null;
  const query = file[1] ?? "";
  return { kind: "file", query, from: caret - query.length - 1, to: caret };
}

export function commandSuggestions(commands: readonly CommandInfo[], query: string): Suggestion[] {
  const wanted = query.toLowerCase();
  const begins = commands.filter(({ name }) => name.toLowerCase().startsWith(wanted));
  const has = commands.filter(({ name }) => !begins.some((one) => one.name === name) && name.toLowerCase().includes(wanted));
  return [...begins, ...has].map(({ name, description = "", hint }) => ({
    value: `/${name}`,
    label: hint == null ? `/${name}` : `/${name} ${hint}`,
    detail: description,
  }));
}

/** Give suggestions for what is typed; those for files come from the server a moment later. */
export function useSuggestions(
  wanted: Wanted | null,
  commands: readonly CommandInfo[],
  session: string | null,
): Suggestion[] {
  const [files, setFiles] = useState<Suggestion[]>([]);
  const query = wanted?.kind === "file" ? wanted.query : null;
  useEffect(() => {
    if (query === null || session === null) {
      setFiles([]);
      return undefined;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      api.files(session, query, abort.signal).then(
        ({ items }) =>
          setFiles(items.slice(0, MOST).map(({ value, title }) => ({ value: `@${value}`, label: value, detail: title === value ? "" : (title ?? "") }))),
        () => setFiles([]),
      );
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [query, session]);
  if (wanted === null) return [];
  return wanted.kind === "command" ? commandSuggestions(commands, wanted.query) : files;
}
