// A button that opens a list of actions; Escape, a choice and a click elsewhere close it.

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";

export interface MenuItem {
  label: string;
  detail?: string | undefined;
  danger?: boolean;
  /** An address to download instead of an action. */
  download?: string;
  onChoose?: () => void;
}

interface Props {
  label: string;
  button: ComponentChildren;
  class?: string;
  items: readonly MenuItem[];
}

export function Menu({ label, button, items, class: name = "quiet" }: Props) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const id = useId();
  const entries = () => [...(list.current?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
  const close = (back: boolean) => {
    setOpen(false);
    if (back) root.current?.querySelector("button")?.focus();
  };

  useEffect(() => {
    if (!open) return undefined;
    place(root.current, list.current);
    entries()[0]?.focus();
    const away = (event: Event) => {
      if (!(root.current?.contains(event.target as Node) ?? false)) close(false);
    };
    const moved = () => close(false);
    document.addEventListener("pointerdown", away);
    document.addEventListener("focusin", away);
    addEventListener("resize", moved);
    return () => {
      document.removeEventListener("pointerdown", away);
      document.removeEventListener("focusin", away);
      removeEventListener("resize", moved);
    };
  }, [open]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    const all = entries();
    const at = all.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + all.length, Home: 0, End: all.length - 1 }[event.key];
    if (event.key === "Escape") close(true);
    else if (to !== undefined) all[to % all.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        class={name}
        aria-haspopup="menu"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        aria-label={label}
        title={label}
        onClick={() => setOpen(!open)}
      >
        {button}
      </button>
      {open && (
        <ul id={id} ref={list} class="menu-list" role="menu" aria-label={label}>
          {items.map((item) => (
            <li key={item.label} role="none">
              <Entry item={item} onChosen={() => close(true)} />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function Entry({ item, onChosen }: { item: MenuItem; onChosen: () => void }) {
  const choose = () => {
    onChosen();
    item.onChoose?.();
  };
  const inner = (
    <>
      <span>{item.label}</span>
      {item.detail && <span class="muted">{item.detail}</span>}
    </>
  );
  if (item.download !== undefined) {
    return (
      <a role="menuitem" tabIndex={-1} href={item.download} download onClick={choose}>
        {inner}
      </a>
    );
  }
  return (
    <button type="button" role="menuitem" tabIndex={-1} class={item.danger === true ? "danger" : ""} onClick={choose}>
      {inner}
    </button>
  );
}

/** Put the list below its button, inside the window: a scrolling parent must not cut it off. */
function place(root: HTMLElement | null, list: HTMLElement | null): void {
  if (root === null || list === null) return;
  const button = root.getBoundingClientRect();
  const { width, height } = list.getBoundingClientRect();
  const below = button.bottom + 4 + height <= innerHeight;
  list.style.left = `${Math.max(8, Math.min(button.left, innerWidth - width - 8))}px`;
  list.style.top = `${below ? button.bottom + 4 : Math.max(8, button.top - height - 4)}px`;
}
