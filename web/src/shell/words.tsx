// A sentence of the server or the page: what is between backticks is code.

export function Words({ text }: { text: string }) {
  return (
    <>
      {text.split(/(`[^`]+`)/).map((piece, at) => (at % 2 === 1 ? <code key={at}>{piece.slice(1, -1)}</code> : piece))}
    </>
  );
}
