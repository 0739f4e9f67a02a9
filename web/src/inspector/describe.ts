/** What a line of a protocol is, in a few words. */

type Fields = Record<string, unknown>;

/** The name of a message: its type or its method, and what kind of update it carries. */
export function nameOf(data: unknown): string {
  const fields = asFields(data);
  if (fields === null) return typeof data === "string" ? (data.split("\n")[0] ?? "").slice(0, 60) : typeof data;
  const update = asFields(asFields(fields["params"])?.["update"]);
  const method = text(fields["method"]);
  if (update !== null) return `${method} ${text(update["sessionUpdate"])}`;
  if (method) return method;
  if ("result" in fields && "jsonrpc" in fields) return `result ${text(fields["id"])}`;
  if ("error" in fields && "jsonrpc" in fields) return `error ${text(fields["id"])}`;
  const subtype = text(fields["subtype"]);
  return [text(fields["type"]) || "message", subtype].filter(Boolean).join(" ");
}

const TELLING = ["delta", "text", "title", "name", "toolName", "toolCallName", "message", "status", "stop_reason", "stopReason", "outcome", "reason"];
const INSIDE = ["params", "update", "content", "question", "result", "error", "inputTextDelta", "data", "payload", "event", "metadata"];
const LONGEST = 120;

/** The first thing in a message that says what it is about. */
export function summaryOf(data: unknown, depth = 0): string {
  const fields = asFields(data);
  if (fields === null || depth > 4) return "";
  for (const name of TELLING) {
    const value = text(fields[name]);
    if (value.trim()) return value.replace(/\s+/g, " ").slice(0, LONGEST);
  }
  for (const name of INSIDE) {
    const found = summaryOf(fields[name], depth + 1);
    if (found) return found;
  }
  return "";
}

function asFields(value: unknown): Fields | null {
  return value !== null && typeof value === "object" && !Array.isArray(value) ? (value as Fields) : null;
}

function text(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

const lines = new WeakMap<object, string>();

/** A message as one line of JSON; made once. */
export function lineOf(data: unknown): string {
  if (data === null || typeof data !== "object") return typeof data === "string" ? data : (JSON.stringify(data) ?? "");
  let line = lines.get(data);
  if (line === undefined) {
    line = JSON.stringify(data);
    lines.set(data, line);
  }
  return line;
}

/** The seconds since the start of the turn. */
export function offset(seconds: number): string {
  return `+${seconds.toFixed(seconds < 10 ? 3 : seconds < 100 ? 2 : 1)}`;
}
