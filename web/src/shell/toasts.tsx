// Short messages of the page: what did not work, and why.

import { Store, useStore } from "../store";
import { Glyph } from "./glyph";
import { Words } from "./words";

interface Toast {
  id: number;
  text: string;
}

const SECONDS = 8;
let count = 0;
const toasts = new Store<readonly Toast[]>([]);

export function tell(text: string): void {
  const id = (count += 1);
  toasts.update((known) => [...known.filter((one) => one.text !== text).slice(-2), { id, text }]);
  setTimeout(() => dismiss(id), SECONDS * 1000);
}

export function tellError(error: unknown): void {
  tell(error instanceof Error ? error.message : String(error));
}

function dismiss(id: number): void {
  toasts.update((known) => known.filter((one) => one.id !== id));
}

export function Toasts() {
  return (
    <div class="toasts" role="alert">
      {useStore(toasts).map(({ id, text }) => (
        <div key={id} class="toast">
          <span>
            <Words text={text} />
          </span>
          <button type="button" class="quiet" onClick={() => dismiss(id)}>
            <Glyph name="close" /> <span class="off-screen">Dismiss</span>
          </button>
        </div>
      ))}
    </div>
  );
}
