// Fills in what is left out on the wire, because it has its default.

import type { Call, Conversation, LaneState, Message, Part, QuestionState, TerminalState, TurnState } from "./model";

type Wire<T> = { [K in keyof T]?: unknown };
type Table<T> = Record<string, T>;

/** Read the conversation of a snapshot. */
export function filledConversation(wire: Wire<Conversation>): Conversation {
  return {
    messages: list<Wire<Message>>(wire.messages).map(filledMessage),
    calls: map(wire.calls, (call) => filledCall(call as Wire<Call>)),
    turns: list<Wire<TurnState>>(wire.turns).map(filledTurn),
    questions: map(wire.questions, (one) => ({ answered: null, ...(one as object) }) as QuestionState),
    plan: list(wire.plan),
    state: wire.state ?? null,
    steps: map(wire.steps, (done) => done as boolean),
    lanes: map(wire.lanes, (lane) => ({ ...LANE, ...(lane as object) }) as LaneState),
    terminals: map(wire.terminals, (terminal) => ({ ...TERMINAL, ...(terminal as object) }) as TerminalState),
    activities: map(wire.activities, (content) => content as Table<unknown>),
    compactions: map(wire.compactions, (one) => one as never),
    notices: list(wire.notices),
    customs: list(wire.customs),
    raws: list(wire.raws),
    queued: list(wire.queued),
    options: list(wire.options),
    commands: list(wire.commands),
    title: (wire.title as string | undefined) ?? null,
    usage: (wire.usage as Conversation["usage"] | undefined) ?? null,
  };
}

const LANE: LaneState = {
  name: "",
  parent_lane: null,
  parent_call_id: null,
  description: null,
  outcome: null,
  message: null,
  result: null,
};
const TERMINAL: TerminalState = { data: "", exited: false, exit_code: null, signal: null };
const TURN = { status: "running", stop_reason: null, code: null, message: null, fault: null };

function filledMessage(wire: Wire<Message>): Message {
  const usual = { turn_id: null, lane: null, content: [], trusted: true };
  return { ...usual, ...wire, parts: list<Part>(wire.parts).map(filledPart) } as Message;
}

function filledPart(part: Part): Part {
  if (part.type === "text") return { ...part, text: part.text ?? "" };
  if (part.type === "thought") return { ...part, text: part.text ?? "", signature: part.signature ?? null };
  if (part.type !== "source") return part;
  return { ...part, url: part.url ?? null, title: part.title ?? null, document: part.document ?? null, mime_type: part.mime_type ?? null };
}

function filledTurn(wire: Wire<TurnState>): TurnState {
  return { ...TURN, usage: [], ...wire } as TurnState;
}

/** Read a call, or make one of the event that begins it. */
export function filledCall(wire: Wire<Call>): Call {
  return {
    call_id: wire.call_id as string,
    name: wire.name as string,
    title: (wire.title ?? null) as Call["title"],
    kind: (wire.kind ?? "other") as Call["kind"],
    status: (wire.status ?? "pending") as Call["status"],
    message_id: (wire.message_id ?? null) as Call["message_id"],
    after: (wire.after ?? null) as Call["after"],
    lane: (wire.lane ?? null) as Call["lane"],
    turn_id: (wire.turn_id ?? null) as Call["turn_id"],
    native_id: (wire.native_id ?? null) as Call["native_id"],
    arguments: (wire.arguments ?? "") as string,
    input: wire.input ?? null,
    locations: list(wire.locations),
    content: list(wire.content),
    output: (wire.output ?? "") as string,
    raw_output: wire.raw_output ?? null,
    reason: (wire.reason ?? null) as Call["reason"],
    result_message_id: (wire.result_message_id ?? null) as Call["result_message_id"],
    trusted: (wire.trusted ?? true) as boolean,
  };
}

function list<T>(value: unknown): T[] {
  return (value as T[] | undefined) ?? [];
}

function map<T>(value: unknown, read: (one: unknown) => T): Map<string, T> {
  return new Map(Object.entries((value as Table<unknown> | undefined) ?? {}).map(([id, one]) => [id, read(one)]));
}
