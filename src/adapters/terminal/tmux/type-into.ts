import { windowName } from "./address.ts";
import type { Ask } from "./ask.ts";
import { asArgument, type TmuxEnd } from "./run-tmux.ts";

export interface Typed {
  readonly end: TmuxEnd;
  /** The program has ended in the meantime. */
  readonly isDead: boolean;
}

/** Puts a text that `typedText` has been through into a program's input, as one paste where it knows of pastes. */
export async function pasteInto(ask: Ask, target: string, run: string, text: string): Promise<Typed> {
  const buffer = windowName(run);
  // Asked in the same breath: some tmux servers die when somebody pastes into a pane that is dead.
  const guard = ["if-shell", "-F", "-t", target, "#{pane_dead}"];
  const choice = [
    `delete-buffer -b ${buffer} ; display-message -p dead`,
    `paste-buffer -p -r -d -b ${buffer} -t ${target}`,
  ];
  const end = await ask(["load-buffer", "-b", buffer, "-", ";", ...leaveView(target), ...guard, ...choice], text);
  if (end.code !== 0) await ask(["delete-buffer", "-b", buffer]);
  return { end, isDead: end.stdout.trim() === "dead" };
}

export function pressInto(ask: Ask, target: string, keys: readonly string[]): Promise<TmuxEnd> {
  return ask([...leaveView(target), "send-keys", "-t", target, "--", ...keys.map(asArgument)]);
}

/**
 * Where a person looks at what scrolled away, keys would go to that view and not to the program, and a text would be
 * pasted as if the program did not know of pastes: each of its lines would be submitted.
 */
function leaveView(target: string): readonly string[] {
  return ["copy-mode", "-q", "-t", target, ";"];
}
