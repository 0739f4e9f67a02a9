/** The one line that stands for a call whose card is closed. */
import type { Call } from "../conversation";
import { plainText } from "./ansi";
import { revealed } from "./reveal";

const FENCE = /^[ \t]*(?:`{3,}|~{3,})[^\n`]*$/gm;

/** What came of a call, or what it was given, in one line. */
export function summaryOf(call: Pick<Call, "content" | "output" | "input" | "arguments">): string {
  const text = call.content.find((block) => block.type === "text");
  if (text?.type === "text" && text.text.trim()) return firstLine(text.text);
  if (call.output.trim()) return firstLine(call.output);
  const input = call.input !== null ? (JSON.stringify(call.input) ?? "") : call.arguments;
  return input === "{}" ? "" : oneLine(input);
}

/** The first line says it, unless it is but a bracket; the fence of a block of code is no line of it. */
function firstLine(output: string): string {
  const text = plainText(output.slice(0, 2000)).replace(FENCE, "").trim();
  const first = text.split("\n", 1)[0] ?? "";
  return oneLine(/\w\w/.test(first) ? first : text);
}

/** A text without its line breaks, cut to what a head of a card holds. */
export function oneLine(text: string): string {
  const line = revealed(text.slice(0, 400).replace(/\s+/g, " ").trim());
  return line.length > 120 ? `${line.slice(0, 119)}…` : line;
}
