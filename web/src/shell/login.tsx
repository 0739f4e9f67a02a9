// Logging in: by the one-use code of the link that the server printed, or by a token.

import { useEffect, useId, useRef, useState } from "preact/hooks";
import { api } from "../net/api";
import { Words } from "./words";

/**
 * Take the code out of the address, so that it is neither kept in the history nor copied along; what stays is the
 * session that the link names.
 */
export function takeCode(): string | null {
  const given = new URLSearchParams(location.hash.slice(1));
  const [code, session] = [given.get("code"), given.get("session")];
  const place = session === null ? location.pathname + location.search : `#/s/${encodeURIComponent(session)}`;
  if (code !== null) history.replaceState(null, "", place);
  return code;
}

interface Props {
  /** Why the person is asked. */
  reason: string | null;
  onDone: () => void;
}

export function Login({ reason, onDone }: Props) {
  const [problem, setProblem] = useState(reason);
  const [busy, setBusy] = useState(false);
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  // The attribute counts only once for a document, and not after a log out.
  useEffect(() => field.current?.focus(), []);
  const submit = async () => {
    const token = field.current?.value.trim() ?? "";
    if (token === "") return;
    setBusy(true);
    try {
      await api.login({ token });
      onDone();
    } catch (error) {
      setProblem((error as Error).message);
      setBusy(false);
      field.current?.select();
    }
  };
  return (
    <main class="login">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <img src="./assets/icon.svg" alt="" width="48" height="48" />
        <h1>Trunkline</h1>
        {problem !== null && (
          <p class="problem" role="alert">
            <Words text={problem} />
          </p>
        )}
        <p>
          Open the link that <code>trunkline serve</code> printed: it logs you in. Or enter a token of this server.
        </p>
        <input type="text" autocomplete="username" value="trunkline" hidden readOnly />
        <label for={id}>Token</label>
        <input id={id} ref={field} type="password" autocomplete="current-password" spellcheck={false} />
        <button type="submit" class="primary" disabled={busy}>
          Log in
        </button>
        <p class="hint">
          The token is printed by <code>trunkline serve</code> at its start, or is what <code>TRUNKLINE_TOKEN</code> or{" "}
          <code>--token-file</code> was set to. It is not stored in the browser; a cookie that scripts
          cannot read takes its place.
        </p>
      </form>
    </main>
  );
}
