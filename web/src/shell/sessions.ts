// The list of conversations: asked for anew every few seconds, since others begin sessions too (an editor, a terminal).

import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { api, type SessionPage, type SessionRow } from "../net/api";

const EVERY = 3000;
/** A search reads the texts of all sessions, so it is repeated less often. */
const EVERY_SEARCH = 15_000;
const PAGE = 50;
/** One request of a search looks at a part of the journal; so many follow each other by themselves. */
const STEPS = 8;

export interface SessionList {
  rows: readonly SessionRow[];
  /** Whether there are more than are listed. */
  more: boolean;
  /** Null until the first answer. */
  problem: Error | null;
  loaded: boolean;
  refresh: () => void;
  /** Take a deleted session off the list at once. */
  forget: (sessionId: string) => void;
  showMore: () => void;
}

/** Ask for the newest sessions, and go on behind the place where the server ended an answer. */
async function load(query: string, pages: number, signal: AbortSignal): Promise<SessionPage & { steps: number }> {
  const limit = pages * PAGE;
  let page = await api.sessions({ query, limit }, signal);
  const { sessions } = page;
  let steps = 1;
  while (page.next !== undefined && sessions.length < limit && steps < pages * STEPS) {
    page = await api.sessions({ query, limit: limit - sessions.length, before: page.next }, signal);
    sessions.push(...page.sessions);
    steps += 1;
  }
  return { ...page, sessions, steps };
}

export function useSessions(query: string): SessionList {
  const [state, setState] = useState({ rows: [] as readonly SessionRow[], more: false, loaded: false, problem: null as Error | null });
  const [pages, setPages] = useState(1);
  const [asked, setAsked] = useState(0);
  const shown = useRef("");
  useEffect(() => {
    const abort = new AbortController();
    const pause = query === "" ? EVERY : EVERY_SEARCH;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isLong = false;
    const ask = async () => {
      try {
        const page = await load(query, pages, abort.signal);
        isLong = query !== "" && page.steps > 1;
        const text = JSON.stringify(page);
        // The same rows again are no reason to draw anything.
        if (text !== shown.current) setState({ rows: page.sessions, more: page.next !== undefined, loaded: true, problem: null });
        shown.current = text;
      } catch (error) {
        if (abort.signal.aborted) return;
        shown.current = "";
        setState((known) => ({ ...known, problem: error as Error }));
      }
      // A search through much is not repeated until something changes.
      if (!abort.signal.aborted && !isLong) timer = setTimeout(look, pause);
    };
    const look = () => {
      clearTimeout(timer);
      if (document.hidden) timer = setTimeout(look, pause);
      else void ask();
    };
    // Letters of a search and changes come in quick succession: one request is enough for them.
    const first = setTimeout(() => void ask(), query === "" && asked === 0 ? 0 : 150);
    const onVisible = () => !document.hidden && !isLong && look();
    document.addEventListener("visibilitychange", onVisible);
    return () => {
      abort.abort();
      clearTimeout(first);
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", onVisible);
    };
  }, [query, pages, asked]);
  useEffect(() => setPages(1), [query]);
  const refresh = useCallback(() => setAsked((count) => count + 1), []);
  const showMore = useCallback(() => setPages((count) => count + 1), []);
  const forget = useCallback((sessionId: string) => {
    setState((known) => ({ ...known, rows: known.rows.filter((row) => row.session_id !== sessionId) }));
    refresh();
  }, []);
  return { ...state, refresh, forget, showMore };
}

/** Give the day a session was last used, in words for a heading. */
export function dayOf(seconds: number, now = new Date()): string {
  const midnight = new Date(now.getFullYear(), now.getMonth(), now.getDate()).getTime() / 1000;
  if (seconds >= midnight) return "Today";
  if (seconds >= midnight - 86_400) return "Yesterday";
  return seconds >= midnight - 6 * 86_400 ? "This week" : "Earlier";
}
