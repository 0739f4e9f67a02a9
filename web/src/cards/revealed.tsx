/** Text on which a person decides, with everything that hides in it marked. */
import { escapeHidden, reveal } from "./reveal";

interface Props {
  text: string;
  /** `controls` leaves blanks as they are: for output, which nobody approves. */
  what?: "all" | "controls";
}

export function Revealed({ text, what = "all" }: Props) {
  const pieces = what === "all" ? reveal(text) : escapeHidden(text);
  return (
    <>
      {pieces.map((piece) =>
        piece.hidden === undefined ? (
          piece.text
        ) : (
          <mark class="hidden-character" title={piece.hidden}>
            {piece.text}
          </mark>
        ),
      )}
    </>
  );
}
