// The options of a session: modes, models and switches.

import type { ConfigOption } from "../model";

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
      <span class="off-screen">{name}</span>
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
