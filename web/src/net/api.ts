// The HTTP interface of the server: requests, refusals, and commands that are sent again until they arrive.

import type { Command, CommandInfo, ConfigOption } from "../model";

/** Where the server is: the page may be mounted below a path. */
export const ROOT = new URL("./", location.href.split("#")[0]).href;

/** The server said no; the message is for people and names the next step. */
export class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

/** The server could not be reached. */
export class Unreachable extends Error {
  constructor() {
    super("The server cannot be reached. Is `trunkline serve` still running?");
  }
}

export interface AgentInfo {
  name: string;
  title?: string | null;
  description?: string | null;
  commands?: CommandInfo[];
  options?: ConfigOption[];
  prompt?: { image?: boolean; audio?: boolean; embedded?: boolean };
  /** False until the agent has said what it is. */
  ready?: boolean;
  /** Why it is not ready; null while it starts. */
  error?: string | null;
}
export interface PageInfo {
  version: string;
  principal: string;
  scopes: string[];
  /** Whether this server has a login of its own. */
  login?: boolean;
  agents: AgentInfo[];
  limits?: { body_bytes?: number };
}
export interface SessionRow {
  session_id: string;
  title?: string | null;
  cwd?: string | null;
  /** Null when the agent is not served here. */
  agent?: string | null;
  /** What goes on in it; left out for one that rests. */
  status?: "running" | "asking";
  created_at: number;
  updated_at: number;
}
export interface SessionPage {
  sessions: SessionRow[];
  next?: string;
}
export interface Completion {
  value: string;
  title?: string;
}

type Method = "GET" | "POST" | "PATCH" | "DELETE";
interface Options {
  method?: Method;
  body?: unknown;
  signal?: AbortSignal;
}

/** Send a request; gives its JSON (null for an empty answer), or throws Refused or Unreachable. */
export async function request<T>(path: string, { method = "GET", body, signal }: Options = {}): Promise<T> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (body !== undefined) headers["content-type"] = "application/json";
  let response: Response;
  let text: string;
  try {
    response = await fetch(new URL(path.replace(/^\//, ""), ROOT), {
      method,
      headers,
      credentials: "same-origin",
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new Unreachable();
  }
  if (!response.ok) throw refusal(response.status, text);
  return (text === "" ? null : JSON.parse(text)) as T;
}

/** Read a refusal: `{"error": {"code", "message"}}`, or whatever a proxy wrote. */
export function refusal(status: number, text: string): Refused {
  try {
    const { error } = JSON.parse(text) as { error: { code: string; message: string } };
    return new Refused(status, error.code, sentence(error.message));
  } catch {
    return new Refused(status, "http", `The server answered with status ${status}.`);
  }
}

/** Begin with a capital and end with a stop, as a sentence of a page does. */
export function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?`"]$/.test(begun) ? begun : `${begun}.`;
}

/** A new key, also where the page is not in a secure context and `randomUUID` is missing. */
export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return `page_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

const RETRIES = [300, 700, 1500, 3000, 6000];

/** Send a command until the server has it: its key makes all tries one command. */
export async function sendCommand<T>(sessionId: string, command: Command): Promise<T> {
  const body = { key: newKey(), ...command };
  for (const pause of [...RETRIES, null]) {
    try {
      const answer = await request<{ result: T }>(`${sessionPath(sessionId)}/commands`, { method: "POST", body });
      return answer.result;
    } catch (error) {
      const again = error instanceof Unreachable || (error instanceof Refused && [502, 503, 504].includes(error.status));
      if (!again || pause === null) throw error;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }
  throw new Unreachable();
}

export function sessionPath(sessionId: string): string {
  return `sessions/${encodeURIComponent(sessionId)}`;
}

export const api = {
  login: (secret: { code: string } | { token: string }) => request<null>("login", { method: "POST", body: secret }),
  logout: () => request<null>("logout", { method: "POST" }),
  page: () => request<PageInfo>("page"),
  sessions(filter: { query?: string; agent?: string; before?: string; limit?: number }, signal?: AbortSignal): Promise<SessionPage> {
    const given = Object.entries(filter).filter(([, value]) => value !== undefined && value !== "");
    const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]));
    return request(`sessions?${query}`, signal === undefined ? {} : { signal });
  },
  create: (agent: string) => request<{ session_id: string }>("sessions", { method: "POST", body: { agent } }),
  rename: (id: string, title: string) => request<null>(sessionPath(id), { method: "PATCH", body: { title } }),
  fork: (id: string, toMessageId?: string) =>
    request<{ session_id: string }>(`${sessionPath(id)}/fork`, {
      method: "POST",
      body: toMessageId === undefined ? {} : { to_message_id: toMessageId },
    }),
  remove: (id: string) => request<null>(sessionPath(id), { method: "DELETE" }),
  exportUrl: (id: string, format: "md" | "json" | "html") => new URL(`${sessionPath(id)}/export?format=${format}`, ROOT).href,
  files: (id: string, query: string, signal: AbortSignal) =>
    request<{ items: Completion[] }>(`${sessionPath(id)}/completions?kind=file&query=${encodeURIComponent(query)}`, { signal }),
};
