// The conversation, newest at the end; what is long past is shown on demand.

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isRunning, type Conversation } from "../conversation";
import type { Answering } from "../questions/question";
import type { SessionState } from "../session";
import { Glyph } from "../shell/glyph";
import { Announcer } from "./announcer";
import { Boundary } from "./boundary";
import { TranscriptContext } from "./context";
import { useFollow } from "./follow";
import { ItemView } from "./lane_view";
import { layOut } from "./layout";
import { PersonContent } from "./person_message";

/** How many items are shown at first, and more with each click. */
const SHOWN = 60;
/** How many of them are drawn in one frame: a long past must not hold up the page. */
const AT_ONCE = 6;

interface Props {
  state: SessionState;
  answer: Answering;
  /** What stands here until something is said. */
  welcome: ComponentChildren;
}

export function Transcript({ state, answer, welcome }: Props) {
  const { conversation: folded, marks, sending, thoughts } = state;
  const [wanted, setWanted] = useState(SHOWN);
  const [drawn, setDrawn] = useState(AT_ONCE);
  const shown = Math.min(wanted, drawn);
  const { scroller, content, away, toEnd } = useFollow();
  const running = isRunning(folded);
  const lanes = useMemo(() => layOut(folded, marks), [folded, marks]);
  const items = lanes.get("") ?? [];
  const hidden = Math.max(0, items.length - shown);
  const more = items.length > drawn && drawn < wanted;
  useEffect(() => {
    if (!more) {
      // The past is drawn: what comes from now on must not hide for a moment what is long there.
      if (state.loaded && items.length > 0) setDrawn(wanted);
      return undefined;
    }
    // A timer, because frames do not come in a hidden tab.
    const timer = setTimeout(() => setDrawn((count) => count + AT_ONCE));
    return () => clearTimeout(timer);
  }, [more, drawn, state.loaded, items.length > 0]);
  // What is added above does not move what is being read.
  const fromEnd = useRef<number | null>(null);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element !== null && fromEnd.current !== null) element.scrollTop = element.scrollHeight - fromEnd.current;
    if (!more) fromEnd.current = null;
  }, [hidden]);
  const showEarlier = () => {
    const element = scroller.current;
    if (element !== null) fromEnd.current = element.scrollHeight - element.scrollTop;
    setWanted((count) => count + 2 * SHOWN);
  };
  const value = useMemo(() => ({ folded, lanes, running, thoughts, answer }), [folded, lanes, running, thoughts, answer]);
  useEffect(() => {
    if (sending.length > 0) toEnd();
  }, [sending.length]);
  return (
    <div class="scroller" ref={scroller} tabIndex={0} role="region" aria-label="Conversation">
      {state.loaded && items.length === 0 && sending.length === 0 && welcome}
      <div class="transcript" ref={content}>
        {hidden > 0 && !more && (
          <button type="button" class="earlier" onClick={showEarlier}>
            Show {hidden} earlier
          </button>
        )}
        <TranscriptContext.Provider value={value}>
          {items.slice(hidden).map((item, at) => (
            <Boundary key={item.key}>
              <ItemView item={item} growing={running && hidden + at === items.length - 1} />
            </Boundary>
          ))}
        </TranscriptContext.Provider>
        {sending.map(({ key, content: said }) => (
          <div key={key} class="message person on-the-way" aria-label="Your message, on its way">
            <div class="bubble">
              <PersonContent content={said} />
            </div>
            <p class="unconfirmed">Not sent yet. It is tried again until the server takes it.</p>
          </div>
        ))}
        {(sending.length > 0 || waitsForWords(folded)) && (
          <p class="working" role="status">
            <span class="off-screen">The agent is working</span>
            <i /> <i /> <i />
          </p>
        )}
      </div>
      {away && (
        <button type="button" class="to-end" onClick={toEnd}>
          <Glyph name="down" /> Newest
        </button>
      )}
      <Announcer folded={folded} sending={sending.length > 0} />
    </div>
  );
}

/** Whether the agent works and shows nothing that grows: no text at the end, no call at work, no question. */
function waitsForWords(folded: Conversation): boolean {
  const turn = folded.turns.at(-1);
  if (turn?.status !== "running") return false;
  const last = folded.messages.at(-1);
  if (last === undefined || last.role === "user") return true;
  const part = last.parts.at(-1);
  if (part?.type !== "call") return part === undefined;
  return folded.calls.get(part.call_id)?.status === "completed";
}
