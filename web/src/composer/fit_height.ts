// A field that is as high as what is written in it, up to a part of the window.

const MOST = 0.4;

export function fitHeight(field: HTMLTextAreaElement | null): void {
  if (field === null) return;
  field.style.height = "auto";
  const borders = field.offsetHeight - field.clientHeight;
  field.style.height = `${Math.min(field.scrollHeight + borders, MOST * innerHeight)}px`;
}
