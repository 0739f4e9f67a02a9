// Reads the answer to a screen reader: whole sentences as they come, and what the agent asks.

import { useEffect, useRef, useState } from "preact/hooks";
import type { Conversation } from "../model";

const PAUSE = 1500;
const LONGEST = 600;

interface Props {
  folded: Conversation;
  /** Whether a prompt of this page is on its way. */
  sending: boolean;
}

export function Announcer({ folded, sending }: Props) {
  const [said, setSaid] = useState("");
  const place = useRef<{ part: string; length: number } | null>(null);
  const latest = useRef(folded);
  latest.current = folded;
  // What was said before the page was opened is not read; a short turn may begin and end within one frame.
  const expecting = useRef(false);
  const running = sending || folded.turns.at(-1)?.status === "running";
  const question = [...folded.questions.values()].findLast(({ answered }) => answered === null)?.asked;

  useEffect(() => {
    if (question !== undefined) setSaid(`The agent asks: ${question.question.message || "may this tool run?"}`);
  }, [question?.question_id]);

  useEffect(() => {
    const read = (rest: boolean) => {
      const part = latest.current.messages.at(-1)?.parts.findLast((one) => one.type === "text");
      if (part?.type !== "text") return;
      const from = place.current?.part === part.part_id ? place.current.length : 0;
      const fresh = part.text.slice(from);
      const end = rest ? fresh.length : Math.max(fresh.lastIndexOf(". "), fresh.lastIndexOf("\n")) + 1;
      if (end <= 0) return;
      place.current = { part: part.part_id, length: from + end };
      setSaid(fresh.slice(Math.max(0, end - LONGEST), end).trim());
    };
    if (!running) {
      if (expecting.current) read(true);
      expecting.current = false;
      return undefined;
    }
    expecting.current = true;
    const timer = setInterval(() => read(false), PAUSE);
    return () => clearInterval(timer);
  }, [running]);

  return (
    <div class="off-screen" aria-live="polite" data-live>
      {said}
    </div>
  );
}
