/** What a subagent did, set apart from what the agent itself says. */
import type { ComponentChildren } from "preact";
import type { LaneState } from "../conversation";
import { Disclosure } from "./disclosure";
import { MarkIcon, StatusIcon } from "./icons";
import { prettyJson } from "./json";
import { revealed } from "./reveal";

interface Props {
  lane: LaneState;
  running: boolean;
  children: ComponentChildren;
}

export function LaneCard({ lane, running, children }: Props) {
  const name = revealed(lane.name || "subagent");
  const outcome = lane.outcome ?? (running ? "in_progress" : "cancelled");
  const result = typeof lane.result === "string" ? lane.result : lane.result == null ? "" : prettyJson(lane.result);
  const label = (
    <>
      <MarkIcon mark="lane" /> <strong>{name}</strong>
      {lane.description && <span class="muted"> {revealed(lane.description)}</span>}
      <span class={`lane-status status-${outcome}`}>
        <StatusIcon status={outcome} />
        <span class="off-screen">{outcome.replaceAll("_", " ")}</span>
      </span>
    </>
  );
  return (
    <section class="lane" aria-label={`Subagent ${name}`}>
      <Disclosure label={label} open={outcome !== "completed"}>
        <div class="lane-body">
          {children}
          {lane.message && <p class="tool-reason">{revealed(lane.message)}</p>}
          {result && (
            <p class="lane-result">
              <span class="muted">Result: </span>
              {revealed(result)}
            </p>
          )}
        </div>
      </Disclosure>
    </section>
  );
}
