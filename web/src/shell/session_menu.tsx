// What can be done with a conversation: rename, fork, export, delete.

import { useState } from "preact/hooks";
import { api, type SessionRow } from "../net/api";
import { AskText, Confirm } from "./dialog";
import { Glyph } from "./glyph";
import { Menu, type MenuItem } from "./menu";
import { tellError } from "./toasts";

interface Props {
  row: SessionRow;
  scopes: readonly string[];
  onOpen: (sessionId: string) => void;
  onChanged: () => void;
  onDeleted: (sessionId: string) => void;
}

export function titleOf(row: { title?: string | null }): string {
  return row.title || "New conversation";
}

export function SessionMenu({ row, scopes, onOpen, onChanged, onDeleted }: Props) {
  const [asking, setAsking] = useState<"rename" | "delete" | null>(null);
  const id = row.session_id;
  const title = titleOf(row);
  const attempt = (action: Promise<unknown>, done: () => void) => void action.then(done, tellError);
  const items: MenuItem[] = [];
  if (scopes.includes("prompt")) {
    items.push(
      { label: "Rename", onChoose: () => setAsking("rename") },
      {
        label: "Fork",
        detail: "Go on in a copy",
        onChoose: () =>
          void api.fork(id).then((made) => {
            onChanged();
            onOpen(made.session_id);
          }, tellError),
      },
    );
  }
  items.push(
    { label: "Export as Markdown", download: api.exportUrl(id, "md") },
    { label: "Export as HTML", download: api.exportUrl(id, "html") },
    { label: "Export as JSON", download: api.exportUrl(id, "json") },
  );
  if (scopes.includes("admin")) items.push({ label: "Delete", danger: true, onChoose: () => setAsking("delete") });
  return (
    <>
      <Menu label={`Actions for ${title}`} button={<Glyph name="more" />} items={items} />
      {asking === "rename" && (
        <AskText
          title="Rename conversation"
          label="Title"
          value={row.title ?? ""}
          action="Rename"
          onClose={() => setAsking(null)}
          onDone={(name) => attempt(api.rename(id, name), onChanged)}
        />
      )}
      {asking === "delete" && (
        <Confirm
          title="Delete conversation?"
          text={
            <>
              “<bdi>{title}</bdi>” and everything in it is deleted for good, for every front end.
            </>
          }
          action="Delete"
          onClose={() => setAsking(null)}
          onConfirm={() => attempt(api.remove(id), () => onDeleted(id))}
        />
      )}
    </>
  );
}
