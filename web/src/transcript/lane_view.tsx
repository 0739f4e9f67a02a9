// What one lane says: the agent itself, or a subagent in a card.

import type { VNode } from "preact";
import { useContext } from "preact/hooks";
import { ActivityCard } from "../cards/activity";
import { LaneCard } from "../cards/lane";
import { CompactionMark, NoticeCard, TurnEnd } from "../cards/notice";
import type { Mark } from "../marks";
import type { LaneState } from "../model";
import { AgentMessage } from "./agent_message";
import { AskedSlot, CallSlot } from "./call_slot";
import { TranscriptContext } from "./context";
import { isSilent, type Item } from "./layout";
import { PersonMessage } from "./person_message";

export function LaneView({ id, lane }: { id: string; lane: LaneState }) {
  const { lanes, running } = useContext(TranscriptContext);
  const items = lanes.get(id) ?? [];
  const speaking = running && lane.outcome === null;
  return (
    <LaneCard lane={lane} running={speaking}>
      {items.map((item, at) => (
        <ItemView key={item.key} item={item} growing={speaking && at === items.length - 1} />
      ))}
    </LaneCard>
  );
}

export function ItemView({ item, growing }: { item: Item; growing: boolean }) {
  if (item.kind === "call") return <CallSlot call={item.call} />;
  if (item.kind === "mark") return <MarkView mark={item.mark} />;
  if (item.message.role === "agent") return <AgentMessage message={item.message} growing={growing} />;
  return <PersonMessage message={item.message} />;
}

function MarkView({ mark }: { mark: Mark }): VNode | null {
  const { folded, answer } = useContext(TranscriptContext);
  switch (mark.kind) {
    case "notice": {
      const notice = folded.notices[Number(mark.id)];
      return notice === undefined ? null : <NoticeCard notice={notice} />;
    }
    case "activity": {
      const content = folded.activities.get(mark.id);
      return content === undefined ? null : <ActivityCard id={mark.id} content={content} />;
    }
    case "compaction": {
      const compaction = folded.compactions.get(mark.id);
      return compaction === undefined ? null : <CompactionMark compaction={compaction} />;
    }
    case "lane": {
      const lane = folded.lanes.get(mark.id);
      return lane === undefined ? null : <LaneView id={mark.id} lane={lane} />;
    }
    case "question": {
      const question = folded.questions.get(mark.id);
      if (question === undefined) return null;
      return <AskedSlot question={question} call={undefined} terminals={folded.terminals} answer={answer} />;
    }
    case "turn": {
      const turn = folded.turns[Number(mark.id)];
      return turn === undefined ? null : <TurnEnd turn={turn} silent={isSilent(turn.turn_id, folded)} />;
    }
  }
}
