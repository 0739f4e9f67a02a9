// The shapes on the wire: the mirror of trunkline's events.py, content.py, questions.py, options.py and commands.py.
// A field that has its default is left out on the wire, so it is optional here. Words of an OpenWord may be unknown.

/** One of the known words, or a word of another program or a newer version. */
type Open<T extends string> = T | (string & {});

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type Meta = Record<string, unknown>;

// -- content (content.py) ---------------------------------------------------------------------------------------------

interface BlockBase {
  annotations?: Meta | null;
  meta?: Meta | null;
}
export interface TextBlock extends BlockBase {
  type: "text";
  text: string;
}
interface MediaBlock extends BlockBase {
  mime_type: string;
  /** Base64. */
  data?: string | null;
  url?: string | null;
  blob?: string | null;
}
export interface ImageBlock extends MediaBlock {
  type: "image";
}
export interface AudioBlock extends MediaBlock {
  type: "audio";
}
export interface VideoBlock extends MediaBlock {
  type: "video";
}
export interface LinkBlock extends BlockBase {
  type: "link";
  uri: string;
  name: string;
  title?: string | null;
  description?: string | null;
  mime_type?: string | null;
  size?: number | null;
}
export interface ResourceBlock extends BlockBase {
  type: "resource";
  uri: string;
  text?: string | null;
  data?: string | null;
  mime_type?: string | null;
  blob?: string | null;
}
/** `old` is missing for a new file, `new` is null for a removed one. */
export interface DiffBlock extends BlockBase {
  type: "diff";
  path: string;
  new: string | null;
  old?: string | null;
}
export interface TerminalBlock extends BlockBase {
  type: "terminal";
  terminal_id: string;
}
export interface SourceBlock extends BlockBase {
  type: "source";
  source_id: string;
  url?: string | null;
  title?: string | null;
  document?: string | null;
  mime_type?: string | null;
}
export type Content =
  | TextBlock
  | ImageBlock
  | AudioBlock
  | VideoBlock
  | LinkBlock
  | ResourceBlock
  | DiffBlock
  | TerminalBlock
  | SourceBlock;

/** Join the text of the blocks that have one; links count by their address. */
export function textOf(content: readonly Content[]): string {
  const pieces: string[] = [];
  for (const block of content) {
    if (block.type === "text") pieces.push(block.text);
    else if (block.type === "link") pieces.push(block.uri);
    else if (block.type === "resource" && block.text != null) pieces.push(block.text);
  }
  return pieces.join("\n");
}

// -- options (options.py) ---------------------------------------------------------------------------------------------

export interface Choice {
  value: string;
  name: string;
  description?: string | null;
}
export interface ChoiceGroup {
  group: string;
  name: string;
  choices: Choice[];
}
export interface ConfigOption {
  option_id: string;
  name: string;
  /** A switch has true or false, and no choices. */
  value: string | boolean;
  description?: string | null;
  category?: Open<"mode" | "model" | "model_config" | "thought_level" | "other">;
  choices?: Choice[];
  groups?: ChoiceGroup[];
}

// -- questions (questions.py) -----------------------------------------------------------------------------------------

export type OptionKind = Open<"allow_once" | "allow_always" | "reject_once" | "reject_always">;
export type Outcome = "selected" | "accepted" | "declined" | "cancelled" | "expired";
export interface Option {
  option_id: string;
  name: string;
  kind: OptionKind;
  wants_words?: boolean;
}
export interface Coverage {
  tool: string;
  kind: string;
  words?: string[];
  digest?: string | null;
}
export interface Permission {
  type: "permission";
  message?: string;
  call_id: string;
  options?: Option[];
  allows_edit?: boolean;
  covers?: Coverage | null;
}
export interface Form {
  type: "form";
  message?: string;
  /** A flat JSON schema. */
  fields: Record<string, unknown>;
  call_id?: string | null;
  value?: unknown;
  answer_schema?: Record<string, unknown> | null;
  single_answer?: boolean;
}
export interface Link {
  type: "link";
  message?: string;
  url: string;
  call_id?: string | null;
}
export interface ClientCall {
  type: "client_call";
  message?: string;
  call_id: string;
  name?: string;
  input?: unknown;
}
export type Question = Permission | Form | Link | ClientCall;

// -- events (events.py) -----------------------------------------------------------------------------------------------

export type StopReason = Open<"end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled">;
export type ToolKind = Open<
  "read" | "edit" | "delete" | "move" | "search" | "execute" | "think" | "fetch" | "switch_mode" | "other"
