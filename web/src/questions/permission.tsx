/** A permission: what would happen, then the options, which one key answers. */
import { useId, useRef, useState } from "preact/hooks";
import type { Call } from "../conversation";
import type { Answer, Option, Permission } from "../model";
import type { Terminals } from "../cards/content";
import { escapeJson } from "../cards/reveal";
import { Proposal } from "./proposal";
import { takesKeys } from "./focus";
import { Revealed } from "../cards/revealed";
import { isComposing } from "../shell/shortcuts";

/** The letters of the terminal. */
const LETTERS: Record<string, string> = {
  allow_once: "a",
  allow_always: "A",
  reject_once: "r",
  reject_always: "R",
};
const EDIT = "e";

export type Fields = Omit<Answer, "type" | "question_id" | "key">;

interface Props {
  question: Permission;
  call: Call | undefined;
  terminals: Terminals;
  sending: boolean;
  /** Whether a key may answer already. */
  armed: boolean;
  /** Where the card finds what its keys do: the focus is on the card, above this. */
  keys: { current: ((event: KeyboardEvent) => void) | null };
  onAnswer: (fields: Fields) => void;
}

export function PermissionBody({ question, call, terminals, sending, armed, keys: cardKeys, onAnswer }: Props) {
  const [text, setText] = useState<string | null>(null);
  const [reason, setReason] = useState("");
  const [wanted, setWanted] = useState<Option | null>(null);
  const words = useRef<HTMLInputElement>(null);
  const ids = useId();
  const options = question.options ?? [];
  const keys = keysOf(options);
  const edited = text === null ? undefined : parseArguments(text);
  const isChanged = edited?.value !== undefined && JSON.stringify(edited.value) !== JSON.stringify(call?.input);
  const rejects = options.some((option) => !isAllow(option));

  const edit = (): void => setText(escapeJson(JSON.stringify(call?.input ?? {}, null, 2)));

  const choose = (option: Option): void => {
    if (sending) return;
    if (edited?.error !== undefined && isAllow(option)) return;
    if (option.wants_words && !reason.trim()) {
      setWanted(option);
      words.current?.focus();
      return;
    }
    const fields: Fields = { outcome: "selected", option_id: option.option_id };
    if (isAllow(option) && isChanged) fields.input = edited?.value;
    if (!isAllow(option) && reason.trim()) fields.reason = reason.trim();
    onAnswer(fields);
  };

  const press = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || takesKeys(event.target) || !armed) return;
    const option = keys.get(event.key);
    if (option !== undefined) choose(option);
    else if (event.key === EDIT && question.allows_edit && text === null) edit();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  cardKeys.current = press;

  return (
    <div class="permission">
      {call !== undefined ? (
        <Proposal call={call} terminals={terminals} edited={isChanged ? edited?.value : undefined} />
      ) : (
        <p class="more more-warning">What the call would do is not known here. Look where the agent runs before you allow it.</p>
      )}
      {text !== null && (
        <div class="field">
          <label for={`${ids}-arguments`}>Arguments (JSON)</label>
          <textarea
            id={`${ids}-arguments`}
            class="code-field"
            value={text}
            rows={Math.min(20, text.split("\n").length + 1)}
            spellcheck={false}
            autocomplete="off"
            aria-invalid={edited?.error !== undefined}
            aria-describedby={`${ids}-error`}
            ref={focusOnce}
            onInput={(event) => setText(event.currentTarget.value)}
          />
          <p id={`${ids}-error`} class={edited?.error === undefined ? "field-hint" : "field-error"} role="status">
            {edited?.error ?? (isChanged ? "Allowing uses your arguments." : "As the agent gave them.")}
          </p>
          <button type="button" class="quiet-button" onClick={() => setText(null)}>
            Leave them as they were
          </button>
        </div>
      )}
      <div class="answers" role="group" aria-label="Answers">
        {options.map((option, index) => {
          const key = keyOf(keys, option) ?? String(index + 1);
          const blocked = edited?.error !== undefined && isAllow(option);
          return (
            <button
              key={option.option_id}
              type="button"
              class={`answer answer-${isAllow(option) ? "allow" : "reject"}`}
              disabled={sending || blocked}
              aria-keyshortcuts={key}
              onClick={() => choose(option)}
            >
              <kbd>{key}</kbd>
              <span>
                <Revealed text={isChanged && isAllow(option) ? `${option.name}, with your changes` : option.name} />
              </span>
            </button>
          );
        })}
        {question.allows_edit && text === null && (
          <button
            type="button"
            class="answer"
            disabled={sending}
            aria-keyshortcuts={EDIT}
            onClick={edit}
          >
            <kbd>{EDIT}</kbd>
            <span>Edit the arguments</span>
          </button>
        )}
      </div>
      {rejects && (
        <div class="field reason">
          <label for={`${ids}-reason`}>{wanted === null ? "Reason for a rejection" : `${wanted.name}: your words`}</label>
          <input
            id={`${ids}-reason`}
            ref={words}
            type="text"
            value={reason}
            placeholder={wanted === null ? "optional: tells the agent what to do instead" : ""}
            autocomplete="off"
            onInput={(event) => setReason(event.currentTarget.value)}
            onKeyDown={(event) => {
              // Enter here only ever refuses.
              const refusal = wanted ?? options.find((option) => option.kind === "reject_once");
              if (event.key === "Enter" && reason.trim() && refusal !== undefined && !isComposing(event)) choose(refusal);
            }}
          />
        </div>
      )}
    </div>
  );
}

function focusOnce(field: HTMLTextAreaElement | null): void {
  if (field !== null && field.dataset["focused"] === undefined) {
    field.dataset["focused"] = "";
    field.focus();
  }
}

export function isAllow(option: Option): boolean {
  return option.kind === "allow_once" || option.kind === "allow_always";
}

/** Every option by its letter, and by its number. */
function keysOf(options: readonly Option[]): Map<string, Option> {
  const keys = new Map<string, Option>();
  for (const option of options) {
    const letter = LETTERS[option.kind];
    if (letter !== undefined && !keys.has(letter)) keys.set(letter, option);
  }
  options.slice(0, 9).forEach((option, index) => keys.set(String(index + 1), option));
  return keys;
}

function keyOf(keys: ReadonlyMap<string, Option>, option: Option): string | undefined {
  for (const [key, one] of keys) if (one === option) return key;
  return undefined;
}

interface Parsed {
  value?: Record<string, unknown>;
  error?: string;
}

function parseArguments(text: string): Parsed {
  try {
    const value: unknown = JSON.parse(text);
    if (value !== null && typeof value === "object" && !Array.isArray(value)) {
      return { value: value as Record<string, unknown> };
    }
    return { error: 'Arguments are an object, such as {"path": "a.txt"}.' };
  } catch (error) {
    return { error: `This is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}
