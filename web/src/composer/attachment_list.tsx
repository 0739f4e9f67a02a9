// The attachments of a prompt that is being written, with previews.

import { Glyph } from "../shell/glyph";
import { sizeText, type Attachment } from "./attachments";

interface Props {
  attachments: readonly Attachment[];
  onRemove: (id: number) => void;
}

export function AttachmentList({ attachments, onRemove }: Props) {
  if (attachments.length === 0) return null;
  return (
    <ul class="attachments" aria-label="Attachments">
      {attachments.map(({ id, name, size, block }) => (
        <li key={id}>
          {block.type === "image" ? (
            <img src={`data:${block.mime_type};base64,${block.data ?? ""}`} alt="" />
          ) : (
            <Glyph name="file" />
          )}
          <span class="name">{name}</span>
          <span class="muted">{sizeText(size)}</span>
          <button type="button" class="quiet" onClick={() => onRemove(id)}>
            <Glyph name="close" /> <span class="off-screen">Remove {name}</span>
          </button>
        </li>
      ))}
    </ul>
  );
}
