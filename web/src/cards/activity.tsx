/** Structured work that an agent puts on show: its title, how far it is, and the rest as JSON. */
import { CodeBlock } from "../markdown/code";
import { Disclosure } from "./disclosure";
import { prettyJson } from "./json";
import { revealed } from "./reveal";

interface Props {
  id: string;
  content: Record<string, unknown>;
}

export function ActivityCard({ id, content }: Props) {
  const title = typeof content["title"] === "string" ? content["title"] : id;
  const done = percentOf(content);
  return (
    <section class="card activity" aria-label={`Activity: ${revealed(title)}`}>
      <Disclosure
        label={
          <>
            {revealed(title)} {done !== null && <span class="muted">{Math.round(done)} %</span>}
          </>
        }
      >
        <CodeBlock code={prettyJson(content)} language="json" />
      </Disclosure>
      {done !== null && <progress class="plan-progress" max={100} value={done} aria-label={revealed(title)} />}
    </section>
  );
}

function percentOf(content: Record<string, unknown>): number | null {
  for (const name of ["done", "progress", "percent"]) {
    const value = content[name];
    if (typeof value === "number" && value >= 0 && value <= 100) return value;
  }
  return null;
}
