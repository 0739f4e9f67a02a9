/** What the agent thought before it answered: one line, and the whole for those who want it. */
import { Disclosure } from "./disclosure";
import { Markdown } from "../markdown/markdown";

interface Props {
  text: string;
  streaming?: boolean;
  /** How long the agent thought. */
  seconds?: number | undefined;
}

export function ThoughtCard({ text, streaming = false, seconds }: Props) {
  const label = streaming ? "Thinking" : seconds === undefined ? "Thought" : `Thought for ${duration(seconds)}`;
  return (
    <div class={streaming ? "thought thought-growing" : "thought"}>
      <Disclosure label={label}>
        {text ? <Markdown text={text} streaming={streaming} /> : <p class="muted">The agent does not show this thought.</p>}
      </Disclosure>
    </div>
  );
}

/** Gives a time as people say it. */
export function duration(seconds: number): string {
  if (seconds < 1) return "a moment";
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${Math.round(seconds % 60)} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
