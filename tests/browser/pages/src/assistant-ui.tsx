import { HttpAgent } from "@ag-ui/client";
import {
  AssistantRuntimeProvider,
  AuiIf,
  ComposerPrimitive,
  ErrorPrimitive,
  ExportedMessageRepository,
  MessagePrimitive,
  ThreadPrimitive,
  makeAssistantTool,
  type ToolCallMessagePartComponent,
} from "@assistant-ui/react";
import { fromAgUiMessages, useAgUiRuntime } from "@assistant-ui/react-ag-ui";
import { createRoot } from "react-dom/client";

// #server=http://127.0.0.1:8000&token=...&thread=...: what stands behind # stays in the browser.
const given = new URLSearchParams(location.hash.slice(1));
const threadId = given.get("thread")!;
// A name of its own tells an edit in this page from a message in one that is behind.
const headers = { Authorization: `Bearer ${given.get("token")}`, "Trunkline-Page": `${Math.random()}` };
const agent = new HttpAgent({ url: `${given.get("server")}/agui`, threadId, headers });

// The server keeps the thread: a page that is opened again asks for it, and writes nothing itself.
const history = {
  async load() {
    const earlier = new HttpAgent({ url: `${given.get("server")}/agui/connect`, threadId, headers });
    await earlier.runAgent();
    const last = earlier.messages.findLast(({ role }) => role === "assistant");
    const waiting = { metadata: { custom: { agui: { interrupts: earlier.pendingInterrupts } } } };
    const messages = earlier.messages.map((one) => (one === last ? { ...one, ...waiting } : one));
    return ExportedMessageRepository.fromArray(fromAgUiMessages(messages));
  },
  async append() {},
};

const PickColour = makeAssistantTool({
  toolName: "pick_colour",
  description: "Ask the page for a colour",
  parameters: { type: "object", properties: { choices: { type: "array", items: { type: "string" } } } },
  execute: async ({ choices }: { choices: string[] }) => choices[1],
});

const Tool: ToolCallMessagePartComponent = ({ toolName, argsText, result, approval, respondToApproval }) => (
  <div className="tool">
    <pre>{`${toolName} ${argsText} ${typeof result === "string" ? result : (JSON.stringify(result) ?? "")}`}</pre>
    {approval && approval.approved === undefined && (
      <div className="question">
        <button onClick={() => respondToApproval({ approved: true })}>Approve</button>{" "}
        <button onClick={() => respondToApproval({ approved: false })}>Reject</button>
      </div>
    )}
  </div>
);

const Message = ({ who }: { who: string }) => (
  <MessagePrimitive.Root className={who}>
    <MessagePrimitive.Parts components={{ tools: { Fallback: Tool } }} />
    <MessagePrimitive.Error>
      <ErrorPrimitive.Message className="error" />
    </MessagePrimitive.Error>
  </MessagePrimitive.Root>
);
const UserMessage = () => <Message who="user" />;
const AssistantMessage = () => <Message who="assistant" />;

function Chat() {
  const runtime = useAgUiRuntime({ agent, adapters: { history } });
  return (
    <AssistantRuntimeProvider runtime={runtime}>
      <PickColour />
      <ThreadPrimitive.Root>
        <ThreadPrimitive.Messages components={{ UserMessage, AssistantMessage }} />
        <ComposerPrimitive.Root>
          <ComposerPrimitive.Input placeholder="Say something" />
          <AuiIf condition={({ thread }) => thread.isRunning}>
            <ComposerPrimitive.Cancel>Stop</ComposerPrimitive.Cancel>
          </AuiIf>
        </ComposerPrimitive.Root>
      </ThreadPrimitive.Root>
    </AssistantRuntimeProvider>
  );
}

createRoot(document.getElementById("page")!).render(<Chat />);
