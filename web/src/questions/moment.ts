/** A moment as one says it: the time, and the day if it is another one. */
export function momentWords(when: Date, now: Date): string {
  const day = { weekday: "short", day: "numeric", month: "short" } as const;
  const isToday = when.toDateString() === now.toDateString();
  return when.toLocaleString([], { ...(isToday ? {} : day), hour: "2-digit", minute: "2-digit" });
}
