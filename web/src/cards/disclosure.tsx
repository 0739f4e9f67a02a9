/** A heading that opens and closes what is below it. */
import type { ComponentChildren } from "preact";
import { useId, useState } from "preact/hooks";
import { MarkIcon } from "./icons";

interface Props {
  label: ComponentChildren;
  children: ComponentChildren;
  /** Whether it is open until a person decides otherwise. */
  open?: boolean;
  class?: string;
}

export function Disclosure({ label, children, open = false, class: name = "" }: Props) {
  const [chosen, setChosen] = useState<boolean | null>(null);
  const shown = chosen ?? open;
  const body = useId();
  return (
    <div class={`disclosure ${name}`}>
      <button
        type="button"
        class="disclosure-head"
        aria-expanded={shown}
        aria-controls={shown ? body : undefined}
        onClick={() => setChosen(!shown)}
      >
        <MarkIcon mark="chevron" />
        <span class="disclosure-label">{label}</span>
      </button>
      {shown && (
        <div class="disclosure-body" id={body}>
          {children}
        </div>
      )}
    </div>
  );
}
