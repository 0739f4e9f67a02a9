// Plays a plan as a client on the official TypeScript SDK and prints what it saw, as JSON:
// `node drive_client.mjs < plan > report`. tests/peers/client_plans.py says what a plan and a report are.
// A plan with a `url` is played over the network (tests/peers/serve_and_drive.py), else the agent is started.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";
import { createHttpStream } from "@agentclientprotocol/sdk/experimental/http-client";
import { createWebSocketStream } from "@agentclientprotocol/sdk/experimental/ws-client";

const plan = JSON.parse(await text(process.stdin));
const files = { ...plan.files };
const terminals = new Map();
const names = {};
let heard = [];
let answers = [];
let cancelOn;
let news = () => {};

let child;

function connect() {
  if (plan.url?.startsWith("ws")) {
    // As a browser has to: its WebSocket sends no headers.
    return createWebSocketStream(plan.url, { protocols: ["trunkline", `trunkline.bearer.${plan.token}`] });
  }
  if (plan.url) return createHttpStream(plan.url, { headers: { Authorization: `Bearer ${plan.token}` } });
  child = spawn(plan.agent[0], plan.agent.slice(1), {
    cwd: plan.cwd,
    env: plan.env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  return acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
}

setTimeout(() => {
  console.error("the plan took too long");
  child?.kill();
  process.exit(1);
}, plan.seconds * 1000).unref();

function hear(agent, sessionId, what, item) {
  heard.push({ sessionId, ...item });
  news();
  if (cancelOn === what) {
    cancelOn = undefined;
    return agent.notify(acp.methods.agent.session.cancel, { sessionId });
  }
}

async function ask(method, { agent, params }) {
  const { sessionId, ...shown } = params;
  await hear(agent, sessionId ?? "", method, { method, params: shown });
}

/** Give an answer; one that is `{file}` is in a file, for which the person takes their time. */
async function decide(answer) {
  if (typeof answer !== "object") return answer;
  while (!existsSync(answer.file)) await new Promise((resolve) => setTimeout(resolve, 50).unref());
  return readFileSync(answer.file, "utf-8");
}

const { session, fs, terminal, elicitation } = acp.methods.client;
const client = acp
  .client({ name: "npm-sdk" })
  .onNotification(session.update, ({ agent, params: { sessionId, update } }) =>
    hear(agent, sessionId, update.sessionUpdate, { update }),
  )
  .onRequest(session.requestPermission, async (context) => {
    await ask(session.requestPermission, context);
    const answer = await decide(answers.shift());
    return { outcome: answer === "cancelled" ? { outcome: "cancelled" } : { outcome: "selected", optionId: answer } };
  })
  .onRequest(elicitation.create, async (context) => {
    await ask(elicitation.create, context);
    return answers.shift();
  })
  .onNotification(elicitation.complete, (context) => ask(elicitation.complete, context))
  .onRequest(fs.readTextFile, async (context) => {
    await ask(fs.readTextFile, context);
    const { path } = context.params;
    if (!(path in files)) throw new acp.RequestError(-32002, `no such file: ${path}`);
    return { content: files[path] };
  })
  .onRequest(fs.writeTextFile, async (context) => {
    await ask(fs.writeTextFile, context);
    files[context.params.path] = context.params.content;
    return {};
  })
  .onRequest(terminal.create, async (context) => {
    await ask(terminal.create, context);
    const { command, args, cwd } = context.params;
    // A command without arguments may be a whole shell line.
    const shell = !args?.length;
    const running = spawn(command, args ?? [], { cwd, shell, stdio: ["ignore", "pipe", "inherit"] });
    const held = { running, output: "", code: undefined };
    running.stdout.on("data", (piece) => (held.output += piece));
    held.ended = new Promise((resolve) => running.on("close", (code) => resolve((held.code = code))));
    const terminalId = `terminal-${terminals.size}`;
    terminals.set(terminalId, held);
    return { terminalId };
  })
  .onRequest(terminal.waitForExit, async ({ params }) => ({ exitCode: await terminals.get(params.terminalId).ended }))
  .onRequest(terminal.output, ({ params }) => {
    const { output, code } = terminals.get(params.terminalId);
    return { output, truncated: false, exitStatus: code === undefined ? null : { exitCode: code } };
  })
  .onRequest(terminal.kill, ({ params }) => (terminals.get(params.terminalId).running.kill(), {}))
  .onRequest(terminal.release, async (context) => (await ask(terminal.release, context), {}));

async function carryOut(agent, step) {
  heard = [];
  answers = [...(step.answers ?? [])];
  cancelOn = step.cancelOn;
  const params = { ...step.params };
  params.sessionId = names[params.sessionId] ?? params.sessionId;
  const report = {};
  try {
    report.result = await agent.request(step.call, params);
  } catch (error) {
    if (!(error instanceof acp.RequestError)) throw error;
    report.error = { code: error.code, message: error.message, data: error.data };
  }
  while (step.until && !heard.some(({ update }) => update?.sessionUpdate === step.until)) {
    await new Promise((resolve) => (news = resolve));
  }
  if (step.as) names[step.as] = report.result.sessionId;
  return { ...report, heard };
}

const report = await client.connectWith(connect(), async (agent) => {
  const greeting = await agent.request(acp.methods.agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: plan.capabilities,
    clientInfo: { name: "npm-sdk", version: "0" },
  });
  const steps = {};
  for (const step of plan.steps) steps[step.name] = await carryOut(agent, step);
  if (plan.kill) child?.kill("SIGKILL");
  return { greeting, sessions: names, steps, files };
});
child?.stdin.end();
process.stdout.write(JSON.stringify(report));
