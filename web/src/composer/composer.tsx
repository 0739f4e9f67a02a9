// The field where a prompt is written, with its attachments, completions and the buttons to send and to stop.

import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { CommandInfo, Content, Prompt } from "../model";
import type { AgentInfo } from "../net/api";
import { Glyph } from "../shell/glyph";
import { isComposing } from "../shell/shortcuts";
import { attach, attachmentOf, NotSendable, type Attachment } from "./attachments";
import { AttachmentList } from "./attachment_list";
import { BusyChoice, chosenBusy, keepBusy, type Busy } from "./busy_choice";
import { useSuggestions, wantedAt, type Suggestion } from "./completion";
import { keepAttachments, keepDraft, restoreAttachments, restoreDraft } from "./drafts";
import { useFileDrop } from "./file_drop";
import { fitHeight } from "./fit_height";
import { mentions } from "./mentions";
import { SuggestionList } from "./suggestion_list";

export interface Draft {
  text: string;
  attachments: readonly Attachment[];
}

interface Props {
  sessionId: string | null;
  agent: AgentInfo | undefined;
  commands: readonly CommandInfo[];
  /** The folder of the session, in which files are mentioned. */
  folder: string | null;
  /** What was said before, oldest first: the Up key brings it back. */
  history: readonly string[];
  running: boolean;
  disabled: boolean;
  bodyLimit: number | undefined;
  /** What could not be sent by other means: it comes back into the field, if that is empty. */
  unsent?: Content[] | null;
  /** Called when something is typed for which there must be a session. */
  onNeedSession?: () => void;
  onSend: (content: Content[], busy: Prompt["busy"]) => Promise<void>;
  onStop: () => void;
  onProblem: (message: string) => void;
}

