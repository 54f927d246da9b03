/**
 * Lets things that concern the same task happen one after the other, those of different tasks side by side. Two who decide
 * about one task at once would both be right, but one would have worked in vain.
 */
export type Turns = <T>(task: string, run: () => Promise<T>) => Promise<T>;

export function createTurns(): Turns {
  const last = new Map<string, Promise<unknown>>();
  return (task, run) => {
    const before = last.get(task);
    const mine = before === undefined ? run() : before.then(run, run);
    last.set(task, mine);
    const leave = () => {
      if (last.get(task) === mine) last.delete(task);
    };
    mine.then(leave, leave);
    return mine;
  };
}
