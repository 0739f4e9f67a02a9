// The whole page: who is logged in, which conversation is open, and the list beside it.

import { useCallback, useEffect, useLayoutEffect, useState } from "preact/hooks";
import { decoded, type Content } from "../model";
import { api, Refused, type PageInfo } from "../net/api";
import { Help } from "./help";
import { Login, takeCode } from "./login";
import { NewView } from "./new_view";
import { SessionView } from "./session_view";
import { useSessions } from "./sessions";
import { focusComposer, onShortcut } from "./shortcuts";
import { Sidebar } from "./sidebar";
import { tellError, Toasts } from "./toasts";
import { Words } from "./words";

type Phase = { name: "starting" } | { name: "login"; reason: string | null } | { name: "failed"; message: string } | { name: "ready"; page: PageInfo };

export function App() {
  const [phase, setPhase] = useState<Phase>({ name: "starting" });
  const start = useCallback(async (code: string | null) => {
    let reason: string | null = null;
    if (code !== null) {
      try {
        await api.login({ code });
      } catch (error) {
        // Somebody who is logged in already may follow a link that was used.
        reason = (error as Error).message;
      }
    }
    try {
      setPhase({ name: "ready", page: await api.page() });
    } catch (error) {
      if (error instanceof Refused && error.status === 401) setPhase({ name: "login", reason });
      else setPhase({ name: "failed", message: (error as Error).message });
    }
  }, []);
  useEffect(() => {
    void start(takeCode());
    // A new link may be opened in this tab.
    const onHash = () => {
      const code = takeCode();
      if (code !== null) void start(code);
    };
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  switch (phase.name) {
    case "starting":
      return <p class="starting muted">Loading</p>;
    case "login":
      return <Login reason={phase.reason} onDone={() => void start(null)} />;
    case "failed":
      return (
        <main class="login">
          <form onSubmit={(event) => event.preventDefault()}>
            <h1>Trunkline</h1>
            <p class="problem" role="alert">
              <Words text={phase.message} />
            </p>
            <button type="button" class="primary" onClick={() => void start(null)}>
              Try again
            </button>
          </form>
        </main>
      );
    case "ready":
      return (
        <Workspace
          page={phase.page}
          onPage={(page) => setPhase({ name: "ready", page })}
          onLoggedOut={() => setPhase({ name: "login", reason: null })}
        />
      );
  }
}

/** The session that the address names. */
function addressed(): string | null {
  const found = /^#\/s\/(.+)$/.exec(location.hash);
  return found === null ? null : decoded(found[1] ?? "");
}

/** Where the list is a drawer, as narrow.css has it. */
const NARROW = "(max-width: 52rem)";
/** How often an agent that is not ready is asked again, in milliseconds. */
const ASK_AGAIN = 2000;

interface WorkspaceProps {
  page: PageInfo;
  onPage: (page: PageInfo) => void;
  onLoggedOut: () => void;
}

function Workspace({ page, onPage, onLoggedOut }: WorkspaceProps) {
  const [current, setCurrent] = useState(addressed);
  const [agent, setAgent] = useState(page.agents[0]?.name ?? "");
  const [first, setFirst] = useState<Content[] | null>(null);
  const [query, setQuery] = useState("");
  const [drawer, setDrawer] = useState(false);
  const [help, setHelp] = useState(false);
  const list = useSessions(query);

  useEffect(() => {
    const onHash = () => setCurrent(addressed());
    addEventListener("hashchange", onHash);
    return () => removeEventListener("hashchange", onHash);
  }, []);
  useEffect(() => {
    if (list.problem instanceof Refused && list.problem.status === 401) onLoggedOut();
  }, [list.problem]);
  useEffect(() => {
    if (matchMedia("(pointer: fine)").matches) focusComposer();
    if (current === null) document.title = "Trunkline";
  }, [current, agent]);

  useEffect(() => {
    if (page.agents.every(({ ready }) => ready !== false)) return undefined;
    const timer = setTimeout(() => void api.page().then(onPage, () => onPage({ ...page })), ASK_AGAIN);
    return () => clearTimeout(timer);
  }, [page]);

  const open = useCallback((sessionId: string | null) => {
    setCurrent(sessionId);
    setDrawer(false);
    const address = sessionId === null ? location.pathname + location.search : `#/s/${encodeURIComponent(sessionId)}`;
    history.pushState(null, "", address);
  }, []);
  const begin = useCallback((name: string) => {
    setAgent(name);
    open(null);
    requestAnimationFrame(focusComposer);
  }, []);
  const deleted = useCallback(
    (sessionId: string) => {
      list.forget(sessionId);
      if (sessionId === current) open(null);
    },
    [current, list.forget],
  );
  const move = (step: 1 | -1): boolean => {
    const at = list.rows.findIndex((row) => row.session_id === current);
    const row = list.rows[at === -1 ? 0 : at + step];
    if (row !== undefined) open(row.session_id);
    return true;
  };
  useEffect(() =>
    onShortcut({
      "?": () => (setHelp(true), true),
      "/": focusComposer,
      "Alt+n": () => (begin(agent), true),
      "Alt+k": () => (openDrawer("#search"), true),
      "Alt+ArrowDown": () => move(1),
      "Alt+ArrowUp": () => move(-1),
    }),
  );

  // With the frame that shows the list or hides it: a key just after it must not be taken for what was there before.
  useLayoutEffect(() => {
    if (!drawer) return undefined;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key !== "Escape" || (event.target as Element).closest("[role=menu], dialog") !== null) return;
      event.preventDefault();
      // It would stop the agent behind the list.
      event.stopPropagation();
      closeDrawer();
    };
    document.addEventListener("keydown", onKeyDown, { capture: true });
    return () => document.removeEventListener("keydown", onKeyDown, { capture: true });
  }, [drawer]);

  // In a wide window the list is always there, and only gets the focus.
  const openDrawer = (focus: string) => {
    setDrawer(matchMedia(NARROW).matches);
    requestAnimationFrame(() => requestAnimationFrame(() => document.querySelector<HTMLElement>(focus)?.focus()));
  };
  const closeDrawer = () => {
    setDrawer(false);
    document.querySelector<HTMLElement>(".drawer-button")?.focus();
  };
  const logout = () => void api.logout().then(onLoggedOut, tellError);
  const info = page.agents.find((one) => one.name === agent) ?? page.agents[0];
  const shared = { page, onMenu: () => openDrawer(".sidebar button") };
  return (
    <div class={drawer ? "shell drawer-open" : "shell"}>
      <a class="skip" href="#main" onClick={(event) => (event.preventDefault(), focusComposer())}>
        Skip to the message field
      </a>
      <Sidebar
        page={page}
        list={list}
        query={query}
        onQuery={setQuery}
        current={current}
        onOpen={open}
        onNew={begin}
        onDeleted={deleted}
        onLogout={logout}
        onHelp={() => setHelp(true)}
      />
      <div class="shade" onClick={closeDrawer} />
      <main class="main" id="main">
        {current !== null ? (
          <SessionView
            key={current}
            {...shared}
            sessionId={current}
            row={list.rows.find((row) => row.session_id === current)}
            first={first}
            onStarted={() => setFirst(null)}
            onOpen={open}
            onChanged={list.refresh}
            onDeleted={deleted}
            onLoggedOut={onLoggedOut}
          />
        ) : info === undefined ? (
          <p class="empty">This server has no agents. Start it with one: trunkline serve TARGET</p>
        ) : (
          <NewView
            {...shared}
            agent={info}
            onAgent={setAgent}
            onMade={(sessionId, content) => {
              setFirst(content);
              open(sessionId);
            }}
          />
        )}
      </main>
      {help && <Help onClose={() => setHelp(false)} />}
      <Toasts />
    </div>
  );
}
