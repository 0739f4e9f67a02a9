// Folds events into the conversation they mean: the mirror of trunkline's folding.py.
//
// What a reader got stays as it was: feeding copies what it changes, once between two reads of `conversation`. So a
// component sees by identity what has changed, and thousands of small pieces in one frame cost one copy.

import { filledCall, filledConversation } from "./fill";
import { applyPatch, PatchError } from "./json_patch";
import type { AnyEvent, Call, Compaction, Conversation, Message, Part, Rewound, ToolUpdate } from "./model";
import type * as ev from "./model";

type Lists = "messages" | "turns" | "notices" | "customs" | "raws" | "queued";
type Maps = "calls" | "questions" | "steps" | "lanes" | "terminals" | "activities" | "compactions";

/** Give the conversation that these events mean. */
export function fold(events: Iterable<AnyEvent>): Conversation {
  const folder = new Folder();
  for (const event of events) folder.feed(event);
  return folder.conversation;
}

/** Folds events one by one; `conversation` is right after every event. */
export class Folder {
  #folded: Conversation;
  /** Copies made since the last read: they may be changed in place. */
  readonly #own = new Set<object>();
  readonly #places = new Map<string, number>();

  constructor(past: Conversation = filledConversation({})) {
    this.#folded = past;
    past.messages.forEach((message, at) => this.#places.set(message.message_id, at));
  }

  get conversation(): Conversation {
    this.#own.clear();
    return this.#folded;
  }

  /** Whether a message is there; asking does not count as a read of the conversation. */
  has(messageId: string): boolean {
    return this.#places.has(messageId);
  }

  feed(event: AnyEvent): void {
    switch (event.type) {
      // -- messages --
      case "user_message":
        return this.#user(event);
      case "text":
        return this.#text(event);
      case "thought":
        return this.#thought(event);
      case "media":
        this.#addPart(event, { type: "media", part_id: "", content: event.content });
        return;
      case "source":
        return this.#source(event);
      // -- tools --
      case "tool_call":
        return this.#call(event);
      case "tool_input": {
        const call = this.#ownCall(event.call_id);
        if (call !== undefined) call.arguments += event.delta;
        return;
      }
      case "tool_update":
        return this.#update(event);
      case "terminal_output":
        return this.#terminal(event);
      // -- turns and questions --
      case "turn_started":
        this.#list("turns").push({
          turn_id: event.turn_id ?? "",
          status: "running",
          stop_reason: null,
          code: null,
          message: null,
          fault: null,
          usage: [],
        });
        return this.#unqueue(event.prompt_id);
      case "turn_suspended":
        return this.#setTurn({ status: "suspended" });
      case "turn_resumed":
        return this.#setTurn({ status: "running" });
      case "turn_finished":
        return this.#setTurn({ status: "finished", stop_reason: event.stop_reason, usage: event.usage ?? [] });
      case "turn_failed": {
        const { code, message, fault = "agent", usage = [] } = event;
        return this.#setTurn({ status: "failed", code, message, fault, usage });
      }
      case "prompt_queued":
        if (!this.#folded.queued.includes(event.prompt_id)) this.#list("queued").push(event.prompt_id);
        return;
      case "prompt_dropped":
        return this.#unqueue(event.prompt_id);
      case "rewound":
        return this.#rewound(event);
      case "asked":
        if (!this.#folded.questions.has(event.question_id)) {
          this.#map("questions").set(event.question_id, { asked: event, answered: null });
        }
        return;
      case "answered": {
        const question = this.#folded.questions.get(event.question_id);
        if (question?.answered === null) {
          this.#map("questions").set(event.question_id, { asked: question.asked, answered: event });
        }
        return;
      }
      // -- work --
      case "plan":
        this.#top().plan = event.entries ?? [];
        return;
      case "step_started":
        // What a framework does is no part of the conversation.
        if (event.kind == null) this.#map("steps").set(event.step_id, false);
        return;
      case "step_finished":
        if (this.#folded.steps.has(event.step_id)) this.#map("steps").set(event.step_id, true);
        return;
      case "subagent_started":
        this.#map("lanes").set(event.lane ?? "", {
          name: event.name ?? "",
          parent_lane: event.parent_lane ?? null,
          parent_call_id: event.parent_call_id ?? null,
          description: event.description ?? null,
          outcome: null,
          message: null,
          result: null,
        });
        return;
      case "subagent_finished": {
        const lane = this.#folded.lanes.get(event.lane ?? "");
        if (lane === undefined) return;
        const { outcome = "completed", message = null, result = null } = event;
        this.#map("lanes").set(event.lane ?? "", { ...lane, outcome, message, result });
        return;
      }
      case "activity":
        return this.#activity(event);
      case "compaction":
        return this.#compaction(event);
      case "notice":
        this.#list("notices").push(event);
        return;
      // -- state and session --
      case "state_replaced":
        this.#top().state = event.state;
        return;
      case "state_patched": {
        const state = patched(this.#folded.state, event.patch);
        if (state !== undefined) this.#top().state = state;
        return;
      }
      case "config_changed":
        this.#top().options = event.options ?? [];
        return;
      case "commands_changed":
        this.#top().commands = event.commands ?? [];
        return;
      case "info_changed":
        this.#top().title = event.title ?? null;
        return;
      case "usage":
        this.#top().usage = event;
        return;
      case "custom":
        this.#list("customs").push(event);
        return;
      case "raw":
        this.#list("raws").push(event);
        return;
      default:
        // Runs and decisions are records, not conversation; an event of a newer version says nothing here.
        return;
    }
  }

