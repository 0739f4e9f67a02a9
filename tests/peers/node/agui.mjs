// Runs agents with the official AG-UI client, one order per line on stdin, one report per line on stdout.
//
//   {"do": "open", "name", "url", "headers", "thread", "state", "messages", "version": "1.0" | "0.x"}
//   {"do": "run", "name", "add": [messages], "set": [messages], "input": {tools, context, forwardedProps,
//    resume, runId}, "abortOn": an event type}
//
// A report has what the client made of the run: its messages, state and interrupts, the events it let pass,
// the frames as they came, and everything it wrote to the console.
import { createInterface } from "node:readline";
import * as current from "@ag-ui/client";
import * as older from "ag-ui-client-0";

const agents = new Map();
let written = [];
for (const level of ["warn", "error", "log", "info", "debug"]) {
  console[level] = (...parts) => written.push(`${level}: ${parts.map(String).join(" ")}`);
}

function open({ name, url, headers, thread, state, messages, version }) {
  const { HttpAgent } = version === "0.x" ? older : current;
  const agent = new HttpAgent({ url, headers, threadId: thread, initialState: state, initialMessages: messages });
  agent.fetch = async (...request) => {
    const response = await fetch(...request);
    agent.frames = response
      .clone()
      .text()
      .catch(() => "");
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
  const { messages, state, pendingInterrupts } = agent;
  return { events, finished, error, messages, state, pendingInterrupts, frames: await agent.frames };
}

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line);
  written = [];
  const report = await (order.do === "open" ? open(order) : run(order));
  process.stdout.write(JSON.stringify({ ...report, written }) + "\n");
}
