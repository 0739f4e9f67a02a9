// What a person may do with a message that was sent.

import { createContext } from "preact";
import type { Content, Message } from "../model";

export interface TurnActionsValue {
  /** Whether prompts are allowed here and now. */
  canPrompt: boolean;
  /** Go back to before the message and send this instead. */
  edit: (message: Message, content: Content[]) => void;
  /** Go back to before the message and send it again; asks first where more than its answer is taken back. */
  again: (message: Message) => void;
  /** Go on in a new session with what was said up to the end of the message's turn. */
  fork: (message: Message) => void;
}

export const TurnActions = createContext<TurnActionsValue>({ canPrompt: false, edit: () => {}, again: () => {}, fork: () => {} });
