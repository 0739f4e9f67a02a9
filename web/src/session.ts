// One session on the page: what the server says, folded once per frame, and what is on its way to the server.

import { isRunning } from "./conversation";
import { filledConversation } from "./fill";
import { Folder } from "./fold";
import { Marks, type Mark } from "./marks";
import type { AnyEvent, Command, Content, Conversation, Entry, Prompt, Receipt } from "./model";
import { newKey, sendCommand } from "./net/api";
import { Connection, type Link } from "./net/connection";
import { Store } from "./store";
import { ThoughtTimes } from "./thought_times";

export interface Sending {
  key: string;
  content: Content[];
}
export interface SessionState {
  conversation: Conversation;
  marks: readonly Mark[];
  link: Link;
  /** Whether the past has come. */
  loaded: boolean;
  /** Prompts that the server has not confirmed yet. */
  sending: readonly Sending[];
  /** The content of prompts that wait, as far as it is known. */
  waiting: ReadonlyMap<string, Content[]>;
  /** The turn that has set the plan; null when it is not known. */
  planTurn: string | null;
  /** When turns began and ended, in seconds since 1970. */
  times: ReadonlyMap<string, { from: number; to: number | null }>;
  /** How many seconds each thought took, by `thoughtKey`. */
  thoughts: ReadonlyMap<string, number>;
}

/** How long fetched entries may wait for a frame that never comes, because the tab is hidden. */
const HIDDEN_FRAME = 250;
/** How long an empty session is shown as loading after the connection is there. */
const SETTLE = 200;
/** How long an accepted prompt is shown as on its way. */
const CONFIRMED = 3000;

export class LiveSession {
  readonly state: Store<SessionState>;
  readonly #connection: Connection;
  #folder = new Folder();
  #marks = new Marks();
  #thoughts = new ThoughtTimes();
  #incoming: Entry[] = [];
  #frame: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #settling: ReturnType<typeof setTimeout> | undefined;
  #planTurn: string | null = null;
  #replacing: Promise<void> | null = null;
  #waiting = new Map<string, Content[]>();
  #times = new Map<string, { from: number; to: number | null }>();

  constructor(readonly id: string) {
    this.state = new Store<SessionState>({
      conversation: this.#folder.conversation,
      marks: [],
      link: { state: "connecting" },
      loaded: false,
      sending: [],
      waiting: this.#waiting,
      planTurn: null,
      times: this.#times,
      thoughts: this.#thoughts.seconds,
    });
    this.#connection = new Connection(id, {
      onEntry: (entry) => {
        this.#incoming.push(entry);
        this.#schedule();
      },
      onSnapshot: ({ conversation }) => {
        this.#incoming = [];
        this.#folder = new Folder(filledConversation(conversation));
        this.#marks = Marks.of(this.#folder.conversation);
        this.#schedule();
      },
      onLink: (link) => {
        this.state.update((state) => ({ ...state, link }));
        if (link.state === "live" && !this.state.value.loaded) {
          this.#settling = setTimeout(() => this.state.update((state) => ({ ...state, loaded: true })), SETTLE);
        }
      },
    });
  }

  close(): void {
    this.#connection.close();
    clearTimeout(this.#settling);
    clearTimeout(this.#timer);
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
  }

  retry(): void {
    this.#connection.retry();
  }

  /** Send a command; throws what the server says against it. */
  send<T>(command: Command): Promise<T> {
    return sendCommand<T>(this.id, command);
  }

  /** Send a prompt and show it at once; it is taken back if the server refuses it. */
  async prompt(content: Content[], busy?: Prompt["busy"]): Promise<Receipt> {
    const key = newKey();
    this.state.update((state) => ({ ...state, sending: [...state.sending, { key, content }] }));
    try {
      const receipt = await this.send<Receipt>({ type: "prompt", key, content, ...(busy === undefined ? {} : { busy }) });
      // Its record comes by the stream, a moment later; a snapshot does not name it.
      setTimeout(() => this.#sent(key), CONFIRMED);
      return receipt;
    } catch (error) {
      this.#sent(key);
      throw error;
    }
  }

  /** Go back to before a message and send this in its place; one after the other, as each takes back what the last one sent. */
  replace(before: string | null, content: Content[]): Promise<void> {
    const earlier = this.#replacing;
    const { conversation, sending } = this.state.value;
    const running = earlier !== null || sending.length > 0 || isRunning(conversation);
    const work = (earlier ?? Promise.resolve()).catch(() => {}).then(async () => {
      if (running) await this.send({ type: "cancel" });
      await this.send({ type: "rewind", to_message_id: before });
      await this.prompt(content);
    });
    this.#replacing = work;
    return work.finally(() => {
      if (this.#replacing === work) this.#replacing = null;
    });
  }

  #schedule(): void {
    if (this.#frame !== undefined || this.#timer !== undefined) return;
    if (document.hidden) this.#timer = setTimeout(() => this.#flush(), HIDDEN_FRAME);
    else {
      this.#frame = requestAnimationFrame(() => this.#flush());
      // A frame does not come once the tab is hidden.
      this.#timer = setTimeout(() => this.#flush(), 4 * HIDDEN_FRAME);
    }
  }

  #flush(): void {
    if (this.#frame !== undefined) cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = this.#timer = undefined;
    const confirmed = new Set<string>();
    for (const { event, at } of this.#incoming.splice(0)) {
      try {
        this.#folder.feed(event);
        this.#marks.feed(event, this.#folder);
        this.#thoughts.feed(event, at);
        this.#note(event, at, confirmed);
      } catch (error) {
        // One event that cannot be read must not take those behind it along.
        console.error(error, event);
      }
    }
    this.state.update((state) => ({
      ...state,
      conversation: this.#folder.conversation,
      marks: this.#marks.list,
      loaded: true,
      waiting: this.#waiting,
      planTurn: this.#planTurn,
      times: this.#times,
      thoughts: this.#thoughts.seconds,
      sending: confirmed.size === 0 ? state.sending : state.sending.filter(({ key }) => !confirmed.has(key)),
    }));
  }

  #note(event: AnyEvent, at: number, confirmed: Set<string>): void {
    switch (event.type) {
      case "prompt_queued":
        this.#waiting = new Map(this.#waiting).set(event.prompt_id, event.content ?? []);
        confirmed.add(event.prompt_id);
        return;
      case "plan":
        this.#planTurn = event.turn_id ?? null;
        return;
      case "turn_started":
        this.#times = new Map(this.#times).set(event.turn_id ?? "", { from: at, to: null });
        if (event.prompt_id != null) confirmed.add(event.prompt_id);
        return;
      case "turn_finished":
      case "turn_failed": {
        const { from } = this.#times.get(event.turn_id ?? "") ?? { from: at };
        this.#times = new Map(this.#times).set(event.turn_id ?? "", { from, to: at });
        return;
      }
      case "user_message":
        if (event.prompt_id != null) confirmed.add(event.prompt_id);
        return;
      default:
        return;
    }
  }

  #sent(key: string): void {
    this.state.update((state) => ({ ...state, sending: state.sending.filter((one) => one.key !== key) }));
  }
}
