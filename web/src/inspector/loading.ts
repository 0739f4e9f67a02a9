/** Loads what the inspector shows, again and again while a turn runs. */
import { useEffect, useRef, useState } from "preact/hooks";

export interface Line {
  at: number;
  data: unknown;
  /** Of the wire: from the agent (in) or to it (out). */
  direction?: "in" | "out";
}

export type Load = (path: string) => Promise<unknown>;

export interface Loaded<T> {
  value: T | null;
  error: string;
  again: () => void;
}

const PAUSE = 1_000; // milliseconds between two requests
const LONG_PAUSE = 5_000; // of a long turn
const LONG = 5_000; // lines

/** Gives what an address says; while `live`, asks again after a pause. */
export function useLoaded<T>(load: Load, path: string | null, live: boolean, read: (given: unknown) => T, sizeOf: (value: T) => number): Loaded<T> {
  const [state, setState] = useState<{ path: string | null; value: T | null; error: string }>({ path, value: null, error: "" });
  const [round, setRound] = useState(0);
  const latest = useRef({ load, read, sizeOf });
  latest.current = { load, read, sizeOf };
  useEffect(() => {
    if (path === null) return undefined;
    let over = false;
    let timer = 0;
    const ask = async (): Promise<void> => {
      let pause = PAUSE;
      try {
        const given = await latest.current.load(path);
        const value = latest.current.read(given);
        if (latest.current.sizeOf(value) > LONG) pause = LONG_PAUSE;
        if (!over) setState({ path, value, error: "" });
      } catch (error) {
        pause = LONG_PAUSE;
        const said = error instanceof Error ? error.message : String(error);
        if (!over) setState((before) => ({ path, value: before.path === path ? before.value : null, error: said }));
      }
      if (!over && live) timer = window.setTimeout(() => void ask(), pause);
    };
    void ask();
    return () => {
      over = true;
      clearTimeout(timer);
    };
    // When a turn ends, `live` changes: what came last is asked for once more.
  }, [path, live, round]);
  const current = state.path === path ? state : { value: null, error: "" };
  return { value: current.value, error: current.error, again: () => setRound((count) => count + 1) };
}

/** Reads a list of lines; what is something else is left out. */
export function linesOf(given: unknown): Line[] {
  if (!Array.isArray(given)) return [];
  return given.flatMap((one: unknown) => {
    if (one === null || typeof one !== "object") return [];
    const { at, data, direction } = one as Record<string, unknown>;
    const line: Line = { at: typeof at === "number" ? at : 0, data: parsed(data) };
    if (direction === "in" || direction === "out") line.direction = direction;
    return [line];
  });
}

/** The wire is text: a line of JSON is shown as what it says. */
function parsed(data: unknown): unknown {
  if (typeof data !== "string" || !/^\s*[[{]/.test(data)) return data;
  try {
    return JSON.parse(data) as unknown;
  } catch {
    return data;
  }
}
