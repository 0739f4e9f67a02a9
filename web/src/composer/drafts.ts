// What is written and not sent yet, kept in the tab by session. Attachments are too large to be kept over a reload.

import type { Attachment } from "./attachments";

const attached = new Map<string | null, readonly Attachment[]>();

function nameOf(sessionId: string | null): string {
  return `trunkline.draft.${sessionId ?? "new"}`;
}

export function restoreDraft(sessionId: string | null): string {
  return sessionStorage.getItem(nameOf(sessionId)) ?? "";
}

export function keepDraft(sessionId: string | null, text: string): void {
  try {
    if (text === "") sessionStorage.removeItem(nameOf(sessionId));
    else sessionStorage.setItem(nameOf(sessionId), text);
  } catch {
    // A draft of megabytes is not kept over a reload.
  }
}

export function restoreAttachments(sessionId: string | null): readonly Attachment[] {
  return attached.get(sessionId) ?? [];
}

export function keepAttachments(sessionId: string | null, attachments: readonly Attachment[]): void {
  if (attachments.length === 0) attached.delete(sessionId);
  else attached.set(sessionId, attachments);
}

/** Let what was written for a new conversation go on in its session. */
export function moveDraft(sessionId: string): void {
  keepDraft(sessionId, restoreDraft(null));
  keepDraft(null, "");
  keepAttachments(sessionId, restoreAttachments(null));
  keepAttachments(null, []);
}
