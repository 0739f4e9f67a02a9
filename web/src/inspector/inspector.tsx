/** The inspector: one turn as each protocol says it, side by side, and the raw wire of a spawned agent. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TurnState } from "../conversation";
import { SaveButton } from "../cards/clipboard";
import { MarkIcon } from "../cards/icons";
import { Column } from "./column";
import { linesOf, useLoaded, type Line, type Load } from "./loading";

const PROTOCOLS = [
  ["events", "Neutral events"],
  ["acp", "ACP"],
  ["agui", "AG-UI"],
  ["aisdk", "AI SDK"],
  ["unified", "UnifiedMessage"],
] as const;
type Protocol = (typeof PROTOCOLS)[number][0];
type Lines = Record<Protocol, Line[]>;

interface Turn {
  lines: Lines;
  /** The turn is too long for one answer of the server: its end is missing. */
  truncated: boolean;
}

const NARROW = "(max-width: 760px)";

interface Props {
  sessionId: string;
  turns: readonly TurnState[];
  /** The turn to begin with; the newest if it is left out. */
  turnId?: string | undefined;
  load: Load;
  onClose: () => void;
}

export function Inspector({ sessionId, turns, turnId, load, onClose }: Props) {
  const [chosen, setChosen] = useState<string | null>(turnId ?? null);
  const columns = useColumns();
  const [view, setView] = useState<"turn" | "wire">("turn");
  const [filter, setFilter] = useState("");
  const [raw, setRaw] = useState(false);
  const panel = useRef<HTMLElement>(null);
  useEffect(() => setChosen(turnId ?? null), [turnId, sessionId]);
  useEffect(() => panel.current?.focus({ preventScroll: true }), []);
  const turn = turns.find((one) => one.turn_id === chosen) ?? turns.at(-1);
  const live = turn !== undefined && (turn.status === "running" || turn.status === "suspended");
  return (
    <aside
      ref={panel}
      class="inspector"
      aria-label="Inspector"
      tabIndex={-1}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        onClose();
      }}
    >
      <header class="inspector-head">
        <h2>Inspector</h2>
        <div class="tabs" role="tablist" aria-label="What to inspect">
          <Tab name="turn" label="One turn" view={view} onChoose={setView} />
          <Tab name="wire" label="Agent's wire" view={view} onChoose={setView} />
        </div>
        <button type="button" class="quiet-button" aria-label="Close the inspector" onClick={onClose}>
          <MarkIcon mark="close" />
        </button>
      </header>
      <div class="inspector-tools">
        {view === "turn" && (
          <label>
            Turn{" "}
            <select value={turn?.turn_id ?? ""} onChange={(event) => setChosen(event.currentTarget.value)}>
              {turns.map((one, index) => (
                <option key={one.turn_id} value={one.turn_id}>
                  {index + 1} · {one.status === "finished" ? (one.stop_reason ?? "finished").replaceAll("_", " ") : one.status}
                </option>
              ))}
            </select>
          </label>
        )}
        <input
          type="search"
          value={filter}
          placeholder="Filter"
          aria-label="Filter the lines"
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <button type="button" class="toggle" aria-pressed={raw} onClick={() => setRaw(!raw)}>
          Raw
        </button>
      </div>
      {view === "wire" ? (
        <WireView sessionId={sessionId} load={load} live={live} filter={filter} raw={raw} />
      ) : turn === undefined ? (
        <p class="inspector-note">There is no turn yet. Send a message, and it appears here.</p>
      ) : (
        <TurnView key={turn.turn_id} sessionId={sessionId} turn={turn} columns={columns} load={load} live={live} filter={filter} raw={raw} />
      )}
    </aside>
  );
}

interface TabProps {
  name: "turn" | "wire";
  label: string;
  view: "turn" | "wire";
  onChoose: (view: "turn" | "wire") => void;
}

function Tab({ name, label, view, onChoose }: TabProps) {
  const other = name === "turn" ? "wire" : "turn";
  return (
    <button
      type="button"
      role="tab"
      id={`inspector-tab-${name}`}
      aria-selected={view === name}
      aria-controls="inspector-view"
      tabIndex={view === name ? 0 : -1}
      onClick={() => onChoose(name)}
      onKeyDown={(event) => {
        if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
        onChoose(other);
        document.getElementById(`inspector-tab-${other}`)?.focus();
      }}
    >
      {label}
    </button>
  );
}

interface ViewProps {
  sessionId: string;
  load: Load;
  live: boolean;
  filter: string;
  raw: boolean;
}

function readTurn(given: unknown): Turn {
  const { protocols = {}, truncated = false } = (given ?? {}) as { protocols?: Record<string, unknown>; truncated?: boolean };
  const lines = Object.fromEntries(PROTOCOLS.map(([name]) => [name, linesOf(protocols[name])])) as Lines;
  return { lines, truncated };
}

function sizeOfTurn({ lines }: Turn): number {
  return PROTOCOLS.reduce((sum, [name]) => sum + lines[name].length, 0);
}

