// Runs the pure parts of the cards for tests/browser/test_page_texts.py: a line of JSON in, a line of JSON out.
import { createInterface } from "node:readline";
import { parseAnsi } from "../src/cards/ansi";
import { summaryOf } from "../src/cards/call_summary";
import { changeOf, type Row } from "../src/cards/diff_rows";
import { fieldsOf, readField } from "../src/questions/form_fields";
import { momentWords } from "../src/questions/moment";
import { saysWhatItIs } from "../src/shell/option_words";
import { spentTokens } from "../src/shell/spent_tokens";
import { textOf } from "../src/composer/attachments";
import { BlockSplitter } from "../src/markdown/blocks";
import { escapeJson, revealed } from "../src/cards/reveal";
import { tailOf } from "../src/cards/terminal_tail";
import { FrameReader } from "../src/net/sse";

const answers: Record<string, (given: never) => unknown> = {
  frames: ({ pieces }: { pieces: string[] }) => {
    const reader = new FrameReader();
    return pieces.flatMap((piece) => reader.feed(piece));
  },
  reveal: ({ text }: { text: string }) => revealed(text),
  escape_json: ({ text }: { text: string }) => escapeJson(text),
  ansi: ({ text }: { text: string }) => parseAnsi(text),
  file: ({ bytes }: { bytes: number[] }) => textOf(new Uint8Array(bytes).buffer),
  summary: ({ text }: { text: string }) => summaryOf({ content: [{ type: "text", text }], output: "", input: null, arguments: "" }),
  moment: ({ at, now }: { at: number; now: number }) => momentWords(new Date(at * 1000), new Date(now * 1000)),
  spent: ({ usages }: { usages: Parameters<typeof spentTokens>[0] }) => spentTokens(usages),
  says_what_it_is: ({ choice }: { choice: string }) => saysWhatItIs(choice),
  tail: ({ text, lines, characters }: { text: string; lines: number; characters: number }) => tailOf(text, lines, characters),
  blocks: ({ text, cuts }: { text: string; cuts: number[] }) => {
    const growing = new BlockSplitter();
    for (const cut of cuts) growing.split(text.slice(0, cut));
    return { grown: growing.split(text), whole: new BlockSplitter().split(text) };
  },
  change: ({ before, after }: { before: string | null; after: string | null }) => {
    const change = changeOf(before, after);
    const rows = change.rows.flatMap((row): Row[] => ("folded" in row ? row.folded : [row]));
    return { ...change, rows };
  },
  form: ({ schema, values }: { schema: Record<string, unknown>; values: Record<string, unknown> }) => {
    const read = fieldsOf(schema).map((field) => {
      const touched = Object.hasOwn(values, field.name);
      return [field.name, readField(field, touched ? values[field.name] : field.initial, touched)] as const;
    });
    const wrong = read.filter(([, { error }]) => error !== undefined).map(([name]) => name);
    return { wrong, content: Object.fromEntries(read.filter(([, { value }]) => value !== undefined).map(([name, { value }]) => [name, value])) };
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { what, given } = JSON.parse(line) as { what: string; given: never };
  process.stdout.write(`${JSON.stringify(answers[what]?.(given))}\n`);
}
