// Puts everything of a conversation in the order in which it is read: messages, and what stands between them.

import type { Mark } from "../marks";
import type { Call, Conversation, Message } from "../model";

export type Item =
  | { kind: "message"; key: string; message: Message }
  | { kind: "call"; key: string; call: Call }
  | { kind: "mark"; key: string; mark: Mark };

/** What is read in each lane; "" is the agent itself. */
export type Lanes = ReadonlyMap<string, readonly Item[]>;

export function layOut(folded: Conversation, marks: readonly Mark[]): Lanes {
  const lanes = new Map<string, Item[]>();
  const lane = (name: string): Item[] => {
    const known = lanes.get(name);
    if (known !== undefined) return known;
    const made: Item[] = [];
    lanes.set(name, made);
    return made;
  };
  const loose = groupBy([...folded.calls.values()].filter((call) => call.message_id === null), (call) => call.after);
  const marked = groupBy(marks.filter((mark) => stands(mark, folded)), (mark) => mark.after);
  const follow = (after: string | null): void => {
    for (const call of loose.get(after) ?? []) lane(call.lane ?? "").push({ kind: "call", key: `c:${call.call_id}`, call });
    for (const mark of marked.get(after) ?? []) lane(mark.lane).push({ kind: "mark", key: `${mark.kind}:${mark.id}`, mark });
  };
  follow(null);
  for (const message of folded.messages) {
    lane(message.lane ?? "").push({ kind: "message", key: `m:${message.message_id}`, message });
    follow(message.message_id);
  }
  return lanes;
}

/** Whether a mark stands for itself: what belongs to a call is shown with the call. */
function stands(mark: Mark, folded: Conversation): boolean {
  if (mark.kind === "question") {
    const callId = callOf(mark.id, folded);
    return callId === null || !folded.calls.has(callId);
  }
  if (mark.kind === "lane") {
    const parent = folded.lanes.get(mark.id)?.parent_call_id ?? null;
    return parent === null || !folded.calls.has(parent);
  }
  return true;
}

/** Whether nothing can be seen of what came of a turn: a person would wait for more. */
export function isSilent(turnId: string, folded: Conversation): boolean {
  const ofTurn = (one: { turn_id?: string | null }): boolean => one.turn_id === turnId;
  const parts = folded.messages.filter((one) => ofTurn(one) && one.role === "agent").flatMap((one) => one.parts);
  return (
    parts.every((part) => part.type === "text" && part.text.trim() === "") &&
    ![...folded.calls.values()].some(ofTurn) &&
    ![...folded.questions.values()].some(({ asked }) => ofTurn(asked)) &&
    !folded.notices.some(ofTurn) &&
    ![...folded.compactions.values()].some(ofTurn)
  );
}

/** The call that a question is about. */
export function callOf(questionId: string, folded: Conversation): string | null {
  const question = folded.questions.get(questionId)?.asked.question;
  return question?.call_id ?? null;
}

export function groupBy<K, V>(values: Iterable<V>, key: (value: V) => K): Map<K, V[]> {
  const groups = new Map<K, V[]>();
  for (const value of values) {
    const name = key(value);
    const group = groups.get(name);
    if (group === undefined) groups.set(name, [value]);
    else group.push(value);
  }
  return groups;
}
