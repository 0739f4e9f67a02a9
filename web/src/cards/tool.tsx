/** The card of a tool call: what it does, with what, how it stands and what came of it. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import type { Call } from "../conversation";
import type { Content, Location } from "../model";
import { CodeBlock } from "../markdown/code";
import { oneLine, summaryOf } from "./call_summary";
import { ContentBlock, type Terminals } from "./content";
import { Disclosure } from "./disclosure";
import { KindIcon, MarkIcon, StatusIcon } from "./icons";
import { prettyJson, prettyText } from "./json";
import { revealed } from "./reveal";
import { Output } from "./terminal";

const STATUS_WORDS: Record<string, string> = {
  pending: "waiting",
  in_progress: "running",
  completed: "done",
  failed: "failed",
  denied: "denied",
  cancelled: "cancelled",
};

interface Props {
  call: Call;
  terminals: Terminals;
  /** A question about it is open and shows all of it: the card keeps to its head. */
  asking?: boolean;
  /** What subagents of this call said. */
  children?: ComponentChildren;
}

export function ToolCard({ call, terminals, asking = false, children }: Props) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const body = useId();
  const title = revealed((call.title || call.name).replace(/\?$/, ""));
  const shown = chosen ?? (!asking && opensItself(call, children));
  const word = STATUS_WORDS[call.status] ?? call.status.replaceAll("_", " ");
  const summary = shown || asking ? "" : summaryOf(call);
  return (
    <article class={`card tool tool-${call.status}`} data-call={call.call_id} data-status={call.status} aria-label={`Tool: ${title}`}>
      <button
        type="button"
        class="tool-head"
        aria-expanded={shown}
        aria-controls={shown ? body : undefined}
        onClick={() => setChosen(!shown)}
      >
        <KindIcon kind={call.kind} />
        <span class="tool-title">{title}</span>
        {summary && <span class="tool-summary">{summary}</span>}
        {!call.trusted && <span class="tag">imported</span>}
        <span class={`tool-status status-${call.status}`}>
          <StatusIcon status={call.status} />
          {word}
        </span>
        <MarkIcon mark="chevron" />
      </button>
      {call.reason && call.status !== "completed" && <p class="tool-reason">{revealed(call.reason)}</p>}
      {shown && (
        <div class="tool-body" id={body}>
          <Details call={call} terminals={terminals} />
          {children}
        </div>
      )}
    </article>
  );
}

function Details({ call, terminals }: { call: Call; terminals: Terminals }) {
  const hasInput = call.input !== null || call.arguments !== "";
  const input = call.input !== null ? prettyJson(call.input) : prettyText(call.arguments);
  return (
    <>
      <div class="tool-facts">
        <code class="tool-name">{revealed(call.name)}</code>
        <Locations locations={call.locations} />
      </div>
      {hasInput && (
        <Disclosure label={<>Input <span class="muted in-short">{oneLine(input)}</span></>} class="tool-input">
          <CodeBlock code={input} language="json" />
        </Disclosure>
      )}
      {call.output && <Output output={call.output} label="Output of the tool" />}
      {call.content.map((block, index) => (
        <ContentBlock key={index} block={block} terminals={terminals} plain={isPlain(block)} />
      ))}
      {call.raw_output !== null && (
        <Disclosure label={<>Raw result <span class="muted in-short">{oneLine(prettyJson(call.raw_output))}</span></>}>
          <CodeBlock code={prettyJson(call.raw_output)} language="json" />
        </Disclosure>
      )}
    </>
  );
}

export function Locations({ locations }: { locations: readonly Location[] }) {
  if (locations.length === 0) return null;
  return (
    <ul class="locations" aria-label="Files">
      {locations.map((place, index) => (
        <li key={index} title={revealed(place.path)}>
          <MarkIcon mark="file" />
          <span class="location-path">{revealed(place.path)}</span>
          {place.line != null && <span class="location-line">:{place.line}</span>}
        </li>
      ))}
    </ul>
  );
}

/** Cards with something to look at are open by themselves; the others are one line. */
function opensItself(call: Call, children: ComponentChildren): boolean {
  const shows = new Set(["diff", "image", "audio", "video", "terminal"]);
  const hasChildren = Array.isArray(children) ? children.some(Boolean) : Boolean(children);
  return hasChildren || call.content.some((block) => shows.has(block.type));
}

/** Most tools give plain text; what looks like Markdown is shown as such. */
function isPlain(block: Content): boolean {
  return block.type === "text" && !/^(?:#{1,6} |\|.*\||```|[*-] |\d+\. )|\*\*|\]\(/m.test(block.text.slice(0, 4000));
}
