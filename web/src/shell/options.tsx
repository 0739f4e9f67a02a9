// The options of a session: modes, models and switches.

import type { ConfigOption } from "../model";
import { saysWhatItIs } from "./option_words";

interface Props {
  options: readonly ConfigOption[];
  disabled: boolean;
  onChange: (optionId: string, value: string | boolean) => void;
}

export function Options({ options, disabled, onChange }: Props) {
  if (options.length === 0) return null;
  return (
    <div class="options" role="group" aria-label="Settings of the agent">
      {options.map((option) => (
        <OptionField key={option.option_id} option={option} disabled={disabled} onChange={onChange} />
      ))}
    </div>
  );
}

/** The name of the choice that stands now. */
function chosenName({ value, choices, groups }: ConfigOption): string {
  const all = [...(choices ?? []), ...(groups ?? []).flatMap((group) => group.choices)];
  return all.find((choice) => choice.value === value)?.name ?? "";
}

function OptionField({ option, disabled, onChange }: Omit<Props, "options"> & { option: ConfigOption }) {
  const { option_id: id, name, value, description } = option;
  const title = description ?? name;
  if (typeof value === "boolean") {
    return (
      <label class="switch" title={title}>
        <input type="checkbox" role="switch" checked={value} disabled={disabled} onChange={(event) => onChange(id, event.currentTarget.checked)} />
        <span>{name}</span>
      </label>
    );
  }
  return (
    <label class="select" title={title}>
      <span class={saysWhatItIs(chosenName(option)) ? "off-screen" : "select-name"}>{name}</span>
      <select value={value} disabled={disabled} onChange={(event) => onChange(id, event.currentTarget.value)}>
        {(option.choices ?? []).map((choice) => (
          <option key={choice.value} value={choice.value} title={choice.description ?? ""}>
            {choice.name}
          </option>
        ))}
        {(option.groups ?? []).map((group) => (
          <optgroup key={group.group} label={group.name}>
            {group.choices.map((choice) => (
              <option key={choice.value} value={choice.value} title={choice.description ?? ""}>
                {choice.name}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}
