// The head of a conversation: its title, agent, settings and usage.

import type { ComponentChildren } from "preact";
import { Glyph } from "./glyph";

interface Props {
  title: string;
  agent: string | null;
  children?: ComponentChildren;
  onMenu: () => void;
}

export function Header({ title, agent, children, onMenu }: Props) {
  return (
    <header class="header">
      <button type="button" class="quiet drawer-button" title="Conversations" aria-controls="conversations" onClick={onMenu}>
        <Glyph name="menu" /> <span class="off-screen">Conversations</span>
      </button>
      <div class="heading">
        <h1 title={title}>{title}</h1>
        {agent !== null && <span class="agent-name">{agent}</span>}
      </div>
      <div class="header-tools">{children}</div>
    </header>
  );
}
