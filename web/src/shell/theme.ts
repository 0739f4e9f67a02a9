// Light or dark: as the system has it, until a person chooses.

import { Store } from "../store";

export type Theme = "light" | "dark";

const NAME = "trunkline.theme";
const system = matchMedia("(prefers-color-scheme: dark)");

function chosen(): Theme | null {
  const kept = localStorage.getItem(NAME);
  return kept === "light" || kept === "dark" ? kept : null;
}

function current(): Theme {
  return chosen() ?? (system.matches ? "dark" : "light");
}

export const theme = new Store<Theme>(current());

function show(): void {
  theme.set(current());
  document.documentElement.dataset["theme"] = theme.value;
}

export function startTheme(): void {
  system.addEventListener("change", show);
  // Another tab may choose.
  addEventListener("storage", show);
  show();
}

export function toggleTheme(): void {
  const next: Theme = theme.value === "dark" ? "light" : "dark";
  // What the system has anyway is no choice: it goes on following the system.
  if ((next === "dark") === system.matches) localStorage.removeItem(NAME);
  else localStorage.setItem(NAME, next);
  show();
}
