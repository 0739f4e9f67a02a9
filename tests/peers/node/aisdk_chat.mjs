// Holds chats of the AI SDK without a browser, one order per line on stdin, one report per line on stdout.
//
//   node aisdk_chat.mjs FOLDER...    (each FOLDER has its own node_modules/ai)
//
//   {"do": "open", "name", "folder": 0, "api", "headers", "chat", "messages", "body", "socket": url, "outputs":
//    {tool: output}, "queue": bool}
//   {"do": "send", "name", "text", "messageId", "body"}   {"do": "regenerate", "name", "messageId"}
//   {"do": "submit", "name", "body"}: the messages as they are   {"do": "now", "name"}: the first queued message
//   {"do": "approve", "name", "approved", "reason"}: every approval that waits
//   {"do": "output", "name", "output"}: of every call of the page's own tools that waits
//   {"do": "resume", "name"}   {"do": "stop", "name"}   {"do": "drop", "name"}: the connection is lost
//   {"do": "until", "name", "text"}: until the messages have this text   {"do": "settle", "name"}
//
// All but until and settle give back at once. A report is what the page holds: its messages, its status, its
// error, what was finished, the requests that it sent and their statuses, the calls that it was to run, and why the SDK's own check refuses its
// messages (null: it does not).
import { createInterface } from 'node:readline'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { readFileSync } from 'node:fs'

const SECONDS = 25
const chats = new Map()
const sdks = new Map()

async function load(folder) {
  if (!sdks.has(folder)) {
    const root = resolve(process.argv[2 + folder], 'node_modules/ai')
    const { exports } = JSON.parse(readFileSync(`${root}/package.json`))
    const entry = exports['.'].import ?? exports['.'].default
    sdks.set(folder, await import(pathToFileURL(resolve(root, entry.default ?? entry))))
  }
  return sdks.get(folder)
}

class State {
  constructor(messages) {
    this.messages = messages
    this.status = 'ready'
    this.error = undefined
  }
  pushMessage = message => (this.messages = [...this.messages, message])
  popMessage = () => (this.messages = this.messages.slice(0, -1))
  replaceMessage = (index, message) => {
    this.messages = this.messages.map((one, at) => (at === index ? structuredClone(message) : one))
  }
  snapshot = value => structuredClone(value)
}

async function open({ name, folder, api, headers, chat: id, messages, body, socket, outputs, queue }) {
  const sdk = await load(folder)
  const page = { sdk, requests: [], statuses: [], ran: [], finished: [], open: 0, drops: new Set() }
  const counted = async (url, init) => {
    page.requests.push(`${init.method ?? 'GET'} ${new URL(url).pathname}`)
    page.open += 1
    try {
      const response = await fetch(url, init)
      page.statuses.push(response.status)
      if (!response.body || response.status === 204) return response
      // Lets a test lose the connection in the middle, as a browser reports it.
      let drop
      const lost = new Promise((_, reject) => (drop = () => reject(new TypeError('network error'))))
      lost.catch(() => {})
      page.drops.add(drop)
      const reader = response.body.getReader()
      const through = new ReadableStream({
        async pull(controller) {
          try {
            const { done, value } = await Promise.race([reader.read(), lost])
            if (done) controller.close()
            else controller.enqueue(value)
          } catch (error) {
            reader.cancel().catch(() => {})
            controller.error(error)
          }
        },
        cancel: reason => reader.cancel(reason),
      })
      return new Response(through, { status: response.status, headers: response.headers })
    } finally {
      page.open -= 1
    }
  }
  const transport = socket
    ? new sdk.WebSocketChatTransport({ url: socket.url, protocols: socket.protocols, body })
    : new sdk.DefaultChatTransport({ api, headers, body, fetch: counted })
  const approvals = sdk.lastAssistantMessageIsCompleteWithApprovalResponses ?? (() => false)
  class Chat extends sdk.AbstractChat {
    constructor() {
      super({
        id,
        transport,
        state: new State(messages ?? []),
        experimental_queue: queue,
        sendAutomaticallyWhen: all => approvals(all) || sdk.lastAssistantMessageIsCompleteWithToolCalls(all),
        onToolCall: ({ toolCall }) => {
          page.ran.push(toolCall.toolCallId)
          const output = outputs?.[toolCall.toolName]
          if (output === undefined) return
          const give = page.chat.addToolOutput ?? page.chat.addToolResult
          give({ tool: toolCall.toolName, toolCallId: toolCall.toolCallId, output })
        },
        onFinish: ({ isAbort, isError, isDisconnect, finishReason }) =>
          page.finished.push({ isAbort, isError, isDisconnect, finishReason }),
        onError: () => {},
      })
    }
  }
  page.chat = new Chat()
  page.transport = transport
  chats.set(name, page)
  return page
}