function TurnView({ sessionId, turn, columns, load, live, filter, raw }: ViewProps & { turn: TurnState; columns: Columns }) {
  const path = `/sessions/${encodeURIComponent(sessionId)}/inspect?turn=${encodeURIComponent(turn.turn_id)}`;
  const { value: loaded, error, again } = useLoaded(load, path, live, readTurn, sizeOfTurn);
  const value = loaded?.lines ?? null;
  const [moment, setMoment] = useState<number | null>(null);
  const start = useMemo(() => firstMoment(value), [value]);
  return (
    <div id="inspector-view" class="inspector-view" role="tabpanel" aria-labelledby="inspector-tab-turn">
      <div class="column-choice" role="group" aria-label="Protocols">
        {PROTOCOLS.map(([name, title]) => (
          <button key={name} type="button" class="toggle" aria-pressed={columns.shows(name)} onClick={() => columns.toggle(name)}>
            {title} <span class="muted">{value?.[name].length ?? ""}</span>
          </button>
        ))}
        {value !== null && (
          <SaveButton
            text={() => JSON.stringify({ turn_id: turn.turn_id, protocols: value }, null, 1)}
            label="Download the whole turn as JSON"
            name={`${fileName(turn.turn_id)}.json`}
          />
        )}
        {live && <span class="live">live</span>}
      </div>
      <Failure error={error} again={again} />
      {loaded?.truncated && (
        <p class="inspector-note">This turn is very long: only its beginning is here. The export of the session has all of it.</p>
      )}
      {value === null && !error && <p class="inspector-note">Loading…</p>}
      {value !== null && (
        <div class="columns">
          {PROTOCOLS.filter(([name]) => columns.shows(name)).map(([name, title]) => (
            <Column
              key={name}
              title={title}
              file={name}
              lines={value[name]}
              start={start}
              filter={filter}
              raw={raw}
              live={live}
              moment={moment}
              onMoment={setMoment}
            />
          ))}
        </div>
      )}
    </div>
  );
}

interface Wire {
  lines: Line[];
  dropped: number;
}

function readWire(given: unknown): Wire {
  const { lines, dropped } = (given ?? {}) as { lines?: unknown; dropped?: unknown };
  return { lines: linesOf(lines), dropped: typeof dropped === "number" ? dropped : 0 };
}

function WireView({ sessionId, load, live, filter, raw }: ViewProps) {
  const path = `/sessions/${encodeURIComponent(sessionId)}/wire`;
  const { value, error, again } = useLoaded(load, path, live, readWire, (wire) => wire.lines.length);
  const [moment, setMoment] = useState<number | null>(null);
  return (
    <div id="inspector-view" class="inspector-view" role="tabpanel" aria-labelledby="inspector-tab-wire">
      <Failure error={error} again={again} />
      {value === null && !error && <p class="inspector-note">Loading…</p>}
      {(error || value?.lines.length === 0) && (
        <p class="inspector-note">
          An agent that is a program of its own (<code>acp:COMMAND</code>) shows here every line that goes to it and comes
          from it.
        </p>
      )}
      {value !== null && value.lines.length > 0 && (
        <div class="columns">
          {value.dropped > 0 && <p class="inspector-note">{value.dropped} earlier lines are no longer kept.</p>}
          <Column
            title="Wire"
            file="wire"
            lines={value.lines}
            start={value.lines[0]?.at ?? 0}
            filter={filter}
            raw={raw}
            live={live}
            moment={moment}
            onMoment={setMoment}
          />
        </div>
      )}
    </div>
  );
}

function Failure({ error, again }: { error: string; again: () => void }) {
  if (!error) return null;
  return (
    <p class="field-error inspector-note" role="alert">
      {error}{" "}
      <button type="button" class="quiet-button" onClick={again}>
        Try again
      </button>
    </p>
  );
}

function firstMoment(lines: Lines | null): number {
  if (lines === null) return 0;
  return PROTOCOLS.reduce((first, [name]) => Math.min(first, lines[name][0]?.at ?? first), Number.POSITIVE_INFINITY);
}

function fileName(id: string): string {
  return id.replace(/[^\w.-]+/g, "_").slice(0, 80) || "turn";
}

interface Columns {
  shows: (name: Protocol) => boolean;
  toggle: (name: Protocol) => void;
}

/** Which protocols stand side by side, for every turn; on a narrow screen one of them. */
function useColumns(): Columns {
  const narrow = useNarrow();
  // A third one would be cut off beside a conversation in a window of a small screen.
  const roomy = innerWidth <= 1100 || innerWidth >= 1480;
  const [picked, setPicked] = useState<ReadonlySet<Protocol>>(() => new Set(["events", "acp", ...(roomy ? (["agui"] as const) : [])]));
  const [single, setSingle] = useState<Protocol>("events");
  const toggle = (name: Protocol): void => {
    setSingle(name);
    const next = new Set(picked);
    if (!next.delete(name)) next.add(name);
    setPicked(next);
  };
  return { shows: (name) => (narrow ? single === name : picked.has(name)), toggle };
}

function useNarrow(): boolean {
  const [narrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const query = matchMedia(NARROW);
    const look = (): void => setNarrow(query.matches);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, []);
  return narrow;
}
