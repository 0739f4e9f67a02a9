// Reads UI message streams with the AI SDK itself, many in one process.
//
//   node aisdk_validate.mjs FOLDER...    (each FOLDER has its own node_modules/ai)
//
// A line on stdin is {"folder": 0, "responses": [[chunk, ...], ...], "answers": {...}, "outputs": {...}}: the
// responses that make one message, and what the person does between them (approvals by their ids, outputs of
// the page's own tools by their calls). A line on stdout is {"problems": [...], "message": {...}, "sends": [...]}:
// whether the AI SDK's own helpers send the answers by themselves, after each response but the last.
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'

async function load(folder) {
  const root = resolve(folder, 'node_modules/ai')
  const entry = JSON.parse(readFileSync(join(root, 'package.json'))).exports['.'].import
  return import(pathToFileURL(join(root, entry)))
}

function sse(chunks) {
  const text = [...chunks.map((chunk) => JSON.stringify(chunk)), '[DONE]'].map((one) => `data: ${one}\n\n`).join('')
  return new Blob([text]).stream()
}

async function read(ai, chunks, before, problems) {
  const good = []
  const reader = ai.parseJsonEventStream({ stream: sse(chunks), schema: ai.uiMessageChunkSchema }).getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) break
    if (value.success) good.push(value.value)
    else problems.push(`schema: ${JSON.stringify(value.rawValue)}`)
  }
  let last = before
  let error
  const stream = new ReadableStream({
    start(controller) {
      for (const chunk of good) controller.enqueue(chunk)
      controller.close()
    },
  })
  const wanted = chunks.find((chunk) => chunk.type === 'error')?.errorText
  try {
    const messages = ai.readUIMessageStream({
      message: before === undefined ? undefined : structuredClone(before),
      stream,
      onError: (given) => { error = given },
    })
    for await (const message of messages) last = message
  } catch (given) {
    error = given
  }
  if (error !== undefined && error.message !== wanted) problems.push(`reader: ${error.message}`)
  if (wanted !== undefined && error === undefined) problems.push('reader: the error chunk was not seen')
  lint(chunks, problems)
  return last === undefined ? undefined : JSON.parse(JSON.stringify(last))
}

function lint(chunks, problems) {
  const types = chunks.map((chunk) => chunk.type)
  if (types[0] !== 'start') problems.push(`lint: the first chunk is ${types[0]}`)
  if (!['finish', 'error'].includes(types.at(-1))) problems.push(`lint: the last chunk is ${types.at(-1)}`)
  if (types.filter((one) => one === 'finish' || one === 'error').length !== 1) problems.push('lint: two ends')
  const starts = types.filter((one) => one === 'start-step').length
  if (starts !== types.filter((one) => one === 'finish-step').length) problems.push('lint: steps do not pair')
}

function act(message, answers, outputs) {
  for (const part of message?.parts ?? []) {
    const answer = answers?.[part.approval?.id]
    if (part.state === 'approval-requested' && answer !== undefined) {
      part.state = 'approval-responded'
      part.approval = { ...part.approval, ...answer }
    }
    if (part.state === 'input-available' && outputs && Object.hasOwn(outputs, part.toolCallId)) {
      part.state = 'output-available'
      part.output = outputs[part.toolCallId]
    }
  }
}

function sendsByItself(ai, message) {
  const approved = ai.lastAssistantMessageIsCompleteWithApprovalResponses?.({ messages: [message] })
  return approved || ai.lastAssistantMessageIsCompleteWithToolCalls({ messages: [message] })
}

const packages = await Promise.all(process.argv.slice(2).map(load))
for await (const line of createInterface({ input: process.stdin })) {
  const { folder, responses, answers, outputs } = JSON.parse(line)
  const ai = packages[folder]
  const problems = []
  const sends = []
  let message
  for (const chunks of responses) {
    if (message !== undefined) {
      act(message, answers, outputs)
      sends.push(sendsByItself(ai, message))
    }
    message = await read(ai, chunks, message, problems)
  }
  for (const part of message?.parts ?? []) {
    if (part.state === 'streaming') problems.push(`lint: a ${part.type} part is left open`)
  }
  if (message?.parts.length) {
    const checked = await ai.safeValidateUIMessages({ messages: [message] })
    if (!checked.success) problems.push(`validate: ${checked.error.message.slice(-2000)}`)
  }
  console.log(JSON.stringify({ problems, message, sends }))
}
