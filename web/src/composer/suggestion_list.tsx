// The list of completions above the field; the field keeps the focus.

import { useEffect, useRef } from "preact/hooks";
import type { Suggestion } from "./completion";

interface Props {
  id: string;
  suggestions: readonly Suggestion[];
  active: number;
  onChoose: (suggestion: Suggestion) => void;
}

export function SuggestionList({ id, suggestions, active, onChoose }: Props) {
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => list.current?.children[active]?.scrollIntoView({ block: "nearest" }), [active]);
  return (
    <ul id={id} ref={list} class="suggestions" role="listbox" aria-label="Completions" tabIndex={0}>
      {suggestions.map((suggestion, at) => (
        <li
          key={suggestion.value}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === active}
          // The field must not lose the focus to a click.
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => onChoose(suggestion)}
        >
          <span class="label">{suggestion.label}</span>
          <span class="muted">{suggestion.detail}</span>
        </li>
      ))}
    </ul>
  );
}
