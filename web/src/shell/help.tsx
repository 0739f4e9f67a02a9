// The keys of the page.

import { Dialog } from "./dialog";

const KEYS: readonly (readonly [string, string])[] = [
  ["Enter", "Send the message"],
  ["Shift Enter", "A new line"],
  ["Ctrl Enter", "While the agent works: steer instead of queue, or the other way round"],
  ["↑ ↓", "In an empty field: what you said before"],
  ["/", "At the beginning: commands of the agent. Elsewhere on the page: go to the message field"],
  ["@", "Files of the session's folder"],
  ["Esc", "Stop the agent"],
  ["a r 1…9", "In a question: allow, reject, choose"],
  ["Alt N", "New conversation"],
  ["Alt K", "Search conversations"],
  ["Alt ↑ ↓", "The conversation above or below"],
  ["Alt I", "Inspector"],
  ["?", "This help"],
];

export function Help({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl class="keys">
        {KEYS.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="row end">
        <button type="button" class="primary" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