>;
export type ToolStatus = Open<"pending" | "in_progress" | "completed" | "failed" | "denied" | "cancelled">;
export type Fault = Open<"ours" | "agent" | "peer" | "user">;
export const FINAL_STATUSES: ReadonlySet<string> = new Set(["completed", "failed", "denied", "cancelled"]);

interface EventBase {
  turn_id?: string | null;
  /** The subagent it came from. */
  lane?: string | null;
  meta?: Meta | null;
}
export interface TokenUsage {
  provider?: string | null;
  model?: string | null;
  input_tokens?: number;
  output_tokens?: number;
  reasoning_tokens?: number;
  cached_input_tokens?: number;
  cache_write_tokens?: number;
}
export interface TurnStarted extends EventBase {
  type: "turn_started";
  prompt_id?: string | null;
  run_id?: string | null;
  by?: string | null;
}
export interface TurnSuspended extends EventBase {
  type: "turn_suspended";
  question_ids?: string[];
}
export interface TurnResumed extends EventBase {
  type: "turn_resumed";
}
export interface TurnFinished extends EventBase {
  type: "turn_finished";
  stop_reason: StopReason;
  usage?: TokenUsage[];
}
export interface TurnFailed extends EventBase {
  type: "turn_failed";
  code: string;
  message: string;
  fault?: Fault;
  usage?: TokenUsage[];
}
export interface PromptQueued extends EventBase {
  type: "prompt_queued";
  prompt_id: string;
  content?: Content[];
}
export interface PromptDropped extends EventBase {
  type: "prompt_dropped";
  prompt_id: string;
  reason?: string;
}
export interface Rewound extends EventBase {
  type: "rewound";
  to_message_id?: string | null;
}
export interface RunOpened extends EventBase {
  type: "run_opened";
  run_id: string;
  front_end: string;
  from_seq: number;
}
export interface RunClosed extends EventBase {
  type: "run_closed";
  run_id: string;
  to_seq: number;
}
export interface UserMessage extends EventBase {
  type: "user_message";
  message_id: string;
  content?: Content[];
  trusted?: boolean;
  prompt_id?: string | null;
}
export interface Text extends EventBase {
  type: "text";
  message_id: string;
  delta: string;
}
export interface Thought extends EventBase {
  type: "thought";
  message_id: string;
  delta?: string;
  signature?: string | null;
}
export interface Media extends EventBase {
  type: "media";
  message_id: string;
  content: Content;
}
export interface Source extends EventBase {
  type: "source";
  message_id: string;
  source_id: string;
  url?: string | null;
  title?: string | null;
  document?: string | null;
  mime_type?: string | null;
}
export interface Location {
  path: string;
  line?: number | null;
}
export interface ToolCall extends EventBase {
  type: "tool_call";
  call_id: string;
  name: string;
  title?: string | null;
  kind?: ToolKind;
  message_id?: string | null;
  native_id?: string | null;
}
export interface ToolInput extends EventBase {
  type: "tool_input";
  call_id: string;
  delta: string;
}
export interface ToolUpdate extends EventBase {
  type: "tool_update";
  call_id: string;
  status?: ToolStatus | null;
  title?: string | null;
  kind?: ToolKind | null;
  input?: unknown;
  locations?: Location[] | null;
  content?: Content[] | null;
  /** Text appended to the call's output. */
  output?: string | null;
  raw_output?: unknown;
  reason?: string | null;
  result_message_id?: string | null;
}
export interface TerminalOutput extends EventBase {
  type: "terminal_output";
  terminal_id: string;
  data?: string;
  exit_code?: number | null;
  signal?: string | null;
  exited?: boolean;
}
export interface Asked extends EventBase {
  type: "asked";
  question_id: string;
  question: Question;
  durable_key?: string | null;
  group?: string | null;
  /** Seconds since 1970. */
  expires_at?: number | null;
}
export interface Answered extends EventBase {
  type: "answered";
  question_id: string;
  outcome: Outcome;
  option_id?: string | null;
  option_kind?: string | null;
  input?: unknown;
  content?: unknown;
  reason?: string | null;
  by?: string | null;
}
export interface Decided extends EventBase {
  type: "decided";
  allowed: boolean;
  by: string;
  reason: string;
  rule?: string | null;
  call_id?: string | null;
  tool?: string;
  kind?: ToolKind;
  paths?: string[];
  command?: string | null;
}
export interface PlanEntry {
  content: string;
  status?: Open<"pending" | "in_progress" | "completed">;
  priority?: Open<"high" | "medium" | "low">;
}
export interface Plan extends EventBase {
  type: "plan";
  entries?: PlanEntry[];
}
export interface StepStarted extends EventBase {
  type: "step_started";
  step_id: string;
  name?: string;
  kind?: Open<"model" | "node"> | null;
}
export interface StepFinished extends EventBase {
  type: "step_finished";
  step_id: string;
  message_id?: string | null;
}
export interface SubagentStarted extends EventBase {
  type: "subagent_started";
  name?: string;
  parent_lane?: string | null;
  parent_call_id?: string | null;
  description?: string | null;
}
export interface SubagentFinished extends EventBase {
  type: "subagent_finished";
  outcome?: Open<"completed" | "failed" | "cancelled">;
  message?: string | null;
  result?: unknown;
}
export interface PatchOperation {
  op: string;
  path: string;
  from?: string;
  value?: unknown;
}
export interface Activity extends EventBase {
  type: "activity";
  activity_id: string;
  activity_type: string;
  content?: Record<string, unknown> | null;
  patch?: PatchOperation[] | null;
}
export interface Compaction extends EventBase {
  type: "compaction";
  compaction_id: string;
  status: Open<"in_progress" | "completed" | "failed" | "cancelled">;
  summary?: string | null;
  error?: string | null;
}
export interface Notice extends EventBase {
  type: "notice";
  title: string;
  severity?: Open<"info" | "warning" | "error">;
  description?: string | null;
  code?: string | null;
}
export interface StateReplaced extends EventBase {
  type: "state_replaced";
  state: unknown;
}
export interface StatePatched extends EventBase {
  type: "state_patched";
  patch: PatchOperation[];
}
export interface ConfigChanged extends EventBase {
  type: "config_changed";
  options?: ConfigOption[];
}
export interface CommandInfo {
  name: string;
  description?: string;
  hint?: string | null;
}
export interface CommandsChanged extends EventBase {
  type: "commands_changed";
  commands?: CommandInfo[];
}
export interface InfoChanged extends EventBase {
  type: "info_changed";
  title?: string | null;
  /** The person who chose the title. */
  by?: string | null;
}
export interface Cost {
  amount: number;
  currency: string;
}
export interface ContextUsage extends EventBase {
  type: "usage";
  used: number;
  size: number;
  cost?: Cost | null;
}
export interface Custom extends EventBase {
  type: "custom";
  name: string;
  value?: unknown;
}
export interface Raw extends EventBase {
  type: "raw";
  source: string;
  payload?: unknown;
}
export type AnyEvent =
  | TurnStarted | TurnSuspended | TurnResumed | TurnFinished | TurnFailed | PromptQueued | PromptDropped | Rewound
  | RunOpened | RunClosed | UserMessage | Text | Thought | Media | Source | ToolCall | ToolInput | ToolUpdate
  | TerminalOutput | Asked | Answered | Decided | Plan | StepStarted | StepFinished | SubagentStarted
  | SubagentFinished | Activity | Compaction | Notice | StateReplaced | StatePatched | ConfigChanged
  | CommandsChanged | InfoChanged | ContextUsage | Custom | Raw;

