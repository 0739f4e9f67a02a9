/** Lines between messages: notices, how a turn ended, and marks where the context was shortened. */
import type { TurnState } from "../conversation";
import type { Compaction, Notice } from "../model";
import { Disclosure } from "./disclosure";
import { MarkIcon } from "./icons";
import { Markdown } from "../markdown/markdown";
import { Revealed } from "./revealed";

const SEVERITIES = ["warning", "error"] as const;

export function NoticeCard({ notice }: { notice: Notice }) {
  const severity = SEVERITIES.find((one) => one === notice.severity) ?? "info";
  return (
    <div class={`notice notice-${severity}`} role={severity === "error" ? "alert" : "status"}>
      <MarkIcon mark={severity} />
      <div>
        <span class="off-screen">{severity}: </span>
        <strong>
          <Revealed text={notice.title} what="controls" />
        </strong>
        {notice.description && (
          <div class="notice-text">
            <Revealed text={notice.description} what="controls" />
          </div>
        )}
        {notice.code && <code class="notice-code">{notice.code}</code>}
      </div>
    </div>
  );
}

const STOPS: Record<string, string> = {
  cancelled: "Stopped.",
  max_tokens: "The model's limit of tokens was reached. Say “go on” to continue.",
  max_turn_requests: "The limit of requests in one turn was reached. Say “go on” to continue.",
  refusal: "The agent declined to answer. Edit the message and try again.",
};

const NEXT_STEPS: Record<string, string> = {
  interrupted: "The process that ran this turn ended. Send the message again to go on.",
  authentication_required: "Log in to the agent, then send the message again.",
  agent_exited: "The agent's process is gone; it is started anew with the next message.",
  agent_protocol: "This is a fault of the agent. The inspector shows what it said.",
  agent_failed: "Send the message again, or another one. The inspector shows the whole turn.",
  workspace: "The agent cannot reach that file. Set right what is said above, or ask for something else.",
  authentication_failed: "Give the agent a key that its provider takes, start it again, then send the message again.",
  model_not_found: "Choose another model, then send the message again.",
  context_overflow: "Begin a new conversation, or fork this one after an earlier turn.",
  rate_limited: "Wait a moment, then send the message again.",
};

/** How a turn ended, where that is not the usual way; `silent` if nothing of it can be seen. */
export function TurnEnd({ turn, silent }: { turn: TurnState; silent: boolean }) {
  if (turn.status === "failed") {
    const code = turn.code ?? "error";
    return (
      <div class="notice notice-error" role="alert">
        <MarkIcon mark="error" />
        <div>
          <strong>{code === "interrupted" ? "Interrupted" : "The turn failed"}</strong>{" "}
          <code class="notice-code">{code}</code>
          <div class="notice-text">
            <Revealed text={turn.message ?? ""} what="controls" />
          </div>
          <div class="notice-next">{NEXT_STEPS[code] ?? "Send the message again; the inspector shows what happened."}</div>
        </div>
      </div>
    );
  }
  if (turn.status !== "finished") return null;
  if (turn.stop_reason === null || turn.stop_reason === "end_turn") {
    return silent ? <p class="turn-end" role="status">The agent ended its turn without an answer.</p> : null;
  }
  const text = STOPS[turn.stop_reason] ?? `Stopped: ${turn.stop_reason.replaceAll("_", " ")}.`;
  return (
    <p class={`turn-end turn-${turn.stop_reason}`} role="status">
      {text}
    </p>
  );
}

const COMPACTIONS: Record<string, string> = {
  in_progress: "Shortening the context",
  completed: "The context was shortened here",
  failed: "The context could not be shortened",
  cancelled: "Shortening the context was cancelled",
};

export function CompactionMark({ compaction }: { compaction: Compaction }) {
  const label = COMPACTIONS[compaction.status] ?? `Compaction: ${compaction.status}`;
  const about = compaction.summary || compaction.error;
  return (
    <div class={`compaction compaction-${compaction.status}`}>
      <MarkIcon mark="compact" />
      {about ? (
        <Disclosure label={label}>
          <Markdown text={about} />
        </Disclosure>
      ) : (
        <span role="status">{label}</span>
      )}
    </div>
  );
}
