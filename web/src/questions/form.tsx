/** A form made from a JSON schema: one field below the other, each with its own error. */
import { useId, useMemo, useRef, useState } from "preact/hooks";
import type { Form } from "../model";
import { exampleOf, fieldsOf, readField, type Field } from "./form_fields";
import type { Fields } from "./permission";
import { revealed } from "../cards/reveal";

interface Props {
  question: Form;
  sending: boolean;
  onAnswer: (fields: Fields) => void;
}

export function FormBody({ question, sending, onAnswer }: Props) {
  const fields = useMemo(() => fieldsOf(question.fields, question.single_answer), [question]);
  const [values, setValues] = useState<Record<string, unknown>>({});
  const [errors, setErrors] = useState<Record<string, string>>({});
  const form = useRef<HTMLFormElement>(null);

  const read = (field: Field, value: unknown, touched: boolean) => readField(field, value, touched);
  const valueOf = (field: Field): unknown => (field.name in values ? values[field.name] : field.initial);

  const change = (field: Field, value: unknown): void => {
    setValues({ ...values, [field.name]: value });
    // An error goes as soon as it is mended, and comes only with the button.
    if (field.name in errors && read(field, value, true).error === undefined) {
      const { [field.name]: _mended, ...rest } = errors;
      setErrors(rest);
    }
  };

  const submit = (event: Event): void => {
    event.preventDefault();
    if (sending) return;
    const content: Record<string, unknown> = {};
    const found: Record<string, string> = {};
    for (const field of fields) {
      const { value, error } = read(field, valueOf(field), field.name in values);
      if (error !== undefined) found[field.name] = error;
      else if (value !== undefined) content[field.name] = value;
    }
    setErrors(found);
    const first = fields.find((field) => field.name in found);
    if (first === undefined) onAnswer({ outcome: "accepted", content });
    else form.current?.querySelector<HTMLElement>(`[data-field="${CSS.escape(first.name)}"] :is(input, select, textarea)`)?.focus();
  };

  return (
    <form ref={form} class="form" noValidate autocomplete="off" onSubmit={submit}>
      {fields.map((field) => (
        <FieldView key={field.name} field={field} value={valueOf(field)} error={errors[field.name]} onChange={(value) => change(field, value)} />
      ))}
      <div class="answers">
        <button type="submit" class="answer answer-allow" disabled={sending}>
          Send
        </button>
        <button type="button" class="answer" disabled={sending} onClick={() => onAnswer({ outcome: "declined" })}>
          Decline
        </button>
        <button type="button" class="answer answer-reject" disabled={sending} onClick={() => onAnswer({ outcome: "cancelled" })}>
          Cancel the turn
        </button>
      </div>
    </form>
  );
}

interface FieldProps {
  field: Field;
  value: unknown;
  error: string | undefined;
  onChange: (value: unknown) => void;
}

function FieldView({ field, value, error, onChange }: FieldProps) {
  const id = useId();
  const about = { id, "aria-invalid": error !== undefined, "aria-required": field.required, "aria-describedby": `${id}-about` };
  const title = (
    <>
      {revealed(field.title)}
      {!field.required && <span class="muted"> optional</span>}
    </>
  );
  const grouped = field.kind === "choices" || (field.kind === "choice" && field.choices.length <= 5);
  return (
    <div class={error === undefined ? "field" : "field field-wrong"} data-field={field.name}>
      {grouped ? (
        <fieldset aria-describedby={`${id}-about`}>
          <legend>{title}</legend>
          <Choices field={field} value={value} name={id} onChange={onChange} />
        </fieldset>
      ) : field.kind === "boolean" ? (
        <label class="check">
          <input {...about} type="checkbox" checked={value === true} onChange={(event) => onChange(event.currentTarget.checked)} />
          {revealed(field.title)}
        </label>
      ) : (
        <>
          <label for={id}>{title}</label>
          <Control field={field} value={value} about={about} onChange={onChange} />
        </>
      )}
      <div id={`${id}-about`}>
        {field.description && <p class="field-hint">{revealed(field.description)}</p>}
        {error !== undefined && (
          <p class="field-error" role="alert">
            {error}
          </p>
        )}
      </div>
    </div>
  );
}

const INPUT_TYPES: Record<string, "email" | "url" | "date" | "datetime-local" | "password"> = {
  email: "email",
  uri: "url",
  date: "date",
  "date-time": "datetime-local",
  password: "password",
};

interface ControlProps {
  field: Field;
  value: unknown;
  about: { id: string; "aria-invalid": boolean; "aria-required": boolean; "aria-describedby": string };
  onChange: (value: unknown) => void;
}

function Control({ field, value, about, onChange }: ControlProps) {
  if (field.kind === "choice") {
    const at = field.choices.findIndex((choice) => choice.value === value);
    return (
      <select {...about} value={String(at)} onChange={(event) => onChange(field.choices[Number(event.currentTarget.value)]?.value ?? "")}>
        <option value="-1">{field.required ? "Choose one" : "None"}</option>
        {field.choices.map((choice, index) => (
          <option key={index} value={String(index)}>
            {revealed(choice.name)}
          </option>
        ))}
      </select>
    );
  }
  if (field.kind === "long" || field.kind === "json") {
    return (
      <textarea
        {...about}
        class={field.kind === "json" ? "code-field" : ""}
        rows={4}
        value={String(value)}
        placeholder={field.kind === "json" ? exampleOf(field) : undefined}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    );
  }
  // The types of an input differ in their roles only, and none is given here.
  const type = (field.kind === "number" ? "text" : (INPUT_TYPES[field.format] ?? "text")) as "text";
  return (
    <input
      {...about}
      type={type}
      inputMode={field.kind === "number" ? "decimal" : undefined}
      value={String(value)}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  );
}

interface ChoicesProps {
  field: Field;
  value: unknown;
  name: string;
  onChange: (value: unknown) => void;
}

function Choices({ field, value, name, onChange }: ChoicesProps) {
  const many = field.kind === "choices";
  const chosen: unknown[] = many ? (Array.isArray(value) ? value : []) : [value];
  const toggle = (one: unknown, on: boolean): void => {
    if (!many) onChange(one);
    else onChange(field.choices.map((choice) => choice.value).filter((each) => (each === one ? on : chosen.includes(each))));
  };
  return (
    <>
      {field.choices.map((choice, index) => (
        <label class="check" key={index}>
          <input
            type={many ? "checkbox" : "radio"}
            name={name}
            checked={chosen.includes(choice.value)}
            onChange={(event) => toggle(choice.value, event.currentTarget.checked)}
          />
          {revealed(choice.name)}
        </label>
      ))}
      {!many && !field.required && chosen[0] !== "" && (
        <button type="button" class="quiet-button" onClick={() => onChange("")}>
          Clear
        </button>
      )}
    </>
  );
}