export function Composer(props: Props) {
  const { sessionId, agent, commands, folder, history, running, disabled, unsent, onNeedSession, onSend, onStop, onProblem } = props;
  const [text, setText] = useState(() => restoreDraft(sessionId));
  const [attachments, setAttachments] = useState<readonly Attachment[]>(() => restoreAttachments(sessionId));
  const [caret, setCaret] = useState(text.length);
  const [chosen, setChosen] = useState(0);
  const [closed, setClosed] = useState(false);
  const [recalled, setRecalled] = useState<number | null>(null);
  const [busy, setBusy] = useState<Busy>(chosenBusy);
  const field = useRef<HTMLTextAreaElement>(null);
  const mentioned = useRef(new Set<string>());
  const picker = useRef<HTMLInputElement>(null);
  const list = useId();

  const wanted = closed ? null : wantedAt(text, caret);
  const suggestions = useSuggestions(wanted, commands, sessionId);
  const open = wanted !== null && suggestions.length > 0;
  const active = Math.min(chosen, suggestions.length - 1);

  useEffect(() => keepDraft(sessionId, text), [sessionId, text]);
  useEffect(() => keepAttachments(sessionId, attachments), [sessionId, attachments]);
  useEffect(() => {
    field.current?.setSelectionRange(text.length, text.length);
    // On a touch screen the focus would bring the keyboard up.
    if (document.activeElement === document.body && matchMedia("(pointer: fine)").matches) field.current?.focus();
  }, []);
  const needsSession = sessionId === null && wanted?.kind === "file";
  useEffect(() => {
    if (needsSession) onNeedSession?.();
  }, [needsSession]);
  useEffect(() => {
    if (unsent == null) return;
    const back = unsent.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
    const files = unsent.filter((block) => block.type !== "text").map(attachmentOf);
    setText((now) => (now === "" ? back : now));
    setAttachments((now) => (now.length === 0 ? files : now));
  }, [unsent]);
  useLayoutEffect(() => fitHeight(field.current), [text]);
  useEffect(() => setChosen(0), [wanted?.kind, wanted?.query]);

  const write = (value: string, at = value.length) => {
    setText(value);
    setCaret(at);
    setClosed(false);
    requestAnimationFrame(() => field.current?.setSelectionRange(at, at));
  };

  const complete = ({ value }: Suggestion) => {
    if (wanted === null) return;
    if (wanted.kind === "file") mentioned.current.add(value.slice(1));
    const head = `${text.slice(0, wanted.from)}${value} `;
    write(head + text.slice(wanted.to).replace(/^ /, ""), head.length);
    field.current?.focus();
  };

  const send = (mode: Busy = busy) => {
    const said = text.trim();
    if (disabled || (said === "" && attachments.length === 0)) return;
    const content: Content[] = [
      ...(said === "" ? [] : [{ type: "text" as const, text: said }]),
      ...mentions(said, folder, mentioned.current),
      ...attachments.map(({ block }) => block),
    ];
    const before: Draft = { text, attachments };
    setText("");
    setAttachments([]);
    setRecalled(null);
    void onSend(content, running ? mode : "queue").catch((error: unknown) => {
      // Nothing that was written is lost, unless something new is written already.
      setText((now) => (now === "" ? before.text : now));
      setAttachments((now) => (now.length === 0 ? before.attachments : now));
      onProblem(error instanceof Error ? error.message : String(error));
    });
  };

  const add = async (files: Iterable<File>) => {
    for (const file of files) {
      try {
        const attachment = await attach(file, agent, props.bodyLimit);
        setAttachments((known) => [...known, attachment]);
      } catch (error) {
        onProblem(error instanceof NotSendable ? error.message : `${file.name} could not be read.`);
      }
    }
    field.current?.focus();
  };
  const dropping = useFileDrop((files) => disabled || void add(files));

  const recall = (step: -1 | 1): boolean => {
    const at = (recalled ?? history.length) + step;
    const isOwn = recalled === null ? text === "" : text === history[recalled];
    if (!isOwn || at < 0 || (recalled === null && step === 1)) return false;
    const value = history[at];
    setRecalled(value === undefined ? null : at);
    write(value ?? "");
    return true;
  };

  const onKeyDown = (event: KeyboardEvent) => {
    if (isComposing(event)) return;
    if (open) {
      if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        const step = event.key === "ArrowDown" ? 1 : suggestions.length - 1;
        setChosen((active + step) % suggestions.length);
        return;
      }
      const suggestion = suggestions[active];
      // A command that is written out is sent by Enter, not completed.
      const isWhole = suggestion !== undefined && suggestion.value === text.trim();
      if (suggestion !== undefined && (event.key === "Tab" || (event.key === "Enter" && !event.shiftKey && !isWhole))) {
        event.preventDefault();
        complete(suggestion);
        return;
      }
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        setClosed(true);
        return;
      }
    }
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      const other = busy === "queue" ? "steer" : "queue";
      send(event.ctrlKey || event.metaKey ? other : busy);
    } else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && !event.shiftKey) {
      if (recall(event.key === "ArrowUp" ? -1 : 1)) event.preventDefault();
    }
  };

  const choose = (mode: Busy) => {
    setBusy(mode);
    keepBusy(mode);
  };

  return (
    <form
      class={dropping ? "composer dropping" : "composer"}
      aria-label="Message"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {open && <SuggestionList id={list} suggestions={suggestions} active={active} onChoose={complete} />}
      <AttachmentList
        attachments={attachments}
        onRemove={(id) => setAttachments((known) => known.filter((one) => one.id !== id))}
      />
      <textarea
        ref={field}
        data-composer
        rows={1}
        value={text}
        disabled={disabled}
        placeholder={disabled ? "This token may only read" : running ? "Say more while the agent works" : "Write a message"}
        aria-label="Message"
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={open ? list : undefined}
        aria-activedescendant={open ? `${list}-${active}` : undefined}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setCaret(event.currentTarget.selectionStart);
          setClosed(false);
        }}
        onSelect={(event) => setCaret(event.currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
        onPaste={(event) => {
          const files = [...(event.clipboardData?.files ?? [])];
          if (files.length === 0) return;
          event.preventDefault();
          void add(files);
        }}
      />
      <div class="composer-tools">
        <input
          ref={picker}
          type="file"
          multiple
          class="off-screen"
          tabIndex={-1}
          aria-label="Files to attach"
          onChange={(event) => {
            void add([...(event.currentTarget.files ?? [])]);
            event.currentTarget.value = "";
          }}
        />
        <button type="button" class="quiet" title="Attach files" disabled={disabled} onClick={() => picker.current?.click()}>
          <Glyph name="attach" /> <span class="off-screen">Attach files</span>
        </button>
        {running && <BusyChoice busy={busy} onChoose={choose} />}
        <span class="grow" />
        {running && (
          <button type="button" class="stop" title="Stop (Esc)" onClick={onStop}>
            <Glyph name="stop" /> Stop
          </button>
        )}
        <button type="submit" class="primary send" title="Send (Enter)" disabled={disabled || (text.trim() === "" && attachments.length === 0)}>
          <Glyph name="send" /> <span class="off-screen">{running ? (busy === "queue" ? "Queue" : "Steer") : "Send"}</span>
        </button>
      </div>
    </form>
  );
}
