// What every part of a transcript may need.

import { createContext } from "preact";
import { filledConversation } from "../fill";
import type { Conversation, TerminalState } from "../model";
import type { Answering } from "../questions/question";
import type { Lanes } from "./layout";

export interface TranscriptValue {
  folded: Conversation;
  lanes: Lanes;
  running: boolean;
  /** How many seconds each thought took, by `thoughtKey`. */
  thoughts: ReadonlyMap<string, number>;
  answer: Answering;
}

export const NO_TERMINALS: ReadonlyMap<string, TerminalState> = new Map();

export const TranscriptContext = createContext<TranscriptValue>({
  folded: filledConversation({}),
  lanes: new Map(),
  running: false,
  thoughts: new Map(),
  answer: null,
});
