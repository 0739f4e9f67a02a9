// Where things stand that belong to no message: the conversation itself does not say it.
//
// A mark stands behind a message of its lane (the subagent that speaks; "" for the agent itself).

import type { Folder } from "./fold";
import type { AnyEvent, Conversation } from "./model";

export interface Mark {
  kind: "notice" | "activity" | "compaction" | "lane" | "question" | "turn";
  /** The id, or for notices and turns their place in the list. */
  id: string;
  lane: string;
  after: string | null;
}

/** Collects marks as the events come; feed each event here after it was folded. */
export class Marks {
  #marks: readonly Mark[] = [];
  #last = new Map<string, string>();
  #notices = 0;
  #turns = 0;
  #seen = new Set<string>();

  get list(): readonly Mark[] {
    return this.#marks;
  }

  feed(event: AnyEvent, folder: Folder): void {
    const lane = event.lane ?? "";
    if ("message_id" in event && event.message_id != null && event.type !== "step_finished") {
      if (!this.#seen.has(event.message_id)) {
        this.#seen.add(event.message_id);
        this.#last.set(lane, event.message_id);
      }
      return;
    }
    switch (event.type) {
      case "notice":
        return this.#add("notice", String(this.#notices++), lane);
      case "activity":
        return this.#addOnce("activity", event.activity_id, lane);
      case "compaction":
        return this.#addOnce("compaction", event.compaction_id, lane);
      case "subagent_started":
        return this.#add("lane", lane, event.parent_lane ?? "");
      case "asked":
        return this.#addOnce("question", event.question_id, lane);
      case "turn_started":
        this.#turns += 1;
        return;
      case "turn_finished":
      case "turn_failed":
        return this.#addOnce("turn", String(this.#turns - 1), "");
      case "rewound":
        return this.#rewound(folder.conversation);
      default:
        return;
    }
  }

  /** Put everything of a snapshot where it most likely was. */
  static of(folded: Conversation): Marks {
    const marks = new Marks();
    for (const message of folded.messages) {
      const lane = message.lane ?? "";
      if (lane !== "" && !marks.#last.has(lane)) marks.#add("lane", lane, folded.lanes.get(lane)?.parent_lane ?? "");
      marks.#last.set(lane, message.message_id);
      marks.#seen.add(message.message_id);
    }
    folded.turns.forEach((turn, at) => {
      const last = folded.messages.findLast((one) => one.turn_id === turn.turn_id && one.lane === null);
      if (last !== undefined) marks.#put({ kind: "turn", id: String(at), lane: "", after: last.message_id });
    });
    for (const id of folded.activities.keys()) marks.#add("activity", id, "");
    for (const id of folded.compactions.keys()) marks.#add("compaction", id, "");
    for (const id of folded.questions.keys()) marks.#add("question", id, "");
    folded.notices.forEach((_, at) => marks.#add("notice", String(at), ""));
    marks.#notices = folded.notices.length;
    marks.#turns = folded.turns.length;
    return marks;
  }

  #add(kind: Mark["kind"], id: string, lane: string): void {
    this.#put({ kind, id, lane, after: this.#last.get(lane) ?? null });
  }

  #addOnce(kind: Mark["kind"], id: string, lane: string): void {
    if (!this.#marks.some((mark) => mark.kind === kind && mark.id === id)) this.#add(kind, id, lane);
  }

  #put(mark: Mark): void {
    this.#marks = [...this.#marks, mark];
  }

  #rewound(folded: Conversation): void {
    this.#last = new Map(folded.messages.map((message) => [message.lane ?? "", message.message_id]));
    this.#seen = new Set(folded.messages.map((message) => message.message_id));
    this.#marks = this.#marks.filter(({ after }) =>
      after === null ? folded.messages.length > 0 : this.#seen.has(after),
    );
  }
}
