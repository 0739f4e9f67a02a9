import type { TokenUsage } from "../model";

/** Add up what models took and gave; null where they did not count. */
export function spentTokens(usages: readonly TokenUsage[]): { input: number; output: number } | null {
  const input = usages.reduce((sum, one) => sum + (one.input_tokens ?? 0), 0);
  const output = usages.reduce((sum, one) => sum + (one.output_tokens ?? 0), 0);
  return input + output === 0 ? null : { input, output };
}