const background = promise => void Promise.resolve(promise).catch(() => {})

const orders = {
  open,
  send(order) {
    const page = chats.get(order.name)
    const options = order.body ? { body: order.body } : undefined
    background(page.chat.sendMessage({ text: order.text, files: order.files, messageId: order.messageId }, options))
    return page
  },
  now(order) {
    const page = chats.get(order.name)
    background(page.chat.experimental_sendQueuedMessageNow(page.chat.experimental_queuedMessages[0].id))
    return page
  },
  submit(order) {
    const page = chats.get(order.name)
    background(page.chat.sendMessage(undefined, { body: order.body }))
    return page
  },
  regenerate(order) {
    const page = chats.get(order.name)
    background(page.chat.regenerate(order.messageId ? { messageId: order.messageId } : {}))
    return page
  },
  approve(order) {
    const page = chats.get(order.name)
    for (const part of page.chat.lastMessage.parts) {
      if (part.state !== 'approval-requested') continue
      const { approved, reason } = order
      background(page.chat.addToolApprovalResponse({ id: part.approval.id, approved, reason }))
    }
    return page
  },
  output(order) {
    const page = chats.get(order.name)
    const give = (page.chat.addToolOutput ?? page.chat.addToolResult).bind(page.chat)
    for (const part of page.chat.lastMessage.parts) {
      if (part.state !== 'input-available' || part.providerExecuted) continue
      background(give({ tool: part.toolName, toolCallId: part.toolCallId, output: order.output }))
    }
    return page
  },
  resume(order) {
    const page = chats.get(order.name)
    background(page.chat.resumeStream())
    return page
  },
  async stop(order) {
    const page = chats.get(order.name)
    await page.chat.stop()
    return page
  },
  drop(order) {
    const page = chats.get(order.name)
    for (const drop of page.drops) drop()
    page.drops.clear()
    if (page.transport.close) page.transport.close()
    return page
  },
  async until(order) {
    const page = chats.get(order.name)
    await wait(() => JSON.stringify(page.chat.messages).includes(order.text))
    return page
  },
  async settle(order) {
    const page = chats.get(order.name)
    let calm = 0
    await wait(() => {
      const busy = page.open || ['submitted', 'streaming'].includes(page.chat.status)
      calm = busy ? 0 : calm + 1
      return calm > 4
    })
    return page
  },
}

async function whyInvalid(sdk, messages) {
  if (!messages.length) return null
  const checked = await sdk.safeValidateUIMessages({ messages: JSON.parse(JSON.stringify(messages)) })
  return checked.success ? null : checked.error.message.slice(-2000)
}

async function wait(condition) {
  const end = Date.now() + SECONDS * 1000
  while (!condition()) {
    if (Date.now() > end) throw new Error('the page waited too long')
    await new Promise(done => setTimeout(done, 5))
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line)
  let report
  try {
    const { chat, sdk, requests, statuses, ran, finished } = await orders[order.do](order)
    const { messages, status, error } = chat
    const queued = chat.experimental_queuedMessages?.length ?? 0
    report = { messages, status, error: error?.message ?? null, requests, statuses, ran, finished, queued }
    report.invalid = await whyInvalid(sdk, messages)
  } catch (error) {
    report = { failure: String(error?.stack ?? error) }
  }
  process.stdout.write(JSON.stringify(report) + '\n')
}
