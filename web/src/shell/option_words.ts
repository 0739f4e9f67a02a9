/** Whether the name of a choice alone says what it is a choice of: "Opus" does, "Default" and "High" do not. */
export function saysWhatItIs(choice: string): boolean {
  return !/^(?:x?-?(?:low|high)|minimal|medium|max|default|standard|normal|auto|automatic|on|off|none|yes|no|\d+)?(?:\W|$)/i.test(choice);
}
