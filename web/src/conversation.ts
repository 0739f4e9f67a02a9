// The conversation: the mirror of trunkline's conversation.py. Here every field is there, as after folding.

import type {
  Answered,
  Asked,
  CommandInfo,
  Compaction,
  ConfigOption,
  Content,
  ContextUsage,
  Custom,
  Fault,
  Location,
  Notice,
  PlanEntry,
  Raw,
  StopReason,
  TokenUsage,
  ToolKind,
  ToolStatus,
} from "./model";

export interface TextPart {
  type: "text";
  part_id: string;
  text: string;
}
export interface ThoughtPart {
  type: "thought";
  part_id: string;
  text: string;
  signature: string | null;
}
export interface MediaPart {
  type: "media";
  part_id: string;
  content: Content;
}
export interface SourcePart {
  type: "source";
  part_id: string;
  source_id: string;
  url: string | null;
  title: string | null;
  document: string | null;
  mime_type: string | null;
}
export interface CallPart {
  type: "call";
  part_id: string;
  call_id: string;
}
export type Part = TextPart | ThoughtPart | MediaPart | SourcePart | CallPart;

/** The person's message has content, the agent's has parts. */
export interface Message {
  message_id: string;
  role: "user" | "agent";
  turn_id: string | null;
  lane: string | null;
  content: Content[];
  parts: Part[];
  trusted: boolean;
}
export interface Call {
  call_id: string;
  name: string;
  title: string | null;
  kind: ToolKind;
  status: ToolStatus;
  message_id: string | null;
  /** The message that stood last when a call came that belongs to none. */
  after: string | null;
  lane: string | null;
  turn_id: string | null;
  native_id: string | null;
  /** The JSON text of the arguments as it was streamed. */
  arguments: string;
  input: unknown;
  locations: Location[];
  content: Content[];
  output: string;
  raw_output: unknown;
  reason: string | null;
  result_message_id: string | null;
  trusted: boolean;
}
export interface QuestionState {
  asked: Asked;
  answered: Answered | null;
}
export interface TurnState {
  turn_id: string;
  status: "running" | "suspended" | "finished" | "failed";
  stop_reason: StopReason | null;
  code: string | null;
  message: string | null;
  fault: Fault | null;
  usage: TokenUsage[];
}
export interface LaneState {
  name: string;
  parent_lane: string | null;
  parent_call_id: string | null;
  description: string | null;
  outcome: string | null;
  message: string | null;
  result: unknown;
}
export interface TerminalState {
  data: string;
  exited: boolean;
  exit_code: number | null;
  signal: string | null;
}

/** What is kept by id is a Map: it keeps the order in which things came, whatever the ids look like. */
export interface Conversation {
  messages: Message[];
  calls: Map<string, Call>;
  turns: TurnState[];
  questions: Map<string, QuestionState>;
  plan: PlanEntry[];
  state: unknown;
  steps: Map<string, boolean>;
  lanes: Map<string, LaneState>;
  terminals: Map<string, TerminalState>;
  activities: Map<string, Record<string, unknown>>;
  compactions: Map<string, Compaction>;
  notices: Notice[];
  customs: Custom[];
  raws: Raw[];
  queued: string[];
  options: ConfigOption[];
  commands: CommandInfo[];
  title: string | null;
  usage: ContextUsage | null;
}

/** Whether the last turn goes on: it works, or waits for answers. */
export function isRunning(folded: Conversation): boolean {
  const status = folded.turns.at(-1)?.status;
  return status === "running" || status === "suspended";
}
