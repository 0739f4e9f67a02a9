// What becomes of a message that is sent while the agent works.

export type Busy = "queue" | "steer";

const NAME = "trunkline.busy";

export function chosenBusy(): Busy {
  return localStorage.getItem(NAME) === "steer" ? "steer" : "queue";
}

export function keepBusy(busy: Busy): void {
  localStorage.setItem(NAME, busy);
}

interface Props {
  busy: Busy;
  onChoose: (busy: Busy) => void;
}

export function BusyChoice({ busy, onChoose }: Props) {
  return (
    <fieldset class="segments">
      <legend class="off-screen">A message while the agent works</legend>
      <label title="Send it when this turn is over">
        <input type="radio" name="busy" value="queue" checked={busy === "queue"} onChange={() => onChoose("queue")} />
        <span>Queue</span>
      </label>
      <label title="Let it join this turn, if the agent can take it">
        <input type="radio" name="busy" value="steer" checked={busy === "steer"} onChange={() => onChoose("steer")} />
        <span>Steer</span>
      </label>
    </fieldset>
  );
}
