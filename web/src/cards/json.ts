/** JSON for people: pretty text with a bound, in which nothing hides. */
import { escapeJson } from "./reveal";

const MOST = 200_000; // characters

/** Gives a value as indented JSON. */
export function prettyJson(value: unknown): string {
  return bounded(escapeJson(JSON.stringify(value, null, 2) ?? "null"));
}

/** Gives streamed JSON text indented if it is whole already, else as it is. */
export function prettyText(text: string): string {
  try {
    return prettyJson(JSON.parse(text));
  } catch {
    return bounded(text);
  }
}

function bounded(text: string): string {
  if (text.length <= MOST) return text;
  return `${text.slice(0, MOST)}\n… ${text.length - MOST} more characters are not shown`;
}
