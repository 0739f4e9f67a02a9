// What stands where nothing was said yet: who the agent is, and what it can do.

import type { ComponentChildren } from "preact";
import type { CommandInfo } from "../model";
import { StatusIcon } from "../cards/icons";
import { sentence, type AgentInfo } from "../net/api";
import { Words } from "./words";

const SUGGESTED = 6;

interface Props {
  agent: AgentInfo;
  commands: readonly CommandInfo[];
  /** Sends a prompt; null where none may be sent. */
  onStart: ((text: string) => void) | null;
  /** A choice of agents. */
  children?: ComponentChildren;
}

export function Welcome({ agent, commands, onStart, children }: Props) {
  return (
    <div class="welcome">
      <h2>{agent.title || agent.name}</h2>
      {agent.description && <p>{agent.description}</p>}
      {agent.ready === false && agent.error == null && (
        <p class="starting-agent" role="status">
          <StatusIcon status="in_progress" /> The agent is starting.
        </p>
      )}
      {agent.ready === false && agent.error != null && (
        <p class="problem" role="status">
          <Words text={sentence(agent.error)} />
        </p>
      )}
      {children}
      {commands.length > 0 && onStart !== null && (
        <ul class="starters" aria-label="Things to try">
          {commands.slice(0, SUGGESTED).map(({ name, description }) => (
            <li key={name}>
              <button type="button" onClick={() => onStart(`/${name}`)}>
                <strong>/{name}</strong>
                <span class="muted">{description}</span>
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
