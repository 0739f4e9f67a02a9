// Files that go with a prompt, as the content blocks that the agent understands.

import type { AgentInfo } from "../net/api";
import { fileNameOf, type Content } from "../model";

export interface Attachment {
  id: number;
  name: string;
  size: number;
  block: Content;
}

/** A file that cannot be sent; the message says why and what to do. */
export class NotSendable extends Error {}

const TEXT = /^(text\/|application\/(json|xml|javascript|x-sh|x-yaml|toml|sql|x-ndjson)|[^/]+\/[^/]+\+(json|xml)$)/;
const TEXT_NAME = /\.(md|txt|csv|tsv|log|py|ts|tsx|js|jsx|rs|go|java|c|h|cpp|rb|php|sh|ya?ml|toml|ini|cfg|sql|html|css|json|xml|ofx|qif|sta)$/i;
/** What one request may hold, with room for the rest of it. */
const USUAL_LIMIT = 4 * 1024 * 1024;
let count = 0;

export async function attach(file: File, agent: AgentInfo | undefined, limit = USUAL_LIMIT): Promise<Attachment> {
  const may = agent?.prompt ?? {};
  const name = file.name || "pasted file";
  if (file.size * 1.4 > limit) {
    throw new NotSendable(`${name} is larger than the ${Math.floor(limit / 1.4 / 1024 / 1024)} MB that one message may hold.`);
  }
  const made = (block: Content): Attachment => ({ id: (count += 1), name, size: file.size, block });
  const type = file.type.split(";")[0] ?? "";
  if (type.startsWith("image/")) {
    if (may.image !== true) throw new NotSendable(`This agent takes no images, so ${name} was not added.`);
    return made({ type: "image", mime_type: type, data: await base64(file) });
  }
  if (type.startsWith("audio/")) {
    if (may.audio !== true) throw new NotSendable(`This agent takes no sound, so ${name} was not added.`);
    return made({ type: "audio", mime_type: type, data: await base64(file) });
  }
  const uri = `attachment:///${encodeURIComponent(name)}`;
  const text = TEXT.test(type) || TEXT_NAME.test(name) ? textOf(await file.arrayBuffer()) : null;
  if (text !== null) {
    if (may.embedded === true) return made({ type: "resource", uri, text, mime_type: type || "text/plain" });
    const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
    return made({ type: "text", text: `${name}:\n${fence}\n${text}\n${fence}` });
  }
  if (may.embedded !== true) throw new NotSendable(`This agent takes no files of this type, so ${name} was not added.`);
  return made({ type: "resource", uri, data: await base64(file), mime_type: type || "application/octet-stream" });
}

/** Read text in UTF-8 or UTF-16, else as Windows wrote it in the West (many banks still do); null if it is no text. */
export function textOf(data: ArrayBuffer): string | null {
  const [first, second] = new Uint8Array(data.slice(0, 2));
  const wide = first === 0xff && second === 0xfe ? "utf-16le" : first === 0xfe && second === 0xff ? "utf-16be" : null;
  try {
    return new TextDecoder(wide ?? "utf-8", { fatal: true }).decode(data);
  } catch {
    return new Uint8Array(data).includes(0) ? null : new TextDecoder("windows-1252").decode(data);
  }
}

/** Give the attachment that a block of a message was, so that the message can be written again. */
export function attachmentOf(block: Content): Attachment {
  const data = "data" in block ? (block.data ?? "") : "";
  const text = "text" in block ? (block.text ?? "") : "";
  const name = "uri" in block ? fileNameOf(block.uri ?? "") : "";
  return { id: (count += 1), name: name || block.type, size: text.length || Math.floor(data.length * 0.75), block };
}

async function base64(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let text = "";
  // Piece by piece: a call with a million arguments fails.
  for (let at = 0; at < bytes.length; at += 0x8000) text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(text);
}

export function sizeText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  return bytes < 1e6 ? `${Math.round(bytes / 1000)} kB` : `${(bytes / 1e6).toFixed(1)} MB`;
}
