// How full the context is and what the session cost, and the tokens of each model.

import type { Conversation } from "../model";
import { spentTokens } from "./spent_tokens";

export function UsageMeter({ folded }: { folded: Conversation }) {
  const { usage, turns } = folded;
  const spent = spentTokens(turns.flatMap((turn) => turn.usage));
  if (usage === null && spent === null) return null;
  const share = usage === null || usage.size === 0 ? null : Math.min(1, usage.used / usage.size);
  const cost = usage?.cost ?? null;
  const words = [
    usage === null ? null : `${short(usage.used)} of ${short(usage.size)} tokens of context`,
    spent === null ? null : `${short(spent.input)} tokens in, ${short(spent.output)} out`,
    cost === null ? null : money(cost.amount, cost.currency),
  ].filter((one) => one !== null);
  return (
    <div class="usage" title={words.join(" · ")} role="group" aria-label={`Usage: ${words.join(", ")}`}>
      {share !== null && (
        <svg class={share > 0.85 ? "gauge high" : "gauge"} viewBox="0 0 20 20" width="18" height="18" aria-hidden="true">
          <circle cx="10" cy="10" r="7.5" pathLength="100" />
          <circle cx="10" cy="10" r="7.5" pathLength="100" stroke-dasharray={`${share * 100} 100`} transform="rotate(-90 10 10)" />
        </svg>
      )}
      <span>{share !== null ? `${Math.round(share * 100)} %` : spent === null ? "" : `${short(spent.input + spent.output)} tokens`}</span>
      {cost !== null && <span class="cost">{money(cost.amount, cost.currency)}</span>}
    </div>
  );
}

function short(count: number): string {
  if (count < 1000) return String(count);
  return count < 1e6 ? `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)}k` : `${(count / 1e6).toFixed(1)}M`;
}

function money(amount: number, currency: string): string {
  const small = amount !== 0 && Math.abs(amount) < 0.1;
  const digits: Intl.NumberFormatOptions = small ? { maximumSignificantDigits: 2 } : { maximumFractionDigits: 2 };
  try {
    return new Intl.NumberFormat(undefined, { style: "currency", currency, ...digits }).format(amount);
  } catch {
    // A currency that browsers do not know.
    return `${new Intl.NumberFormat(undefined, digits).format(amount)} ${currency}`;
  }
}
