// Follows one session: every entry once and in order, through any number of cut connections.
//
// Each frame carries the cursor after it. A new connection sends the last one as Last-Event-ID, and the server goes on
// right behind it; where it cannot (the records are gone), it sends a snapshot that takes the place of all before it.

import type { Entry } from "../model";
import { Refused, refusal, ROOT, sessionPath } from "./api";
import { FrameReader, type Frame } from "./sse";

export type Snapshot = { first_seq: number; conversation: Record<string, unknown> };
export type Link =
  | { state: "connecting" }
  | { state: "live" }
  /** `until` is when the next try is due, in milliseconds since 1970. */
  | { state: "waiting"; tries: number; until: number }
  /** The tab was hidden for long: the connection is given back until it is looked at. */
  | { state: "resting" }
  | { state: "refused"; error: Refused };

export interface Follower {
  onEntry(entry: Entry): void;
  onSnapshot(snapshot: Snapshot): void;
  onLink(link: Link): void;
}

const FIRST_PAUSE = 400;
const LONGEST_PAUSE = 10_000;
/** The server says something every 15 seconds: a connection that is silent for longer is dead. */
const SILENCE = 40_000;
/** Browsers allow six connections to a server: tabs that nobody looks at give theirs back. */
const HIDDEN = 60_000;
/** Those that nobody has looked at yet do so sooner: a browser that starts opens all its tabs at once. */
const UNSEEN = 3000;

export class Connection {
  #cursor: string | null = null;
  #tries = 0;
  #closed = false;
  #abort: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #hiding: ReturnType<typeof setTimeout> | undefined;
  #resting = false;
  readonly #onVisible = () => this.#visibility();
  readonly #onOnline = () => this.retry();

  constructor(
    readonly sessionId: string,
    readonly follower: Follower,
  ) {
    document.addEventListener("visibilitychange", this.#onVisible);
    addEventListener("online", this.#onOnline);
    if (document.hidden) this.#restAfter(UNSEEN);
    void this.#run();
  }

  /** Try again now instead of at the end of the pause. */
  retry(): void {
    if (this.#timer === undefined || this.#closed) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    void this.#run();
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#hiding);
    document.removeEventListener("visibilitychange", this.#onVisible);
    removeEventListener("online", this.#onOnline);
    this.#abort?.abort();
  }

  async #run(): Promise<void> {
    this.follower.onLink({ state: "connecting" });
    const abort = (this.#abort = new AbortController());
    try {
      await this.#read(abort);
    } catch (error) {
      if (error instanceof Refused && error.status >= 400 && error.status < 500 && error.status !== 429) {
        if (!this.#closed) this.follower.onLink({ state: "refused", error });
        this.#closed = true;
      }
    }
    abort.abort();
    if (this.#closed) return;
    if (this.#resting) return this.follower.onLink({ state: "resting" });
    const pause = Math.min(FIRST_PAUSE * 2 ** this.#tries, LONGEST_PAUSE) * (0.75 + Math.random() / 2);
    this.#tries += 1;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#run();
    }, pause);
    this.follower.onLink({ state: "waiting", tries: this.#tries, until: Date.now() + pause });
  }

  async #read(abort: AbortController): Promise<void> {
    const headers: Record<string, string> = { accept: "text/event-stream" };
    if (this.#cursor !== null) headers["last-event-id"] = this.#cursor;
    let silence = setTimeout(() => abort.abort(), SILENCE);
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => abort.abort(), SILENCE);
    };
    try {
      const address = new URL(sessionPath(this.sessionId), ROOT);
      const response = await fetch(address, { headers, credentials: "same-origin", cache: "no-store", signal: abort.signal });
      if (!response.ok || response.body === null) throw refusal(response.status, await response.text());
      this.follower.onLink({ state: "live" });
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      const frames = new FrameReader();
      for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
        heard();
        if (abort.signal.aborted) return;
        for (const frame of frames.feed(piece.value)) this.#take(frame);
        this.#tries = 0;
      }
    } finally {
      clearTimeout(silence);
    }
  }

  #take(frame: Frame): void {
    const data: unknown = JSON.parse(frame.data);
    if (frame.event === "snapshot") this.follower.onSnapshot(data as Snapshot);
    else this.follower.onEntry(data as Entry);
    this.#cursor = frame.id ?? this.#cursor;
  }

  #visibility(): void {
    clearTimeout(this.#hiding);
    if (document.hidden) this.#restAfter(HIDDEN);
    else if (this.#resting) {
      this.#resting = false;
      if (!this.#closed) void this.#run();
    } else this.retry();
  }

  #restAfter(pause: number): void {
    this.#hiding = setTimeout(() => {
      this.#resting = true;
      if (this.#timer === undefined) this.#abort?.abort();
      else {
        clearTimeout(this.#timer);
        this.#timer = undefined;
        this.follower.onLink({ state: "resting" });
      }
    }, pause);
  }
}
