// Conversations: search, begin, open.

import { MarkIcon, StatusIcon } from "../cards/icons";
import type { PageInfo, SessionRow } from "../net/api";
import { useStore } from "../store";
import { Glyph } from "./glyph";
import { Menu } from "./menu";
import { SessionMenu, titleOf } from "./session_menu";
import { dayOf, type SessionList } from "./sessions";
import { theme, toggleTheme } from "./theme";
import { Words } from "./words";

interface Props {
  page: PageInfo;
  list: SessionList;
  query: string;
  onQuery: (query: string) => void;
  current: string | null;
  onOpen: (sessionId: string) => void;
  onNew: (agent: string) => void;
  onDeleted: (sessionId: string) => void;
  onLogout: () => void;
  onHelp: () => void;
}

export function Sidebar({ page, list, query, onQuery, current, onOpen, onNew, onDeleted, onLogout, onHelp }: Props) {
  const canPrompt = page.scopes.includes("prompt");
  const first = page.agents[0];
  const dark = useStore(theme) === "dark";
  return (
    <nav class="sidebar" id="conversations" aria-label="Conversations">
      <div class="brand">
        <img src="./assets/icon.svg" alt="" width="26" height="26" />
        <span>Trunkline</span>
      </div>
      {canPrompt && first !== undefined && (
        <div class="row new">
          {page.agents.length === 1 ? (
            <button type="button" class="primary wide" title="New conversation (Alt N)" onClick={() => onNew(first.name)}>
              <Glyph name="plus" /> New conversation
            </button>
          ) : (
            <Menu
              label="New conversation"
              class="primary wide"
              button={
                <>
                  <Glyph name="plus" /> New conversation <Glyph name="down" />
                </>
              }
              items={page.agents.map((agent) => ({
                label: agent.title || agent.name,
                detail: agent.description ?? undefined,
                onChoose: () => onNew(agent.name),
              }))}
            />
          )}
        </div>
      )}
      <label class="search">
        <Glyph name="search" />
        <span class="off-screen">Search conversations</span>
        <input
          type="search"
          id="search"
          placeholder="Search"
          value={query}
          onInput={(event) => onQuery(event.currentTarget.value)}
        />
      </label>
      <div class="sessions">
        <Rows {...{ page, list, query, current, onOpen, onDeleted }} />
        {list.more && (
          <button type="button" class="quiet wide" onClick={list.showMore}>
            {query === "" ? "Show more" : "Search further back"}
          </button>
        )}
      </div>
      <div class="sidebar-foot">
        <span class="muted" title={`Trunkline ${page.version}`}>
          {page.principal}
        </span>
        <button type="button" class="quiet" title={dark ? "Light" : "Dark"} aria-pressed={dark} onClick={toggleTheme}>
          <Glyph name={dark ? "light" : "dark"} /> <span class="off-screen">Dark colours</span>
        </button>
        <button type="button" class="quiet" title="Keys (?)" onClick={onHelp}>
          <Glyph name="help" /> <span class="off-screen">Keys</span>
        </button>
        {page.login !== false && (
          <button type="button" class="quiet" title="Log out" onClick={onLogout}>
            <Glyph name="leave" /> <span class="off-screen">Log out</span>
          </button>
        )}
      </div>
    </nav>
  );
}

function Status({ status }: { status: NonNullable<SessionRow["status"]> }) {
  const words = status === "asking" ? "Waits for your answer" : "At work";
  return (
    <span class={`session-status session-${status}`} title={words}>
      {status === "asking" ? <MarkIcon mark="question" /> : <StatusIcon status="in_progress" />}
      <span class="off-screen">{words}</span>
    </span>
  );
}

type RowsProps = Pick<Props, "page" | "list" | "query" | "current" | "onOpen" | "onDeleted">;

function Rows({ page, list, query, current, onOpen, onDeleted }: RowsProps) {
  if (list.problem !== null && (query !== "" || list.rows.length === 0)) {
    return (
      <p class="empty muted" role="status">
        <Words text={list.problem.message} />
      </p>
    );
  }
  if (list.rows.length === 0) {
    if (!list.loaded) return null;
    return <p class="empty muted">{query === "" ? "Your conversations will be here." : nothingFor(query, list.more)}</p>;
  }
  const days = new Map<string, SessionRow[]>();
  for (const row of list.rows) {
    const day = dayOf(row.updated_at);
    days.set(day, [...(days.get(day) ?? []), row]);
  }
  return (
    <>
      {[...days].map(([day, rows]) => (
        <section key={day} aria-label={day}>
          <h2>{day}</h2>
          <ul>
            {rows.map((row) => (
              <li key={row.session_id} class={row.session_id === current ? "session current" : "session"}>
                <button
                  type="button"
                  class="session-open"
                  aria-current={row.session_id === current ? "page" : undefined}
                  onClick={() => onOpen(row.session_id)}
                >
                  <span class="session-title">{titleOf(row)}</span>
                  {row.agent === null && <span class="muted">not served here</span>}
                  {page.agents.length > 1 && row.agent != null && <span class="muted">{agentTitle(page, row.agent)}</span>}
                </button>
                {row.status !== undefined && <Status status={row.status} />}
                <SessionMenu row={row} scopes={page.scopes} onOpen={onOpen} onChanged={list.refresh} onDeleted={onDeleted} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function nothingFor(query: string, more: boolean): string {
  return `Nothing is found for “${query}”${more ? " in what is newest" : ""}.`;
}

function agentTitle({ agents }: PageInfo, name: string): string {
  return agents.find((one) => one.name === name)?.title || name;
}
