import { useChat } from "@ai-sdk/react";
import {
  DefaultChatTransport,
  isToolUIPart,
  getToolName,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage,
} from "ai";
import { useEffect, useState, type FormEvent } from "react";
import { createRoot } from "react-dom/client";

// #server=http://127.0.0.1:8000&token=...&thread=...: for a server elsewhere. What stands behind # stays in the
// browser. Without it the page calls its own site, which vite passes on to the server.
const given = new URLSearchParams(location.hash.slice(1));
const api = `${given.get("server") ?? ""}/api/chat`;
const headers: Record<string, string> = { "Content-Type": "application/json" };
if (given.get("token")) headers.Authorization = `Bearer ${given.get("token")}`;

function chatId() {
  const known = given.get("thread") ?? sessionStorage.getItem("chat") ?? crypto.randomUUID();
  sessionStorage.setItem("chat", known);
  return known;
}

const id = chatId();
const place = `${api}/${encodeURIComponent(id)}`;
const post = (path: string, body: object) =>
  fetch(`${place}/${path}`, { method: "POST", headers, body: JSON.stringify(body) });

// A tool of the page itself: the agent may call it, and the page runs it.
const tools = [{ name: "pick_colour", description: "Ask the page for a colour" }];

// useChat in five lines; everything else here is how it looks.
function useAgent(messages: UIMessage[]) {
  const chat = useChat({
    id,
    messages,
    resume: true,
    transport: new DefaultChatTransport({ api, headers, body: { tools } }),
    sendAutomaticallyWhen: ({ messages }) =>
      lastAssistantMessageIsCompleteWithApprovalResponses({ messages }) ||
      lastAssistantMessageIsCompleteWithToolCalls({ messages }),
    onToolCall: ({ toolCall }) => {
      if (toolCall.toolName !== "pick_colour") return;
      const { choices } = toolCall.input as { choices: string[] };
      chat.addToolOutput({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output: choices[1] });
    },
  });
  return chat;
}

type Chat = ReturnType<typeof useAgent>;
type Part = UIMessage["parts"][number];

function Tool({ part, chat }: { part: any; chat: Chat }) {
  const asks = part.state === "approval-requested";
  const answer = (approved: boolean) => chat.addToolApprovalResponse({ id: part.approval.id, approved });
  return (
    <div className="tool">
      <b>{part.title ?? getToolName(part)}</b> <i>{part.state}</i>
      <pre>{JSON.stringify(part.output ?? part.errorText ?? part.input, null, 2)}</pre>
      {asks && (
        <p className="question">
          {part.approval.descriptor?.message ?? "May it?"} <button onClick={() => answer(true)}>Allow</button>{" "}
          <button onClick={() => answer(false)}>Deny</button>
        </p>
      )}
    </div>
  );
}

function Question({ data, chat }: { data: any; chat: Chat }) {
  const fields = Object.entries<any>(data.fields?.properties ?? {});
  if (data.state !== "open") return <p className="answered">{data.message}: answered</p>;
  const reply = async (body: object) => {
    await post(`questions/${encodeURIComponent(data.questionId)}`, body);
    await chat.resumeStream();
  };
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    const values = fields.flatMap(([name, { type }]) => {
      const text = String(form.get(name) ?? "");
      if (type === "boolean") return [[name, text === "on"]];
      if (text === "") return [];
      return [[name, type === "integer" || type === "number" ? Number(text) : text]];
    });
    reply({ content: Object.fromEntries(values) });
  };
  return (
    <form className="question" onSubmit={send}>
      <p>
        {data.message} {data.url && <a href={data.url}>{data.url}</a>}
      </p>
      {fields.map(([name, { title, type, enum: choices, default: value }]) => (
        <label key={name}>
          {title ?? name}{" "}
          {choices ? (
            <select name={name} defaultValue={value}>
              {choices.map((one: string) => <option key={one}>{one}</option>)}
            </select>
          ) : (
            <input name={name} type={type === "boolean" ? "checkbox" : "text"} defaultValue={value} />
          )}{" "}
        </label>
      ))}
      <button>Send</button>{" "}
      <button type="button" onClick={() => reply({ declined: true })}>Dismiss</button>
    </form>
  );
}

function show(part: Part, chat: Chat) {
  if (part.type === "text") return <p>{part.text}</p>;
  if (part.type === "reasoning") return <p className="reasoning">{part.text}</p>;
  if (part.type === "file" && part.mediaType.startsWith("image/")) return <img src={part.url} />;
  if (part.type === "source-url") return <a href={part.url}>{part.title ?? part.url}</a>;
  if (part.type === "data-question") return <Question data={part.data} chat={chat} />;
  if (part.type === "data-plan") return <pre className="plan">{JSON.stringify(part.data, null, 2)}</pre>;
  return isToolUIPart(part) ? <Tool part={part} chat={chat} /> : null;
}

function Page({ messages }: { messages: UIMessage[] }) {
  const chat = useAgent(messages);
  const busy = chat.status === "submitted" || chat.status === "streaming";
  const send = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const text = String(new FormData(event.currentTarget).get("input"));
    event.currentTarget.reset();
    if (text) chat.sendMessage({ text });
  };
  // To leave a stream does not end the turn; this does, and only the turn that is shown.
  const stop = () => {
    const last = chat.messages.at(-1);
    post("stop", last?.role === "assistant" ? { turnId: last.id } : {});
  };
  return (
    <main>
      {chat.messages.map((message) => (
        <section key={message.id} className={message.role}>
          {message.parts.map((part, at) => <div key={at}>{show(part, chat)}</div>)}
        </section>
      ))}
      {chat.error && <p className="error">{chat.error.message}</p>}
      <form onSubmit={send}>
        <input name="input" placeholder="Say something, such as /permission" autoFocus size={50} />
        {busy ? (
          <button key="stop" type="button" onClick={stop}>Stop</button>
        ) : (
          <button key="again" type="button" onClick={() => chat.regenerate()}>Again</button>
        )}
      </form>
    </main>
  );
}

// The server keeps the chat: a page that is loaded again asks for its messages.
function Loaded() {
  const [messages, setMessages] = useState<UIMessage[]>();
  useEffect(() => {
    fetch(`${place}/messages`, { headers })
      .then((answer) => (answer.ok ? answer.json() : []))
      .then(setMessages, () => setMessages([]));
  }, []);
  return messages ? <Page messages={messages} /> : <p>Loading</p>;
}

createRoot(document.getElementById("page")!).render(<Loaded />);
