// Prompts that wait for the running turn, each with a way to take it back.

import type { Content } from "../model";
import { textOf } from "../model";
import { Glyph } from "../shell/glyph";

interface Props {
  queued: readonly string[];
  waiting: ReadonlyMap<string, Content[]>;
  onDrop: (promptId: string) => void;
}

export function Queue({ queued, waiting, onDrop }: Props) {
  if (queued.length === 0) return null;
  return (
    <ul class="queue" aria-label="Waiting messages">
      {queued.map((id) => (
        <li key={id}>
          <Glyph name="clock" />
          <span class="name">{textOf(waiting.get(id) ?? []) || "A message without text"}</span>
          <button type="button" class="quiet" title="Take it back" onClick={() => onDrop(id)}>
            <Glyph name="close" /> <span class="off-screen">Take back</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
