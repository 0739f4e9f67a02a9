// Files that are dropped anywhere on the page: the browser itself would leave the page to show them.

import { useEffect, useRef, useState } from "preact/hooks";

/** Take dropped files; says whether some are held over the page. */
export function useFileDrop(onFiles: (files: Iterable<File>) => void): boolean {
  const [held, setHeld] = useState(false);
  const latest = useRef(onFiles);
  latest.current = onFiles;
  useEffect(() => {
    const onDrag = (event: DragEvent) => {
      if (!(event.dataTransfer?.types.includes("Files") ?? false)) return;
      event.preventDefault();
      setHeld(event.type === "dragover");
      if (event.type === "drop") latest.current(event.dataTransfer?.files ?? []);
    };
    // Without a new place they have left the window.
    const onLeave = (event: DragEvent) => event.relatedTarget === null && setHeld(false);
    document.addEventListener("dragover", onDrag);
    document.addEventListener("drop", onDrag);
    document.addEventListener("dragleave", onLeave);
    return () => {
      document.removeEventListener("dragover", onDrag);
      document.removeEventListener("drop", onDrag);
      document.removeEventListener("dragleave", onLeave);
    };
  }, []);
  return held;
}