/** What a frame of the stream carries: an event, its place and its time (seconds since 1970). */
export interface Entry {
  seq: number;
  at: number;
  event: AnyEvent;
}

// -- commands (commands.py) -------------------------------------------------------------------------------------------

interface CommandBase {
  /** Posting the same key twice is one command. */
  key?: string;
  meta?: Meta;
}
export interface Prompt extends CommandBase {
  type: "prompt";
  content: Content[];
  message_id?: string;
  busy?: "reject" | "queue" | "interrupt" | "steer";
}
export interface Answer extends CommandBase {
  type: "answer";
  question_id: string;
  outcome?: Outcome;
  option_id?: string;
  /** The tool's arguments as the person edited them. */
  input?: unknown;
  /** A form's fields, or the result of a client call. */
  content?: unknown;
  reason?: string;
}
export interface Cancel extends CommandBase {
  type: "cancel";
  turn_id?: string;
  reason?: string;
}
export interface SetConfig extends CommandBase {
  type: "set_config";
  option_id: string;
  value: string | boolean;
}
export interface Rewind extends CommandBase {
  type: "rewind";
  to_message_id?: string | null;
}
export interface DropPrompt extends CommandBase {
  type: "drop_prompt";
  prompt_id: string;
}
export type Command = Prompt | Answer | Cancel | SetConfig | Rewind | DropPrompt;

/** What comes of a prompt. */
export interface Receipt {
  prompt_id: string;
  turn_id?: string | null;
  message_id?: string | null;
  steered?: boolean;
}

export type * from "./conversation";

/** Decode a part of an address; one that is not encoded as it should be stays as it is. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Give the last part of an address, as a person wrote it. */
export function fileNameOf(uri: string): string {
  return decoded(uri.split("/").at(-1) ?? "");
}
