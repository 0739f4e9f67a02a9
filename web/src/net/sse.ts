// Server-sent events: reads frames from text that arrives in pieces of any size.
// https://html.spec.whatwg.org/multipage/server-sent-events.html

export interface Frame {
  event: string;
  id: string | null;
  data: string;
}

/** Collects text and gives the frames that it completes; comments are passed over. */
export class FrameReader {
  #rest = "";
  #data: string[] = [];
  #event = "message";
  #id: string | null = null;

  feed(text: string): Frame[] {
    const frames: Frame[] = [];
    // A CR at the end may be half of a CRLF: it waits for what follows.
    const lines = (this.#rest + text).split(/\r\n|\n|\r(?!$)/);
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line !== "") this.#field(line);
      else {
        if (this.#data.length > 0) frames.push({ event: this.#event, id: this.#id, data: this.#data.join("\n") });
        this.#data = [];
        this.#event = "message";
        this.#id = null;
      }
    }
    return frames;
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    if (colon === 0) return;
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    else if (name === "event") this.#event = value;
    else if (name === "id") this.#id = value;
  }
}
