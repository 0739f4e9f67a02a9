/** A question of the agent: a permission, a form, a link or a call of a front end's tool; and how it was answered. */
import { useEffect, useId, useRef, useState } from "preact/hooks";
import type { Call, QuestionState } from "../conversation";
import type { Answer, Answered, ClientCall, Link, Question } from "../model";
import { CodeBlock } from "../markdown/code";
import type { Terminals } from "../cards/content";
import { Disclosure } from "../cards/disclosure";
import { FormBody } from "./form";
import { momentWords } from "./moment";
import { MarkIcon } from "../cards/icons";
import { prettyJson } from "../cards/json";
import { PermissionBody, type Fields } from "./permission";
import { hostOf } from "../cards/content";
import { isWebAddress } from "../markdown/html";
import { takesKeys, useQuestionFocus } from "./focus";
import { revealed } from "../cards/reveal";
import { Revealed } from "../cards/revealed";

/** Settles a question, and throws what is shown then; null for somebody who may only read. */
export type Answering = ((answer: Answer) => Promise<void>) | null;

interface Props {
  question: QuestionState;
  call?: Call | undefined;
  terminals: Terminals;
  onAnswer: Answering;
}

const HEADINGS: Record<Question["type"], string> = {
  permission: "Permission",
  form: "Question",
  link: "Please visit",
  client_call: "A tool of the front end",
};

export function QuestionCard({ question: { asked, answered }, call, terminals, onAnswer }: Props) {
  const card = useRef<HTMLElement>(null);
  const [busy, setBusy] = useState(false);
  const sending = busy || onAnswer === null;
  const [sent, setSent] = useState(false);
  const [failure, setFailure] = useState("");
  const open = answered === null;
  const keys = useRef<((event: KeyboardEvent) => void) | null>(null);
  const { armed, rearm } = useQuestionFocus(card, open);
  const changed = useChanges(call, rearm);
  const heading = useId();
  const { question } = asked;
  const message = question.message || (call?.title ?? "");

  const [first = "", rest = ""] = cutLine(message);

  const answer = (fields: Fields): void => {
    if (onAnswer === null) return;
    setBusy(true);
    setFailure("");
    // The key makes a repeated request one answer.
    const key = `page:${asked.question_id}:${crypto.getRandomValues(new Uint32Array(2)).join("-")}`;
    onAnswer({ type: "answer", question_id: asked.question_id, key, ...fields }).then(
      () => setSent(true),
      (error: unknown) => {
        setBusy(false);
        setFailure(error instanceof Error ? error.message : String(error));
      },
    );
  };

  if (answered !== null) return <AnsweredCard question={question} message={message} answered={answered} mine={sent} />;
  return (
    <section
      ref={card}
      class={`card question question-${question.type}`}
      data-open=""
      data-armed={armed ? "" : undefined}
      data-question={asked.question_id}
      tabIndex={-1}
      role="group"
      aria-labelledby={heading}
      aria-describedby={`${heading}-keys`}
      onKeyDown={(event) => {
        if (event.key === "Escape" && takesKeys(event.target)) {
          // Out of the field, back to where one key answers; elsewhere Escape stops the turn.
          event.preventDefault();
          event.stopPropagation();
          card.current?.focus();
        } else keys.current?.(event);
      }}
    >
      <p class="off-screen" id={`${heading}-keys`}>
        {hintOf(question)}
      </p>
      <header class="question-head">
        <MarkIcon mark="question" />
        <span class="question-kind">{HEADINGS[question.type]}</span>
        {asked.expires_at != null && <Expiry at={asked.expires_at} />}
      </header>
      <div id={heading}>
        <h3 class="question-message">
          <Revealed text={first || HEADINGS[question.type]} />
        </h3>
        {rest.trim() && (
          <p class="question-rest">
            <Revealed text={rest.replace(/^\n+/, "")} />
          </p>
        )}
      </div>
      {changed && (
        <p class="more more-warning" role="alert">
          The agent changed this call after it asked. Look at it again.
        </p>
      )}
      {question.type === "permission" && (
        <PermissionBody
          question={question}
          call={call}
          terminals={terminals}
          sending={sending}
          armed={armed}
          keys={keys}
          onAnswer={answer}
        />
      )}
      {question.type === "form" && <FormBody question={question} sending={sending} onAnswer={answer} />}
      {question.type === "link" && <LinkBody question={question} sending={sending} onAnswer={answer} />}
      {question.type === "client_call" && <ClientCallBody question={question} sending={sending} onAnswer={answer} />}
      {onAnswer === null && <p class="field-hint">Your token may only read. Somebody who may answer sees this question too.</p>}
      {failure && (
        <p class="field-error" role="alert">
          {failure}
        </p>
      )}
    </section>
  );
}

const FIRST_LOOK = 500; // milliseconds in which the rest of a call may still come