  // -- copies --

  #top(): Conversation {
    if (!this.#own.has(this.#folded)) this.#own.add((this.#folded = { ...this.#folded }));
    return this.#folded;
  }

  #list<K extends Lists>(name: K): Conversation[K] {
    const top = this.#top();
    if (!this.#own.has(top[name])) this.#own.add((top[name] = [...top[name]] as Conversation[K]));
    return top[name];
  }

  #map<K extends Maps>(name: K): Conversation[K] {
    const top = this.#top();
    if (!this.#own.has(top[name])) this.#own.add((top[name] = new Map<string, unknown>(top[name]) as Conversation[K]));
    return top[name];
  }

  /** Give a value that may be changed in place, and let `keep` put it where the old one was. */
  #ours<T extends object>(value: T, keep: (copy: T) => void): T {
    if (this.#own.has(value)) return value;
    const copy = { ...value };
    this.#own.add(copy);
    keep(copy);
    return copy;
  }

  #ownCall(callId: string): Call | undefined {
    const known = this.#folded.calls.get(callId);
    return known && this.#ours(known, (copy) => this.#map("calls").set(callId, copy));
  }

  // -- messages --

  #message(event: { message_id: string; turn_id?: string | null; lane?: string | null }, role: Message["role"]): Message {
    const place = this.#places.get(event.message_id);
    const messages = this.#list("messages");
    const known = place === undefined ? undefined : messages[place];
    if (place !== undefined && known !== undefined) {
      return this.#ours(known, (copy) => {
        copy.parts = [...copy.parts];
        messages[place] = copy;
      });
    }
    const message: Message = {
      message_id: event.message_id,
      role,
      turn_id: event.turn_id ?? null,
      lane: event.lane ?? null,
      content: [],
      parts: [],
      trusted: role === "user" || !isImported(event.turn_id),
    };
    this.#places.set(event.message_id, messages.length);
    messages.push(message);
    this.#own.add(message);
    return message;
  }

  #user(event: ev.UserMessage): void {
    const message = this.#message(event, "user");
    message.content = event.content ?? [];
    message.trusted = event.trusted ?? true;
    this.#unqueue(event.prompt_id);
  }

  #text(event: ev.Text): void {
    const part = this.#lastPart(event, "text");
    if (part?.type === "text") part.text += event.delta;
    else this.#addPart(event, { type: "text", part_id: "", text: event.delta });
  }

  #thought(event: ev.Thought): void {
    const { delta = "", signature = null } = event;
    const part = this.#lastPart(event, "thought");
    if (part?.type === "thought" && part.signature === null) {
      part.text += delta;
      part.signature = signature;
    } else this.#addPart(event, { type: "thought", part_id: "", text: delta, signature });
  }

  #source(event: ev.Source): void {
    const known = this.#message(event, "agent").parts;
    if (known.some((part) => part.type === "source" && part.source_id === event.source_id)) return;
    const { source_id, url = null, title = null, document = null, mime_type = null } = event;
    this.#addPart(event, { type: "source", part_id: "", source_id, url, title, document, mime_type });
  }

  #lastPart(event: ev.Text | ev.Thought, type: Part["type"]): Part | undefined {
    const { parts } = this.#message(event, "agent");
    const last = parts.at(-1);
    if (last?.type !== type) return undefined;
    return this.#ours(last, (copy) => (parts[parts.length - 1] = copy));
  }

  #addPart(event: { message_id: string; turn_id?: string | null; lane?: string | null }, part: Part): void {
    const message = this.#message(event, "agent");
    part.part_id = `${message.message_id}:${message.parts.length}`;
    this.#own.add(part);
    message.parts.push(part);
  }

  // -- tools --

  #call(event: ev.ToolCall): void {
    if (this.#folded.calls.has(event.call_id)) return;
    const { message_id: messageId = null } = event;
    const call = filledCall({ ...event, trusted: !isImported(event.turn_id) });
    if (messageId !== null) {
      this.#addPart({ ...event, message_id: messageId }, { type: "call", part_id: "", call_id: event.call_id });
    } else call.after = this.#folded.messages.at(-1)?.message_id ?? null;
    this.#own.add(call);
    this.#map("calls").set(event.call_id, call);
  }

  #update(event: ToolUpdate): void {
    const call = this.#ownCall(event.call_id);
    if (call === undefined) return;
    call.status = event.status ?? call.status;
    call.title = event.title ?? call.title;
    call.kind = event.kind ?? call.kind;
    call.locations = event.locations ?? call.locations;
    call.content = event.content ?? call.content;
    call.raw_output = event.raw_output ?? call.raw_output;
    call.reason = event.reason ?? call.reason;
    call.input = event.input ?? call.input;
    call.result_message_id = event.result_message_id ?? call.result_message_id;
    call.output += event.output ?? "";
  }

  #terminal(event: ev.TerminalOutput): void {
    const known = this.#folded.terminals.get(event.terminal_id);
    const empty = { data: "", exited: false, exit_code: null, signal: null };
    const terminal = this.#ours(known ?? empty, (copy) => this.#map("terminals").set(event.terminal_id, copy));
    terminal.data += event.data ?? "";
    if (event.exited === true) {
      terminal.exited = true;
      terminal.exit_code = event.exit_code ?? null;
      terminal.signal = event.signal ?? null;
    }
  }

  // -- turns --

  #setTurn(fields: Partial<ev.TurnState>): void {
    const last = this.#folded.turns.at(-1);
    if (last === undefined) return;
    const turns = this.#list("turns");
    turns[turns.length - 1] = { ...last, ...fields };
  }

  #unqueue(promptId: string | null | undefined): void {
    if (promptId == null || !this.#folded.queued.includes(promptId)) return;
    const queued = this.#list("queued");
    queued.splice(queued.indexOf(promptId), 1);
  }

  #rewound(event: Rewound): void {
    let keep = 0;
    if (event.to_message_id != null) {
      const place = this.#places.get(event.to_message_id);
      if (place === undefined) return;
      keep = place + 1;
    }
    const messages = this.#list("messages");
    const removed = messages.splice(keep);
    const gone = new Set(removed.map((message) => message.message_id));
    // A call without a message goes with its turn, if nothing of that is left.
    const left = new Set(messages.map((message) => message.turn_id));
    const turns = new Set(removed.map((message) => message.turn_id).filter((turn) => !left.has(turn)));
    for (const id of gone) this.#places.delete(id);
    const calls = this.#map("calls");
    for (const call of [...calls.values()]) {
      const goes = call.message_id === null ? turns.has(call.turn_id) : gone.has(call.message_id);
      if (goes) calls.delete(call.call_id);
    }
  }

  // -- work --

  #activity(event: ev.Activity): void {
    const known = this.#folded.activities.get(event.activity_id) ?? {};
    const content = event.content ?? (event.patch == null ? undefined : patched(known, event.patch));
    if (content !== undefined) {
      this.#map("activities").set(event.activity_id, content as Record<string, unknown>);
    }
  }

  #compaction(event: Compaction): void {
    const known = this.#folded.compactions.get(event.compaction_id);
    const joined = { ...event };
    for (const field of ["summary", "error"] as const) {
      const value = event[field] || known?.[field];
      if (value != null) joined[field] = value;
    }
    this.#map("compactions").set(event.compaction_id, joined);
  }
}

/** Give the document after a patch; undefined if the patch does not fit. */
function patched(document: unknown, patch: readonly ev.PatchOperation[]): unknown {
  try {
    return applyPatch(document, patch);
  } catch (error) {
    if (error instanceof PatchError) return undefined;
    throw error;
  }
}

/** Whether a turn is one that a client brought along. */
function isImported(turnId: string | null | undefined): boolean {
  return turnId?.startsWith("import_") ?? false;
}
