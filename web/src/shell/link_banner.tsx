// Says when the connection is cut, and when it is tried again.

import { useEffect, useState } from "preact/hooks";
import type { Link } from "../net/connection";

/** A hiccup that is over at once is not worth a word. */
const PATIENCE = 600;

export function LinkBanner({ link, onRetry }: { link: Link; onRetry: () => void }) {
  const cut = link.state === "waiting" || link.state === "connecting";
  const [shown, setShown] = useState(false);
  const [, tick] = useState(0);
  useEffect(() => {
    if (!cut) {
      setShown(false);
      return undefined;
    }
    const timer = setTimeout(() => setShown(true), PATIENCE);
    const clock = setInterval(() => tick((count) => count + 1), 1000);
    return () => {
      clearTimeout(timer);
      clearInterval(clock);
    };
  }, [cut]);
  if (!cut || !shown) return null;
  const seconds = link.state === "waiting" ? Math.max(0, Math.ceil((link.until - Date.now()) / 1000)) : 0;
  return (
    <div class="banner" role="status">
      <span>
        {link.state === "waiting"
          ? `The connection is cut. Nothing is lost. Next try in ${seconds} s.`
          : "Connecting to the server."}
      </span>
      {link.state === "waiting" && (
        <button type="button" onClick={onRetry}>
          Try now
        </button>
      )}
    </div>
  );
}
