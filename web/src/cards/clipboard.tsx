/** Buttons that copy a text or save it as a file. */
import { useEffect, useRef, useState } from "preact/hooks";
import { MarkIcon } from "./icons";

/** How long a button says that it copied, in milliseconds. */
export const COPY_SHOWN = 1500;

/** Copies a text; true when the browser did it. Pages without TLS have no clipboard but the old one. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "off-screen";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}

/** Saves a text as a file. */
export function saveText(name: string, text: string, type = "application/x-ndjson"): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // The download has its own hold on the data once it has begun.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

interface Props {
  /** Called when it is needed, so that a long text is not made for nothing. */
  text: () => string;
  label: string;
}

export function CopyButton({ text, label }: Props) {
  const [said, setSaid] = useState<"" | "Copied" | "Not copied">("");
  const timer = useRef(0);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async (): Promise<void> => {
    setSaid((await copyText(text())) ? "Copied" : "Not copied");
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setSaid(""), COPY_SHOWN);
  };
  return (
    <button type="button" class="quiet-button copy-button" aria-label={label} title={label} onClick={() => void copy()}>
      <MarkIcon mark="copy" />
      <span role="status">{said}</span>
    </button>
  );
}

export function SaveButton({ text, label, name }: Props & { name: string }) {
  return (
    <button
      type="button"
      class="quiet-button"
      aria-label={label}
      title={label}
      onClick={() => saveText(name, text())}
    >
      <MarkIcon mark="download" />
    </button>
  );
}
