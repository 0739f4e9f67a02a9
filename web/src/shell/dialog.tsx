// A question of the page itself: the browser keeps the focus inside and closes it on Escape.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

interface Props {
  title: string;
  children: ComponentChildren;
  onClose: () => void;
}

export function Dialog({ title, children, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const heading = useId();
  useEffect(() => {
    const element = dialog.current;
    const before = document.activeElement;
    element?.showModal();
    return () => {
      const now = document.activeElement;
      // What was confirmed may have moved the focus already: there it stays.
      const moved = now instanceof HTMLElement && now !== document.body && element?.contains(now) === false;
      element?.close();
      if (moved) now.focus();
      else if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={heading}
      onClose={onClose}
      onKeyDown={(event) => event.stopPropagation()}
      onClick={(event) => event.target === dialog.current && onClose()}
    >
      <h2 id={heading}>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  text: ComponentChildren;
  action: string;
  onConfirm: () => void;
  onClose: () => void;
}

export function Confirm({ title, text, action, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{text}</p>
      <div class="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="danger primary"
          onClick={() => {
            onClose();
            onConfirm();
          }}
        >
          {action}
        </button>
      </div>
    </Dialog>
  );
}

interface AskTextProps {
  title: string;
  label: string;
  value: string;
  action: string;
  onDone: (value: string) => void;
  onClose: () => void;
}

export function AskText({ title, label, value, action, onDone, onClose }: AskTextProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  const id = useId();
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          const text = field.current?.value.trim() ?? "";
          if (text === "") return;
          onClose();
          onDone(text);
        }}
      >
        <label for={id}>{label}</label>
        <input id={id} ref={field} defaultValue={value} maxLength={200} autocomplete="off" />
        <div class="row end">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary">
            {action}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