/** Whether the agent changed what it asks about after a person could look at it; keys wait when it does. */
function useChanges(call: Call | undefined, rearm: () => void): boolean {
  const [changed, setChanged] = useState(false);
  const proposal = call === undefined ? "" : JSON.stringify([call.name, call.input, call.arguments, call.content]);
  const seen = useRef(proposal);
  const since = useRef(performance.now());
  useEffect(() => {
    if (seen.current === proposal) return;
    seen.current = proposal;
    if (performance.now() - since.current < FIRST_LOOK) return;
    setChanged(true);
    rearm();
  }, [proposal]);
  return changed;
}

/** The first line of a message, which is its heading, and the rest. */
function cutLine(message: string): [string, string] {
  const end = message.indexOf("\n");
  return end === -1 ? [message, ""] : [message.slice(0, end), message.slice(end)];
}

function hintOf(question: Question): string {
  return question.type === "permission" ? "Press a to allow once, r to reject; more answers are listed below." : "";
}

function Expiry({ at }: { at: number }) {
  const when = new Date(at * 1000);
  return (
    <time class="muted question-expiry" dateTime={when.toISOString()} title={when.toLocaleString()}>
      until {momentWords(when, new Date())}
    </time>
  );
}

interface BodyProps<Q> {
  question: Q;
  sending: boolean;
  onAnswer: (fields: Fields) => void;
}

function LinkBody({ question, sending, onAnswer }: BodyProps<Link>) {
  const opens = isWebAddress(question.url);
  return (
    <>
      <p class="link-address">
        <MarkIcon mark="link" />
        {opens ? (
          <a href={question.url} target="_blank" rel="noopener noreferrer">
            <Revealed text={question.url} />
          </a>
        ) : (
          <span>
            <Revealed text={question.url} />
          </span>
        )}
      </p>
      {opens && <p class="muted">Opens {hostOf(question.url)}</p>}
      {!opens && <p class="more more-warning">This is not an address of the web, so this page does not open it.</p>}
      <div class="answers">
        <button type="button" class="answer answer-allow" disabled={sending} onClick={() => onAnswer({ outcome: "accepted" })}>
          I have done it
        </button>
        <button type="button" class="answer answer-reject" disabled={sending} onClick={() => onAnswer({ outcome: "declined" })}>
          Decline
        </button>
      </div>
    </>
  );
}

function ClientCallBody({ question, sending, onAnswer }: BodyProps<ClientCall>) {
  const name = revealed(question.name || "a tool");
  return (
    <>
      <p>
        The agent wants to run <code>{name}</code>, a tool of a front end. This page cannot run it.
      </p>
      <Disclosure label="Its input">
        <CodeBlock code={prettyJson(question.input ?? null)} language="json" />
      </Disclosure>
      <div class="answers">
        <button
          type="button"
          class="answer answer-reject"
          disabled={sending}
          onClick={() => onAnswer({ outcome: "declined", reason: `this page cannot run ${question.name || "this tool"}` })}
        >
          Tell the agent
        </button>
      </div>
    </>
  );
}

const KINDS: Record<string, string> = {
  allow_once: "Allowed once",
  allow_always: "Always allowed",
  reject_once: "Rejected",
  reject_always: "Always rejected",
};
const OUTCOMES: Record<string, string> = {
  selected: "Answered",
  accepted: "Answered",
  declined: "Declined",
  cancelled: "Withdrawn",
  expired: "Not answered in time",
};

interface AnsweredProps {
  question: Question;
  message: string;
  answered: Answered;
  mine: boolean;
}

function AnsweredCard({ question, message, answered, mine }: AnsweredProps) {
  const option = question.type === "permission" ? question.options?.find((one) => one.option_id === answered.option_id) : undefined;
  const outcome = KINDS[answered.option_kind ?? ""] ?? option?.name ?? OUTCOMES[answered.outcome] ?? answered.outcome;
  const good = answered.outcome === "accepted" || answered.option_kind?.startsWith("allow") === true;
  const who = mine ? "by you" : answered.by && answered.by !== "trunkline" ? `elsewhere (${answered.by})` : "";
  const given = answered.input ?? (question.type === "form" ? answered.content : undefined);
  return (
    <section class={`card question answered ${good ? "answered-good" : "answered-bad"}`} data-outcome={answered.outcome} aria-label="Answered question">
      <div class="answered-line">
        <MarkIcon mark="question" />
        <span class="answered-message">{revealed(message)}</span>
        <span class="answered-outcome" role="status">
          {outcome} {who && <span class="muted">{who}</span>}
        </span>
      </div>
      {answered.reason && <p class="answered-reason">{revealed(answered.reason)}</p>}
      {given !== undefined && given !== null && (
        <Disclosure label={answered.input != null ? "The arguments as they were edited" : "The answer"}>
          <CodeBlock code={prettyJson(given)} language="json" />
        </Disclosure>
      )}
    </section>
  );
}
