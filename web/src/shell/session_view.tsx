// One conversation, live.

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { PlanCard } from "../cards/plan";
import { Composer } from "../composer/composer";
import { Queue } from "../composer/queue";
import { Inspector } from "../inspector/inspector";
import { isRunning } from "../conversation";
import type { Answer, Content, Message, Prompt } from "../model";
import { textOf } from "../model";
import { api, request, sessionPath, type PageInfo, type SessionRow } from "../net/api";
import { LiveSession } from "../session";
import { useStore } from "../store";
import { Transcript } from "../transcript/transcript";
import { TurnActions } from "../transcript/turn_actions";
import { Confirm } from "./dialog";
import { Glyph } from "./glyph";
import { Header } from "./header";
import { LinkBanner } from "./link_banner";
import { Options } from "./options";
import { SessionMenu, titleOf } from "./session_menu";
import { focusComposer, onShortcut } from "./shortcuts";
import { tell, tellError } from "./toasts";
import { UsageMeter } from "./usage";
import { Welcome } from "./welcome";

interface Props {
  page: PageInfo;
  sessionId: string;
  /** What the list knows of it. */
  row: SessionRow | undefined;
  /** What begins a new session. */
  first: Content[] | null;
  onStarted: () => void;
  onOpen: (sessionId: string) => void;
  onChanged: () => void;
  onDeleted: (sessionId: string) => void;
  onLoggedOut: () => void;
  onMenu: () => void;
}

export function SessionView(props: Props) {
  const { page, sessionId, first, onStarted, onOpen, onChanged, onDeleted, onLoggedOut, onMenu } = props;
  const [live, setLive] = useState<LiveSession | null>(null);
  const [unsent, setUnsent] = useState<Content[] | null>(null);
  useEffect(() => {
    const made = new LiveSession(sessionId);
    setLive(made);
    if (first !== null) {
      made.prompt(first, "queue").catch((error: unknown) => {
        setUnsent(first);
        tellError(error);
      });
      onStarted();
    }
    return () => made.close();
  }, [sessionId]);
  const row = useRow(sessionId, props.row);
  if (live === null || row === null) {
    return (
      <>
        <Header title="" agent={null} onMenu={onMenu} />
        <p class="starting muted">Loading</p>
      </>
    );
  }
  return <Live {...{ page, live, row, unsent, setUnsent, onOpen, onChanged, onDeleted, onLoggedOut, onMenu }} />;
}

/** What is known of a session; one that has not begun is not in the list. */
function useRow(sessionId: string, listed: SessionRow | undefined): SessionRow | null {
  const [asked, setAsked] = useState<SessionRow | null>(null);
  useEffect(() => {
    if (listed !== undefined) return;
    request<{ session: SessionRow }>(`${sessionPath(sessionId)}?limit=1`).then(
      ({ session }) => setAsked(session),
      () => setAsked({ session_id: sessionId, created_at: 0, updated_at: 0 }),
    );
  }, [sessionId, listed === undefined]);
  // A search may take it off the list: it is still the one that is open.
  const last = useRef(listed);
  last.current = listed ?? last.current;
  return last.current ?? asked;
}

type LiveProps = Omit<Props, "sessionId" | "row" | "first" | "onStarted"> & {
  live: LiveSession;
  row: SessionRow;
  unsent: Content[] | null;
  setUnsent: (content: Content[]) => void;
};

