/**
 * Who asks while somebody else is being answered waits for one more answer, together with everybody else who does: what
 * they get was found out after they asked.
 */
export function sharing<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let current: Promise<unknown> | undefined;
  let next: Promise<Answer> | undefined;
  const begin = () => {
    const answer = ask();
    const over = answer.then(
      () => {},
      () => {},
    );
    current = over;
    over.then(() => {
      if (current === over) current = undefined;
    });
    return answer;
  };
  return () => {
    if (current === undefined) return begin();
    next ??= current.then(() => {
      next = undefined;
      return begin();
    });
    return next;
  };
}
