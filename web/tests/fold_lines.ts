// Folds streams of events for tests/browser/test_page_fold.py: a line of JSON in, a line of JSON out.
import { createInterface } from "node:readline";
import { filledConversation } from "../src/fill";
import { Folder } from "../src/fold";
import type { AnyEvent, Conversation } from "../src/model";

interface Given {
  events: AnyEvent[];
  /** What Python folded, as it is in a snapshot. */
  expected: Partial<Record<keyof Conversation, unknown>>;
  /** After how many events a snapshot is taken, from which another fold goes on. */
  cut: number;
  snapshot: Partial<Record<keyof Conversation, unknown>>;
}

/** A Map as a list of pairs, so that the order is compared too. */
function plain(_: string, value: unknown): unknown {
  return value instanceof Map ? [...value] : value;
}

for await (const line of createInterface({ input: process.stdin })) {
  const { events, expected, cut, snapshot } = JSON.parse(line) as Given;
  const folder = new Folder();
  const reads: [Conversation, string][] = [];
  for (const event of events) {
    folder.feed(event);
    reads.push([folder.conversation, JSON.stringify(folder.conversation, plain)]);
  }
  const atOnce = new Folder();
  for (const event of events) atOnce.feed(event);
  const resumed = new Folder(filledConversation(snapshot));
  for (const event of events.slice(cut)) resumed.feed(event);
  const report = {
    expected: JSON.stringify(filledConversation(expected), plain),
    folded: JSON.stringify(folder.conversation, plain),
    at_once: JSON.stringify(atOnce.conversation, plain),
    resumed: JSON.stringify(resumed.conversation, plain),
    reads_stay: reads.every(([read, text]) => JSON.stringify(read, plain) === text),
  };
  process.stdout.write(`${JSON.stringify(report)}\n`);
}
