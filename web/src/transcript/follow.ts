// Keeps the newest words in view, unless the reader has scrolled up.

import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** How near to the end counts as reading along, in pixels. */
const NEAR = 60;

/** The event of something inside that was brought into sight: the end is no longer kept in view. */
export const STAY = "trunkline:stay";

/** Give refs for the scroller and its content, whether it follows, and a way back to the end. */
export function useFollow() {
  const scroller = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const following = useRef(true);
  const [away, setAway] = useState(false);
  const toEnd = () => {
    following.current = true;
    setAway(false);
    const element = scroller.current;
    if (element !== null) element.scrollTop = element.scrollHeight;
  };
  // Before the effects of what is inside: a question that is there from the start brings itself into sight.
  useLayoutEffect(() => {
    const outer = scroller.current;
    const inner = content.current;
    if (outer === null || inner === null) return;
    let top = outer.scrollTop;
    const onScroll = () => {
      const end = outer.scrollHeight - outer.clientHeight - outer.scrollTop < NEAR;
      // Only a person scrolls up; content that grows moves the end away, and is no reason to stop.
      if (end) following.current = true;
      else if (outer.scrollTop < top - 2) following.current = false;
      top = outer.scrollTop;
      setAway(!following.current);
    };
    const onStay = () => {
      top = Number.POSITIVE_INFINITY;
      onScroll();
    };
    const grown = new ResizeObserver(() => {
      if (following.current) outer.scrollTop = outer.scrollHeight;
      else setAway(true);
      top = outer.scrollTop;
    });
    outer.addEventListener("scroll", onScroll, { passive: true });
    outer.addEventListener(STAY, onStay);
    grown.observe(inner);
    grown.observe(outer);
    return () => {
      outer.removeEventListener("scroll", onScroll);
      outer.removeEventListener(STAY, onStay);
      grown.disconnect();
    };
  }, []);
  return { scroller, content, away, toEnd };
}
