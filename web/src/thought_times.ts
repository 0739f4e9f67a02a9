// How long the agent thought: the conversation itself has no times.

import type { AnyEvent } from "./model";

interface Thinking {
  key: string;
  messageId: string;
  from: number;
  sealed: boolean;
}

/** Names a thought by its message and its place among the thoughts of that message. */
export function thoughtKey(messageId: string, place: number): string {
  return `${messageId}#${place}`;
}

/** Measures thoughts from their first piece to what the same lane said next. */
export class ThoughtTimes {
  #seconds: ReadonlyMap<string, number> = new Map();
  #thinking = new Map<string, Thinking>();
  #count = new Map<string, number>();

  /** The length of each thought that is over, in seconds. */
  get seconds(): ReadonlyMap<string, number> {
    return this.#seconds;
  }

  feed(event: AnyEvent, at: number): void {
    const lane = event.lane ?? "";
    switch (event.type) {
      case "thought": {
        const open = this.#thinking.get(lane);
        if (open === undefined || open.sealed || open.messageId !== event.message_id) {
          this.#end(lane, at);
          const place = this.#count.get(event.message_id) ?? 0;
          this.#count.set(event.message_id, place + 1);
          const key = thoughtKey(event.message_id, place);
          this.#thinking.set(lane, { key, messageId: event.message_id, from: at, sealed: event.signature != null });
        } else if (event.signature != null) open.sealed = true;
        return;
      }
      case "text":
      case "media":
      case "source":
      case "tool_call":
        return this.#end(lane, at);
      case "turn_finished":
      case "turn_failed":
        for (const name of [...this.#thinking.keys()]) this.#end(name, at);
        return;
      default:
        return;
    }
  }

  #end(lane: string, at: number): void {
    const thinking = this.#thinking.get(lane);
    if (thinking === undefined) return;
    this.#thinking.delete(lane);
    this.#seconds = new Map(this.#seconds).set(thinking.key, Math.max(0, at - thinking.from));
  }
}
