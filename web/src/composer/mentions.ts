// Files that a message names by @.

import type { LinkBlock } from "../model";

/** Give links to the chosen files that a text still names, so that an agent finds them from wherever it runs. */
export function mentions(text: string, folder: string | null, chosen: ReadonlySet<string>): LinkBlock[] {
  if (folder === null) return [];
  const named = [...chosen].filter((name) => names(text, name));
  return named.map((name) => ({ type: "link", uri: fileUri(folder, name), name }));
}

/** Whether a text has the name as words of their own; a file's name may have blanks. */
function names(text: string, name: string): boolean {
  return ` ${text.replace(/\s/g, " ")} `.includes(` @${name.replace(/\s/g, " ")} `);
}

function fileUri(folder: string, name: string): string {
  const path = `${folder.replaceAll("\\", "/").replace(/\/$/, "")}/${name}`;
  const words = path.split("/").map((word) => encodeURIComponent(word).replaceAll("%3A", ":"));
  return `file://${path.startsWith("/") ? "" : "/"}${words.join("/")}`;
}
