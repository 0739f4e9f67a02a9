/** Icons as inline SVG, one for each kind of tool and each status: nothing is fetched. */
function Icon({ shape, name }: { shape: string; name: string }) {
  return (
    <svg
      class={`icon icon-${name}`}
      viewBox="0 0 20 20"
      width="18"
      height="18"
      fill="none"
      stroke="currentColor"
      stroke-width="1.6"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={shape} />
    </svg>
  );
}

const SHAPES: Record<string, string> = {
  read: "M5 2.5h6.5L15 6v11.5H5zM11.5 2.5V6H15M7.5 10h5M7.5 13h5",
  edit: "M12.8 3.6l3.6 3.6L7 16.6l-4.2.6.6-4.2zM11 5.4l3.6 3.6",
  delete: "M4 5.5h12M8 5.5V3.5h4v2M5.5 5.5l.8 11h7.4l.8-11M8.5 8.5v5M11.5 8.5v5",
  move: "M3 10h13M12 5.5l4.5 4.5-4.5 4.5",
  search: "M8.75 14a5.25 5.25 0 100-10.5 5.25 5.25 0 000 10.5zM12.6 12.6L17 17",
  execute: "M2.5 4h15v12h-15zM5.5 8l2.5 2.2-2.5 2.2M10 12.5h4",
  think: "M10 2.5a5.2 5.2 0 013 9.4V14H7v-2.1a5.2 5.2 0 013-9.4zM7.5 17h5",
  fetch: "M10 17.5a7.5 7.5 0 100-15 7.5 7.5 0 000 15zM2.5 10h15M10 2.5c4.5 4.6 4.5 10.4 0 15M10 2.5c-4.5 4.6-4.5 10.4 0 15",
  switch_mode: "M3 7h13M13 4l3 3-3 3M17 13H4M7 10l-3 3 3 3",
  other: "M11.9 5.2a3.6 3.6 0 014.4-1.3l-2.4 2.4.6 1.8 1.8.6 2-2.1a3.6 3.6 0 01-5 4.3L7.6 16.6a2 2 0 01-2.8-2.8l5.8-5.7",
};

/** The icon of a tool's kind; a kind we do not know has the wrench. */
export function KindIcon({ kind }: { kind: string }) {
  const known = Object.hasOwn(SHAPES, kind) ? kind : "other";
  return <Icon name={known} shape={SHAPES[known] ?? ""} />;
}

const STATUS: Record<string, string> = {
  pending: "M10 16.5a6.5 6.5 0 100-13 6.5 6.5 0 000 13z",
  in_progress: "M10 3.5a6.5 6.5 0 11-6.5 6.5",
  completed: "M4.5 10.5l3.8 3.8 7.4-8.2",
  failed: "M5.5 5.5l9 9M14.5 5.5l-9 9",
  denied: "M10 16.5a6.5 6.5 0 100-13 6.5 6.5 0 000 13zM5.5 14.5l9-9",
  cancelled: "M10 16.5a6.5 6.5 0 100-13 6.5 6.5 0 000 13zM7.5 7.5h5v5h-5z",
};

/** The icon of a status; another program's own status is one of work. */
export function StatusIcon({ status }: { status: string }) {
  const known = Object.hasOwn(STATUS, status) ? status : "in_progress";
  return <Icon name={`status-${known}`} shape={STATUS[known] ?? ""} />;
}

const MARKS = {
  chevron: "M7.5 4.5l5.5 5.5-5.5 5.5",
  info: "M10 17a7 7 0 100-14 7 7 0 000 14zM10 9v4.5M10 6.4v.1",
  warning: "M10 3l7.5 13.5h-15zM10 8v4M10 14.2v.1",
  error: "M10 17a7 7 0 100-14 7 7 0 000 14zM10 6.3v4.5M10 13.5v.1",
  copy: "M7 7h9.5v9.5H7zM13 7V3.5H3.5V13H7",
  download: "M10 3v9.5M6 9l4 4 4-4M4 16.5h12",
  close: "M5 5l10 10M15 5L5 15",
  question: "M10 17a7 7 0 100-14 7 7 0 000 14zM7.8 8a2.2 2.2 0 114 1.2c-.7.8-1.8 1-1.8 2.3M10 14v.1",
  link: "M8.5 11.5a3 3 0 004.3 0l3-3a3 3 0 00-4.3-4.3l-1 1M11.5 8.5a3 3 0 00-4.3 0l-3 3a3 3 0 004.3 4.3l1-1",
  file: "M5 2.5h6.5L15 6v11.5H5zM11.5 2.5V6H15",
  lane: "M4.5 3v7.5a4 4 0 004 4H16M12.5 11l3.5 3.5-3.5 3.5",
  compact: "M4 3.5l6 4.5 6-4.5M4 16.5l6-4.5 6 4.5",
} satisfies Record<string, string>;

export function MarkIcon({ mark }: { mark: keyof typeof MARKS }) {
  return <Icon name={mark} shape={MARKS[mark]} />;
}
