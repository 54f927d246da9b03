import type { MergeView } from "./tasks.ts";

type Tone = "good" | "wait" | "bad";

/** What a person is told about an action that may not be done when its request is answered. */
export interface Told {
  readonly text: string;
  readonly tone: Tone;
}

type MergeAnswer = Pick<MergeView, "state" | "reason" | "target" | "warnings" | "empty" | "pushed"> & {
  readonly task: Pick<MergeView["task"], "id">;
};

/** What came of a merge, in the words of the command line: only one that has reached the branch is told as done. */
export function mergeTold({ state, reason, target, warnings, empty, pushed, task }: MergeAnswer): Told {
  const [text, tone] = wordsOf(state);
  const said = [...(text === "" ? [] : [text.replace("TARGET", target)]), reason]
    .filter((each) => each !== "")
    .join(" ");
  const merged = empty && state === "merged" ? "Its branch has no commit of its own, so nothing was merged." : said;
  const push = pushed === null || state !== "merged" ? "" : `${pushTold({ target, pushed })}.`;
  const undo = state === "merged" && !empty ? `To undo it: ${undoCommand(task.id)}` : "";
  return { text: [merged, push, undo, ...warnings].filter((each) => each !== "").join("\n"), tone };
}

type Push = { readonly target: string; readonly pushed: NonNullable<MergeView["pushed"]> };

/** What a merge has pushed, without a full stop. */
export function pushTold({ target, pushed }: Push): string {
  return `Pushed ${target} to ${pushed.remote}${alongWith(pushed.commits, "was", "were")}`;
}

/** What a merge would push, without a full stop. */
export function pushOutlook({ target, pushed }: Push): string {
  return `It would also push ${target} to ${pushed.remote}${alongWith(pushed.commits, "is", "are")}`;
}

/** The person's own commits that a push publishes together with the work. */
function alongWith(commits: number | null, one: string, several: string): string {
  if (commits === null) return `, with all of your commits that ${several} not there yet`;
  if (commits === 0) return "";
  return commits === 1
    ? `, with 1 other commit of yours that ${one} not there yet`
    : `, with ${commits} other commits of yours that ${several} not there yet`;
}

/** The command that takes a merge back. */
export function undoCommand(task: string): string {
  return `signalbox task merge ${task} --undo`;
}

/** What came of stopping a merge: it may have reached the branch before. */
export function stopTold({ state, reason, target }: Pick<MergeView, "state" | "reason" | "target">): Told {
  const isLate = state === "merged";
  const text = isLate ? `Too late: it was merged into ${target} before.` : `Its merge into ${target} is stopped.`;
  return { text: [text, reason].filter((each) => each !== "").join(" "), tone: isLate ? "bad" : "good" };
}

function wordsOf(state: MergeView["state"]): readonly [text: string, tone: Tone] {
  switch (state) {
    case "merged":
      return ["Merged into TARGET.", "good"];
    case "lined-up":
      return ["In the queue of TARGET.", "wait"];
    case "waits":
      return ["Not merged yet.", "wait"];
    case "undone":
      return ["", "good"];
    default:
      return ["Not merged.", "bad"];
  }
}
