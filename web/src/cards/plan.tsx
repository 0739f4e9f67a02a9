/** The agent's plan as a checklist. */
import type { PlanEntry } from "../model";
import { Disclosure } from "./disclosure";
import { StatusIcon } from "./icons";
import { revealed } from "./reveal";

const WORDS: Record<string, string> = { pending: "to do", in_progress: "in progress", completed: "done" };

export function PlanCard({ entries }: { entries: readonly PlanEntry[] }) {
  if (entries.length === 0) return null;
  const done = entries.filter((entry) => entry.status === "completed").length;
  const now = entries.find((entry) => entry.status === "in_progress");
  const label = (
    <>
      <span class="plan-title">Plan</span>{" "}
      <span class="muted">
        {done} of {entries.length} done{now ? ` · ${revealed(now.content)}` : ""}
      </span>
    </>
  );
  return (
    <section class="card plan" aria-label="Plan">
      <progress class="plan-progress" max={entries.length} value={done} aria-label="Steps done" />
      <Disclosure label={label} open={done < entries.length}>
        <ol>
          {entries.map((entry, index) => {
            const status = entry.status ?? "pending";
            return (
              <li key={index} class={`plan-entry plan-${status}`}>
                <StatusIcon status={status} />
                <span class="off-screen">{WORDS[status] ?? status}: </span>
                <span class="plan-text">{revealed(entry.content)}</span>
                {entry.priority === "high" && <span class="tag">high</span>}
              </li>
            );
          })}
        </ol>
      </Disclosure>
    </section>
  );
}
