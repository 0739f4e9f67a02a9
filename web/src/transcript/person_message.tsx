// What the person said, and a field to say it differently.

import { memo } from "preact/compat";
import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ContentBlock } from "../cards/content";
import type { Content, Message } from "../model";
import { fitHeight } from "../composer/fit_height";
import { Glyph } from "../shell/glyph";
import { isComposing } from "../shell/shortcuts";
import { NO_TERMINALS } from "./context";
import { TurnActions } from "./turn_actions";

interface Props {
  message: Message;
}

export const PersonMessage = memo(function PersonMessage({ message }: Props) {
  const actions = useContext(TurnActions);
  const [editing, setEditing] = useState(false);
  const opener = useRef<HTMLButtonElement>(null);
  const givenUp = useRef(false);
  useLayoutEffect(() => {
    // Whoever gives the change up is back where it was begun.
    if (givenUp.current) opener.current?.focus();
    givenUp.current = false;
  }, [editing]);
  if (editing) {
    return (
      <EditMessage
        message={message}
        onCancel={() => {
          givenUp.current = true;
          setEditing(false);
        }}
        onSave={(content) => {
          setEditing(false);
          actions.edit(message, content);
        }}
      />
    );
  }
  return (
    <article class="message person" aria-label="Your message" data-message={message.message_id}>
      <div class="bubble">
        <PersonContent content={message.content} />
      </div>
      {!message.trusted && <p class="untrusted">Brought along by a client.</p>}
      {actions.canPrompt && message.lane === null && (
        <div class="message-tools">
          <button type="button" class="quiet" title="Edit and send again" ref={opener} onClick={() => setEditing(true)}>
            <Glyph name="edit" /> <span class="off-screen">Edit message</span>
          </button>
          <button type="button" class="quiet" title="Answer again" onClick={() => actions.again(message)}>
            <Glyph name="again" /> <span class="off-screen">Answer again</span>
          </button>
          <button type="button" class="quiet" title="Fork after this turn" onClick={() => actions.fork(message)}>
            <Glyph name="fork" /> <span class="off-screen">Fork after this turn</span>
          </button>
        </div>
      )}
    </article>
  );
});

/** Text as it was written, and attachments as cards. */
export function PersonContent({ content }: { content: readonly Content[] }) {
  return (
    <>
      {content.map((block, at) =>
        block.type === "text" ? (
          <p key={at} class="said">
            {block.text}
          </p>
        ) : (
          <ContentBlock key={at} block={block} terminals={NO_TERMINALS} />
        ),
      )}
    </>
  );
}

interface EditProps {
  message: Message;
  onSave: (content: Content[]) => void;
  onCancel: () => void;
}

function EditMessage({ message, onSave, onCancel }: EditProps) {
  const before = message.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n");
  const [text, setText] = useState(before);
  const kept = message.content.filter((block) => block.type !== "text");
  const field = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    field.current?.focus();
    // The frame after the conversation has kept to its end.
    requestAnimationFrame(() => field.current?.form?.scrollIntoView({ block: "nearest" }));
  }, []);
  useLayoutEffect(() => fitHeight(field.current), [text]);
  const save = () => {
    if (text.trim() !== "" || kept.length > 0) onSave(text.trim() === "" ? kept : [{ type: "text", text }, ...kept]);
  };
  return (
    <form
      class="message person editing"
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <label class="off-screen" for="edit-message">
        Your message
      </label>
      <textarea
        id="edit-message"
        value={text}
        rows={2}
        ref={field}
        onInput={(event) => setText(event.currentTarget.value)}
        onKeyDown={(event) => {
          if (event.key === "Escape") {
            event.stopPropagation();
            onCancel();
          } else if (event.key === "Enter" && !event.shiftKey && !isComposing(event)) {
            event.preventDefault();
            save();
          }
        }}
      />
      {kept.length > 0 && (
        <div class="kept" role="group" aria-label="Goes with it">
          <PersonContent content={kept} />
        </div>
      )}
      <p class="hint">What was said after this message is taken back.</p>
      <div class="row end">
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" class="primary">
          Send again
        </button>
      </div>
    </form>
  );
}
