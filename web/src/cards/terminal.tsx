/** The output of a command: its colours, its newest lines, its end. */
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { TerminalState } from "../conversation";
import { parseAnsi, plainText } from "./ansi";
import { CopyButton, SaveButton } from "./clipboard";
import { tailOf } from "./terminal_tail";

const TAIL_LINES = 200;
const TAIL_CHARACTERS = 40_000;
const MOST_LINES = 20_000;
const MOST_CHARACTERS = 2_000_000;

interface OutputProps {
  output: string;
  label: string;
}

/** Text as a program wrote it; of a long one the end is shown. */
export function Output({ output, label }: OutputProps) {
  const [all, setAll] = useState(false);
  const tail = useMemo(
    () => (all ? tailOf(output, MOST_LINES, MOST_CHARACTERS) : tailOf(output, TAIL_LINES, TAIL_CHARACTERS)),
    [output, all],
  );
  const pieces = useMemo(() => parseAnsi(output.slice(tail.from)), [output, tail.from]);
  const screen = useFollow<HTMLPreElement>(output);
  return (
    <div class="output">
      {tail.from > 0 && (
        <div class="more">
          <span>{tail.hidden} earlier lines are not shown</span>
          {!all && (
            <button type="button" onClick={() => setAll(true)}>
              Show them
            </button>
          )}
        </div>
      )}
      <div class="output-tools">
        <CopyButton text={() => plainText(output)} label="Copy the output" />
        <SaveButton text={() => output} label="Save the output as it is" name="output.txt" />
      </div>
      <pre ref={screen} class="output-text" tabIndex={0} role="region" aria-label={label}>
        {pieces.map((piece) =>
          piece.control ? (
            <mark class="hidden-character" title="a control character, shown and not obeyed">
              {piece.text}
            </mark>
          ) : piece.style ? (
            <span class={piece.style}>{piece.text}</span>
          ) : (
            piece.text
          ),
        )}
      </pre>
    </div>
  );
}

export function TerminalView({ terminal }: { terminal: TerminalState | undefined }) {
  const ended = terminal?.exited ? endOf(terminal) : null;
  return (
    <div class="terminal">
      <Output output={terminal?.data ?? ""} label="Terminal output" />
      <div class={ended === null ? "terminal-end" : `terminal-end terminal-${ended.good ? "good" : "bad"}`} role="status">
        {ended === null ? "running" : ended.text}
      </div>
    </div>
  );
}

function endOf(terminal: TerminalState): { good: boolean; text: string } {
  if (terminal.signal) return { good: false, text: `ended by ${terminal.signal}` };
  return { good: terminal.exit_code === 0, text: `exit ${terminal.exit_code ?? "unknown"}` };
}

/** Keeps the end in sight while output comes, unless a person scrolled up. */
function useFollow<T extends HTMLElement>(text: string) {
  const element = useRef<T>(null);
  const atEnd = useRef(true);
  useEffect(() => {
    const box = element.current;
    if (box === null) return undefined;
    const look = (): void => {
      atEnd.current = box.scrollHeight - box.scrollTop - box.clientHeight < 24;
    };
    box.addEventListener("scroll", look, { passive: true });
    return () => box.removeEventListener("scroll", look);
  }, []);
  useEffect(() => {
    if (element.current !== null && atEnd.current) element.current.scrollTop = element.current.scrollHeight;
  }, [text]);
  return element;
}
