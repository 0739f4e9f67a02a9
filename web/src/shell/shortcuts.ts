// Keys that work anywhere on the page, unless something nearer has used them.

type Action = () => boolean | void;

/** Watch for keys; an action that returns true has used its key. Gives the way to stop. */
export function onShortcut(actions: Record<string, Action>): () => void {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.defaultPrevented || isComposing(event) || event.ctrlKey || event.metaKey) return;
    const key = keyOf(event);
    const name = event.altKey ? `Alt+${key}` : key;
    // A letter in a field is a letter, and Escape belongs to the field, unless it is the one for messages.
    if (key.length === 1 && !event.altKey && isTyping(event.target)) return;
    if (key === "Escape" && isTyping(event.target) && !(event.target as Element).matches("[data-composer]")) return;
    if (actions[name]?.() === true) event.preventDefault();
  };
  document.addEventListener("keydown", onKeyDown);
  return () => document.removeEventListener("keydown", onKeyDown);
}

/** The key; with Alt a Mac gives another letter, so there it is the one on the key, unless somebody may be writing it. */
function keyOf({ key, code, altKey, target }: KeyboardEvent): string {
  const letter = /^Key([A-Z])$/.exec(code)?.[1];
  if (altKey && letter !== undefined && !/^[a-z]$/i.test(key) && !isTyping(target)) return letter.toLowerCase();
  return key.length === 1 ? key.toLowerCase() : key;
}

/** Whether a key belongs to an input method. In Safari the Enter that ends a word comes after it, and only its code says so. */
export function isComposing(event: KeyboardEvent): boolean {
  return event.isComposing || event.keyCode === 229;
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName);
}

export function focusComposer(): boolean {
  const field = document.querySelector<HTMLTextAreaElement>("[data-composer]");
  field?.focus();
  return field !== null;
}