function Live(props: LiveProps) {
  const { page, live, row, unsent, setUnsent, onOpen, onChanged, onDeleted, onLoggedOut, onMenu } = props;
  const state = useStore(live.state);
  const { conversation: folded, link } = state;
  const [, redraw] = useState(0);
  const [inspecting, setInspecting] = useState(false);
  const [repeating, setRepeating] = useState<Message | null>(null);
  const running = isRunning(folded);
  const turn = folded.turns.at(-1);
  const agent = page.agents.find((one) => one.name === row.agent) ?? (page.agents.length === 1 && row.agent !== null ? page.agents[0] : undefined);
  const commands = folded.commands.length > 0 ? folded.commands : (agent?.commands ?? []);
  const canPrompt = page.scopes.includes("prompt");
  const title = folded.title ?? titleOf(row);
  const waits = [...folded.questions.values()].some(({ answered }) => answered === null) && running;
  const latest = useRef(folded);
  latest.current = folded;

  useEffect(() => {
    document.title = `${waits ? "● " : ""}${title} – Trunkline`;
  }, [title, waits]);
  useEffect(() => onChanged(), [folded.turns.length, folded.title, running, waits]);
  useEffect(() => {
    if (link.state !== "refused") return;
    if (link.error.status === 401) onLoggedOut();
    else if (link.error.status !== 404) tell(link.error.message);
  }, [link]);

  const stop = useCallback(() => {
    const at = latest.current.turns.at(-1);
    if (at !== undefined) live.send({ type: "cancel", turn_id: at.turn_id }).catch(tellError);
  }, [live]);
  useEffect(
    () =>
      onShortcut({
        Escape: () => running && (stop(), true),
        "Alt+i": () => (setInspecting((shown) => !shown), true),
      }),
    [running, stop],
  );

  const answer = useCallback(
    async (command: Answer) => {
      await live.send(command);
    },
    [live],
  );
  const edit = useCallback(
    async (message: Message, content: Content[]) => {
      const { messages } = latest.current;
      const at = messages.findIndex((one) => one.message_id === message.message_id);
      if (at < 0) {
        // Before nothing that is there is before everything.
        setUnsent(content);
        return tell("The message was taken back meanwhile. Its words are in the field for messages.");
      }
      const before = messages[at - 1]?.message_id ?? null;
      // What had the focus goes with the message. In the next frame, when a dialog that asked is gone.
      requestAnimationFrame(() => focusComposer());
      try {
        await live.replace(before, content);
      } catch (error) {
        setUnsent(content);
        tellError(error);
      }
    },
    [live],
  );
  const again = useCallback(
    (message: Message) => {
      const { messages } = latest.current;
      const at = messages.findIndex((one) => one.message_id === message.message_id);
      const later = messages.slice(at + 1).some(({ role, lane }) => role === "user" && lane === null);
      if (later) setRepeating(message);
      else void edit(message, message.content);
    },
    [edit],
  );
  const fork = useCallback(
    async (message: Message) => {
      const last = latest.current.messages.findLast((one) => one.turn_id === message.turn_id) ?? message;
      try {
        const made = await api.fork(live.id, last.message_id);
        onChanged();
        onOpen(made.session_id);
      } catch (error) {
        tellError(error);
      }
    },
    [live],
  );
  const actions = useMemo(
    () => ({
      canPrompt,
      edit: (message: Message, content: Content[]) => void edit(message, content),
      again,
      fork: (message: Message) => void fork(message),
    }),
    [canPrompt, edit, again, fork],
  );
  const history = useMemo(
    () => folded.messages.filter((one) => one.role === "user").map((one) => textOf(one.content.filter((block) => block.type === "text"))),
    [folded.messages.length],
  );

  if (link.state === "refused" && link.error.status === 404) {
    return (
      <>
        <Header title="Not found" agent={null} onMenu={onMenu} />
        <div class="scroller">
          <div class="welcome">
            <h2>This conversation is not here</h2>
            <p>It was deleted, or it belongs to somebody else. Choose another one, or begin a new one.</p>
          </div>
        </div>
      </>
    );
  }
  return (
    <>
      <Header title={title} agent={row.agent === null ? "not served here" : agent?.title || row.agent || null} onMenu={onMenu}>
        <Options
          options={folded.options.length > 0 ? folded.options : (agent?.options ?? [])}
          disabled={!page.scopes.includes("answer")}
          onChange={(option_id, value) =>
            live.send({ type: "set_config", option_id, value }).catch((error: unknown) => {
              // The field shows the present value again.
              redraw((count) => count + 1);
              tellError(error);
            })
          }
        />
        <UsageMeter folded={folded} />
        <button
          type="button"
          class="quiet"
          title="Inspector (Alt I)"
          aria-pressed={inspecting}
          onClick={() => setInspecting(!inspecting)}
        >
          <Glyph name="inspect" /> <span class="off-screen">Inspector</span>
        </button>
        <SessionMenu row={{ ...row, title }} scopes={page.scopes} onOpen={onOpen} onChanged={onChanged} onDeleted={onDeleted} />
      </Header>
      {repeating !== null && (
        <Confirm
          title="Answer again?"
          text="What was said after this message is taken back, for every front end. A fork keeps it."
          action="Answer again"
          onClose={() => setRepeating(null)}
          onConfirm={() => void edit(repeating, repeating.content)}
        />
      )}
      <LinkBanner link={link} onRetry={() => live.retry()} />
      <div class="session-body">
        <div class="talk">
          <TurnActions.Provider value={actions}>
            <Transcript
              key={live.id}
              state={state}
              answer={page.scopes.includes("answer") ? answer : null}
              welcome={
                agent !== undefined && (
                  <Welcome
                    agent={agent}
                    commands={commands}
                    onStart={canPrompt ? (text) => void live.prompt([{ type: "text", text }]).catch(tellError) : null}
                  />
                )
              }
            />
          </TurnActions.Provider>
          <div class="dock">
            {(state.planTurn === null || state.planTurn === turn?.turn_id) && <PlanCard entries={folded.plan} />}
            <Queue
              queued={folded.queued}
              waiting={state.waiting}
              onDrop={(prompt_id) => live.send({ type: "drop_prompt", prompt_id }).catch(tellError)}
            />
            <Composer
              key={live.id}
              sessionId={live.id}
              agent={agent}
              commands={commands}
              folder={row.cwd ?? null}
              history={history}
              running={running}
              disabled={!canPrompt}
              bodyLimit={page.limits?.body_bytes}
              unsent={unsent}
              onSend={async (content: Content[], busy: Prompt["busy"]) => {
                await live.prompt(content, busy);
              }}
              onStop={stop}
              onProblem={tell}
            />
          </div>
        </div>
        {inspecting && (
          <Inspector
            sessionId={live.id}
            turns={folded.turns}
            {...(turn === undefined ? {} : { turnId: turn.turn_id })}
            load={(path) => request(path)}
            onClose={() => setInspecting(false)}
          />
        )}
      </div>
    </>
  );
}
