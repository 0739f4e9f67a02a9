/** Who has the focus while a question is open.
 *
 * A question takes the focus so that it can be answered by one key. It must not take it from somebody who types: an
 * "a" that was meant for a message would allow what nobody looked at. So it waits for an empty field and a pause,
 * and keys count only a moment after the focus has moved.
 */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { STAY } from "../transcript/follow";

const PAUSE = 700; // milliseconds without a key
const ARMING = 500; // milliseconds before keys count

let lastKey = -PAUSE;
if (typeof document !== "undefined") {
  document.addEventListener("keydown", () => (lastKey = performance.now()), { capture: true, passive: true });
}

const OPEN = ".question[data-open]";

function isField(element: Element | null): element is HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement {
  return element !== null && /^(?:input|textarea|select)$/i.test(element.tagName);
}

/** Whether an element is where a person types, so that its keys are not answers. */
export function takesKeys(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (isField(target) || target.isContentEditable);
}

/** How long to wait before the focus may be taken; null when somebody writes, or another question has it. */
function focusWait(): number | null {
  const active = document.activeElement;
  if (active?.closest(OPEN)) return null;
  if (!isField(active)) return 0;
  // The key that sent the message is often the last one.
  return active.value === "" ? Math.max(0, PAUSE - (performance.now() - lastKey)) : null;
}

export interface QuestionFocus {
  /** Whether keys count already. */
  armed: boolean;
  /** Lets keys count again only after a moment, because what they would answer has changed. */
  rearm: () => void;
}

/** Moves the focus to a question when it is put, and on when it is answered. */
export function useQuestionFocus(card: { current: HTMLElement | null }, open: boolean): QuestionFocus {
  const [armed, setArmed] = useState(false);
  const arming = useRef(0);
  const rearm = useCallback(() => {
    setArmed(false);
    clearTimeout(arming.current);
    arming.current = window.setTimeout(() => setArmed(true), ARMING);
  }, []);
  const had = useRef(false);
  useEffect(() => {
    const element = card.current;
    if (!open || element === null) return undefined;
    const enter = (event: FocusEvent): void => {
      had.current = true;
      if (!element.contains(event.relatedTarget as Node | null)) rearm();
    };
    const leave = (event: FocusEvent): void => {
      // Without a new place the focus is lost because the question is over, not because a person left.
      if (event.relatedTarget !== null) had.current = element.contains(event.relatedTarget as Node);
    };
    element.addEventListener("focusin", enter);
    element.addEventListener("focusout", leave);
    let waiting = 0;
    const take = (): void => {
      const wait = focusWait();
      if (wait === null) return;
      if (wait > 0) {
        waiting = window.setTimeout(take, wait);
        return;
      }
      // Of several that were put at once, the first is answered first.
      const first = document.querySelector<HTMLElement>(OPEN) ?? element;
      first.focus({ preventScroll: true });
      showQuestion(first);
    };
    take();
    return () => {
      clearTimeout(arming.current);
      clearTimeout(waiting);
      element.removeEventListener("focusin", enter);
      element.removeEventListener("focusout", leave);
      if (had.current) queueMicrotask(focusNext);
    };
  }, [card, open]);
  return { armed, rearm };
}

/** Brings a question into sight: a long form is read from its beginning, of a permission the answers are needed. */
function showQuestion(card: HTMLElement): void {
  if (!card.matches(".question-form")) return card.scrollIntoView({ block: "nearest" });
  card.scrollIntoView({ block: "start" });
  card.dispatchEvent(new Event(STAY, { bubbles: true }));
}

/** Goes to the next open question, or back to where messages are written. */
function focusNext(): void {
  const next = document.querySelector<HTMLElement>(OPEN) ?? document.querySelector<HTMLElement>("[data-composer]");
  next?.focus();
}
