// A tool call with the questions about it and the subagents that it started.

import { memo } from "preact/compat";
import { useContext } from "preact/hooks";
import { QuestionCard, type Answering } from "../questions/question";
import { ToolCard } from "../cards/tool";
import type { Call, QuestionState, TerminalState } from "../model";
import { NO_TERMINALS, TranscriptContext } from "./context";
import { LaneView } from "./lane_view";

export function CallSlot({ call }: { call: Call }) {
  const { folded, answer } = useContext(TranscriptContext);
  const terminals = call.content.some((block) => block.type === "terminal") ? folded.terminals : NO_TERMINALS;
  const questions = [...folded.questions.values()].filter(({ asked }) => asked.question.call_id === call.call_id);
  const lanes = [...folded.lanes].filter(([, lane]) => lane.parent_call_id === call.call_id);
  const asking = questions.some(({ answered }) => answered === null);
  return (
    <>
      {lanes.length === 0 ? (
        <Tool call={call} terminals={terminals} asking={asking} />
      ) : (
        <ToolCard call={call} terminals={terminals} asking={asking}>
          {lanes.map(([id, lane]) => (
            <LaneView key={id} id={id} lane={lane} />
          ))}
        </ToolCard>
      )}
      {questions.map((question) => (
        <AskedSlot key={question.asked.question_id} question={question} call={call} terminals={terminals} answer={answer} />
      ))}
    </>
  );
}

const Tool = memo(ToolCard);

interface AskedProps {
  question: QuestionState;
  call: Call | undefined;
  terminals: ReadonlyMap<string, TerminalState>;
  answer: Answering;
}

export const AskedSlot = memo(function AskedSlot({ question, call, terminals, answer }: AskedProps) {
  return <QuestionCard question={question} call={call} terminals={terminals} onAnswer={answer} />;
});
