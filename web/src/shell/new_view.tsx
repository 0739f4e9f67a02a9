// A conversation that has not begun: which agent, and what it can do.

import { useRef, useState } from "preact/hooks";
import { Composer } from "../composer/composer";
import { moveDraft } from "../composer/drafts";
import type { Content } from "../model";
import { api, sendCommand, type AgentInfo, type PageInfo } from "../net/api";
import { Header } from "./header";
import { Options } from "./options";
import { tell, tellError } from "./toasts";
import { Welcome } from "./welcome";

interface Props {
  page: PageInfo;
  agent: AgentInfo;
  onAgent: (name: string) => void;
  /** The session is there; a first prompt is sent by it. */
  onMade: (sessionId: string, first: Content[] | null) => void;
  onMenu: () => void;
}

export function NewView({ page, agent, onAgent, onMade, onMenu }: Props) {
  const [busy, setBusy] = useState(false);
  const starting = useRef(false);
  const canPrompt = page.scopes.includes("prompt");
  const make = async (): Promise<string> => (await api.create(agent.name)).session_id;
  const setOption = async (optionId: string, value: string | boolean) => {
    setBusy(true);
    try {
      const id = await make();
      await sendCommand(id, { type: "set_config", option_id: optionId, value });
      moveDraft(id);
      onMade(id, null);
    } catch (error) {
      tellError(error);
    }
    setBusy(false);
  };
  const begin = async () => {
    const id = await make();
    moveDraft(id);
    onMade(id, null);
  };
  const send = async (content: Content[]) => onMade(await make(), content);
  const start = (text: string) => {
    // A double click begins one conversation.
    if (starting.current) return;
    starting.current = true;
    send([{ type: "text", text }])
      .catch(tellError)
      .finally(() => (starting.current = false));
  };
  const commands = agent.commands ?? [];
  return (
    <>
      <Header title="New conversation" agent={agent.title || agent.name} onMenu={onMenu}>
        <Options
          options={agent.options ?? []}
          disabled={busy || !page.scopes.includes("answer")}
          onChange={(id, value) => void setOption(id, value)}
        />
      </Header>
      <div class="scroller">
        <Welcome
          agent={agent}
          commands={commands}
          onStart={canPrompt ? start : null}
        >
          {page.agents.length > 1 && (
            <div class="agents" role="group" aria-label="Agent">
              {page.agents.map((one) => (
                <button key={one.name} type="button" aria-pressed={one.name === agent.name} onClick={() => onAgent(one.name)}>
                  {one.title || one.name}
                </button>
              ))}
            </div>
          )}
        </Welcome>
      </div>
      <div class="dock">
        <Composer
          key={agent.name}
          sessionId={null}
          agent={agent}
          commands={commands}
          folder={null}
          history={[]}
          running={false}
          disabled={!canPrompt}
          bodyLimit={page.limits?.body_bytes}
          onNeedSession={() => void begin().catch(tellError)}
          onSend={send}
          onStop={() => {}}
          onProblem={tell}
        />
      </div>
    </>
  );
}
