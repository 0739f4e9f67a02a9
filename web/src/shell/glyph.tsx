// Icons of the shell as inline SVG: nothing is fetched.

const SHAPES = {
  send: "M10 16V4M5 9l5-5 5 5",
  stop: "M5.5 5.5h9v9h-9z",
  attach: "M13.5 6.5l-6 6a1.8 1.8 0 002.5 2.5l6-6a3.6 3.6 0 00-5-5l-6 6a5.3 5.3 0 007.5 7.5l5-5",
  close: "M5.5 5.5l9 9M14.5 5.5l-9 9",
  plus: "M10 4v12M4 10h12",
  more: "M4.5 10h.01M10 10h.01M15.5 10h.01",
  menu: "M3.5 5.5h13M3.5 10h13M3.5 14.5h13",
  down: "M5 8l5 5 5-5",
  edit: "M12.8 3.6l3.6 3.6L7 16.6l-4.2.6.6-4.2z",
  again: "M16 10a6 6 0 11-1.8-4.3M16 3v4h-4",
  fork: "M6 6.5v7M14 8.5c0 3-4.5 2.5-7.5 5M6 6.5a2 2 0 100-4 2 2 0 000 4zM6 17.5a2 2 0 100-4 2 2 0 000 4zM14 8.5a2 2 0 100-4 2 2 0 000 4z",
  file: "M5 2.5h6.5L15 6v11.5H5zM11.5 2.5V6H15",
  clock: "M10 17a7 7 0 100-14 7 7 0 000 14zM10 6v4l2.5 2",
  search: "M8.75 14a5.25 5.25 0 100-10.5 5.25 5.25 0 000 10.5zM12.6 12.6L17 17",
  light: "M10 13.5a3.5 3.5 0 100-7 3.5 3.5 0 000 7zM10 2v1.5M10 16.5V18M2 10h1.5M16.5 10H18M4.3 4.3l1.1 1.1M14.6 14.6l1.1 1.1M4.3 15.7l1.1-1.1M14.6 5.4l1.1-1.1",
  dark: "M16.5 11.5A6.8 6.8 0 018.5 3.5a6.8 6.8 0 108 8z",
  help: "M10 17a7 7 0 100-14 7 7 0 000 14zM8 8a2 2 0 113 1.7c-.7.4-1 .8-1 1.6M10 13.8v.01",
  inspect: "M7 5L2.5 10 7 15M13 5l4.5 5-4.5 5",
  leave: "M8 3.5H4v13h4M12 6.5l3.5 3.5-3.5 3.5M15.5 10H8",
} as const;

export type GlyphName = keyof typeof SHAPES;

export function Glyph({ name }: { name: GlyphName }) {
  return (
    <svg class={`glyph glyph-${name}`} viewBox="0 0 20 20" width="18" height="18" aria-hidden="true" focusable="false">
      <path
        d={SHAPES[name]}
        fill="none"
        stroke="currentColor"
        stroke-width={name === "more" ? 2.6 : 1.7}
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
