// An answer: its parts in their order, with the cards of its calls.

import { memo } from "preact/compat";
import { useContext } from "preact/hooks";
import { CopyButton } from "../cards/clipboard";
import { ContentBlock, SourceList } from "../cards/content";
import { Markdown } from "../markdown/markdown";
import { ThoughtCard } from "../cards/thought";
import type { Message, Part, SourcePart, ThoughtPart } from "../model";
import { thoughtKey } from "../thought_times";
import { CallSlot } from "./call_slot";
import { NO_TERMINALS, TranscriptContext } from "./context";

interface Props {
  message: Message;
  /** Whether more of it may come. */
  growing: boolean;
}

export const AgentMessage = memo(function AgentMessage({ message, growing }: Props) {
  const thoughts = message.parts.filter((part) => part.type === "thought");
  const sources = message.parts.filter((part): part is SourcePart => part.type === "source");
  return (
    <article class="message agent" aria-label="Answer" data-message={message.message_id}>
      {message.parts.map((part, at) => (
        <PartView
          key={part.part_id}
          part={part}
          thought={part.type === "thought" ? thoughtKey(message.message_id, thoughts.indexOf(part)) : ""}
          growing={growing && at === message.parts.length - 1}
        />
      ))}
      {sources.length > 0 && <SourceList sources={sources} />}
      {!growing && message.lane === null && message.parts.some((part) => part.type === "text") && (
        <div class="message-tools">
          <CopyButton text={() => textOfParts(message)} label="Copy answer" />
        </div>
      )}
      {!message.trusted && <p class="untrusted">Brought along by a client; this session has not seen it happen.</p>}
    </article>
  );
});

interface PartProps {
  part: Part;
  /** The name of a thought. */
  thought: string;
  growing: boolean;
}

const PartView = memo(function PartView({ part, thought, growing }: PartProps) {
  switch (part.type) {
    case "text":
      return <Markdown text={part.text} streaming={growing} />;
    case "thought":
      return <TimedThought part={part} name={thought} growing={growing} />;
    case "media":
      return <ContentBlock block={part.content} terminals={NO_TERMINALS} />;
    case "call":
      return <CallPart callId={part.call_id} />;
    case "source":
      return null;
  }
});

function TimedThought({ part, name, growing }: { part: ThoughtPart; name: string; growing: boolean }) {
  const { thoughts } = useContext(TranscriptContext);
  return <ThoughtCard text={part.text} streaming={growing && part.signature === null} seconds={thoughts.get(name)} />;
}

function textOfParts(message: Message): string {
  return message.parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n\n");
}

function CallPart({ callId }: { callId: string }) {
  const { folded } = useContext(TranscriptContext);
  const call = folded.calls.get(callId);
  return call === undefined ? null : <CallSlot call={call} />;
}
