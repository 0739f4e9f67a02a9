// An agent on the official npm SDK: what it is told in a prompt, it asks of its client.
// The argument is a folder for its sessions.
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const home = process.argv[2];
const folders = new Map();
const cancelled = new Map();
const { methods } = acp;

const options = [
  { optionId: "always", name: "Always", kind: "allow_always" },
  { optionId: "once", name: "Once", kind: "allow_once" },
  { optionId: "never", name: "No", kind: "reject_once" },
];

const update = (client, sessionId, sessionUpdate, text) =>
  client.notify(methods.client.session.update, {
    sessionId,
    update: { sessionUpdate, content: { type: "text", text } },
  });

async function carryOut(client, sessionId, word) {
  const folder = folders.get(sessionId);
  if (word === "ask") {
    const toolCall = { toolCallId: "call-1", title: "Delete everything", kind: "delete" };
    const params = { sessionId, toolCall, options };
    const { outcome } = await client.request(methods.client.session.requestPermission, params);
    return outcome.optionId ?? outcome.outcome;
  }
  if (word === "files") {
    const read = await client.request(methods.client.fs.readTextFile, { sessionId, path: `${folder}/notes.txt` });
    const content = read.content.toUpperCase();
    await client.request(methods.client.fs.writeTextFile, { sessionId, path: `${folder}/copy.txt`, content });
    return read.content;
  }
  if (word === "terminal") {
    const terminal = await client.createTerminal({ sessionId, command: "echo", args: ["hi"] });
    await terminal.waitForExit();
    const { output } = await terminal.currentOutput();
    await terminal.release();
    return output;
  }
  if (word === "slow") {
    const stopped = new Promise((resolve) => cancelled.set(sessionId, resolve));
    await update(client, sessionId, "agent_message_chunk", "waiting");
    await stopped;
    return null;
  }
  return `You said ${word}`;
}

const stored = (sessionId) => JSON.parse(readFileSync(`${home}/${sessionId}`, "utf8"));

acp
  .agent({ name: "npm-sdk-agent" })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: { loadSession: true },
    agentInfo: { name: "npm-sdk-agent", version: "1" },
  }))
  .onRequest(methods.agent.session.new, ({ params }) => {
    const sessionId = `session-${readdirSync(home).length}`;
    writeFileSync(`${home}/${sessionId}`, "[]");
    folders.set(sessionId, params.cwd);
    return { sessionId };
  })
  .onRequest(methods.agent.session.load, async ({ params, client }) => {
    if (!existsSync(`${home}/${params.sessionId}`)) throw acp.RequestError.resourceNotFound(params.sessionId);
    folders.set(params.sessionId, params.cwd);
    for (const [user, agent] of stored(params.sessionId)) {
      await update(client, params.sessionId, "user_message_chunk", user);
      await update(client, params.sessionId, "agent_message_chunk", agent);
    }
    return {};
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const word = params.prompt[0].text;
    const text = await carryOut(client, params.sessionId, word);
    if (text === null) return { stopReason: "cancelled" };
    await update(client, params.sessionId, "agent_message_chunk", text);
    const said = [...stored(params.sessionId), [word, text]];
    writeFileSync(`${home}/${params.sessionId}`, JSON.stringify(said));
    return { stopReason: "end_turn" };
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => cancelled.get(params.sessionId)?.())
  .connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
