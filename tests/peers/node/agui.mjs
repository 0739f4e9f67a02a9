// Runs agents with the official AG-UI client, one order per line on stdin, one report per line on stdout.
//
//   {"do": "open", "name", "url", "headers", "thread", "state", "messages", "version": "1.0" | "0.x",
//    "accept": what it asks for instead of server-sent events}
//   {"do": "run", "name", "add": [messages], "set": [messages], "input": {tools, context, forwardedProps,
//    resume, runId}, "abortOn": an event type}
//   {"do": "decode", "lines": [JSON], "frames": [protobuf in base64]}
//
// A report has what the client made of the run: its messages, state and interrupts, the events it let pass,
// the frames as they came, and everything it wrote to the console. Protobuf is given as the text of the
// server-sent events that it stands for.
import { createInterface } from "node:readline";
import * as current from "@ag-ui/client";
import { AGUI_MEDIA_TYPE, decode } from "@ag-ui/proto";
import * as older from "ag-ui-client-0";

const agents = new Map();
let written = [];
for (const level of ["warn", "error", "log", "info", "debug"]) {
  console[level] = (...parts) => written.push(`${level}: ${parts.map(String).join(" ")}`);
}

function* messagesOf(bytes) {
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32BE(at);
    yield decode(bytes.subarray(at + 4, end));
    at = end;
  }
}

async function framesOf(response) {
  if (response.headers.get("content-type") !== AGUI_MEDIA_TYPE) return response.text();
  const messages = [...messagesOf(Buffer.from(await response.arrayBuffer()))];
  return messages.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
}

// What the decoder makes of a frame, beside what the client makes of the same event in JSON.
function decodeAll({ lines, frames }) {
  const events = frames.flatMap((frame) => [...messagesOf(Buffer.from(frame, "base64"))]);
  return { plain: lines.map((line) => JSON.parse(line)), events };
}

function open({ name, url, headers, thread, state, messages, version, accept }) {
  const { HttpAgent } = version === "0.x" ? older : current;
  // The client sets the header after those it is given.
  class Asking extends HttpAgent {
    requestInit(input) {
      const init = super.requestInit(input);
      return accept ? { ...init, headers: { ...init.headers, Accept: accept } } : init;
    }
  }
  const agent = new Asking({ url, headers, threadId: thread, initialState: state, initialMessages: messages });
  agent.fetch = async (...request) => {
    const response = await fetch(...request);
    agent.mediaType = response.headers.get("content-type");
    agent.frames = framesOf(response.clone()).catch(() => "");
    return response;
  };
  agents.set(name, agent);
  return {};
}

async function run({ name, add, set, input, abortOn }) {
  const agent = agents.get(name);
  if (set) agent.setMessages(set);
  if (add) agent.addMessages(add);
  const events = [];
  let finished;
  let error = null;
  agent.frames = undefined;
  try {
    await agent.runAgent(input ?? {}, {
      onEvent: ({ event }) => {
        events.push(event);
        if (event.type === abortOn) agent.abortRun();
      },
      onRunFinishedEvent: ({ event, agent, ...params }) => {
        const { outcome, interrupts, result, pendingToolCallIds } = params;
        finished = { outcome, interrupts, result, pendingToolCallIds };
      },
    });
  } catch (failure) {
    error = failure instanceof Error ? failure.message : String(failure);
  }
  const { messages, state, pendingInterrupts, mediaType } = agent;
  return { events, finished, error, messages, state, pendingInterrupts, mediaType, frames: await agent.frames };
}

const orders = { open, run, decode: decodeAll };

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  written = [];
  const report = await orders[order.do](order);
  process.stdout.write(JSON.stringify({ ...report, written }) + "\n");
}
