import type { PullRequestView, TaskView } from "../../api/tasks.ts";

/** What is known of one check of a task's work. */
export interface CheckResult {
  /** said: whether it is good, its words say. none: it was not made. */
  readonly tone: "good" | "bad" | "warn" | "said" | "none";
  readonly title: string;
  readonly text: string;
  /** The commit that was checked; empty for none. */
  readonly commit: string;
  /** Set if that is not the newest commit of the task's work. */
  readonly note: string;
}

/** What was judged, and whether it is what the work is now. `newest`: its newest commit; empty while that is not known. */
export function verdictOf(judged: TaskView["judged"], newest: string): CheckResult {
  if (judged === null) return notMade("Verdict", "Nobody has judged the work yet.");
  const { role, commit } = judged;
  const isApproval = role === "human";
  const isCurrent = commit === newest;
  return {
    tone: !isCurrent ? "warn" : isApproval ? "good" : "said",
    title: isApproval ? "Approval" : "Verdict",
    text: isApproval ? "A person has approved it." : `The ${role} has judged it. Its words are in the task file.`,
    commit,
    note: isCurrent || newest === "" ? "" : "There are newer commits, which nobody has judged.",
  };
}

const testWords: Readonly<Record<string, string>> = {
  ok: "They passed.",
  tests: "They failed.",
  untested: "There was no command to test it with.",
};

export function testsOf(tested: TaskView["tested"], newest: string): CheckResult {
  if (tested === null) return notMade("Tests", "Signalbox has not run the tests for this task.");
  const { word, commit } = tested;
  const isCurrent = commit === newest;
  const other = "They ran on another commit than the newest one, such as the merged result.";
  return {
    tone: word === "tests" ? "bad" : isCurrent && word === "ok" ? "good" : "warn",
    title: "Tests",
    text: testWords[word] ?? `They ended with "${word}".`,
    commit,
    note: isCurrent || newest === "" ? "" : other,
  };
}

const checkWords: Readonly<Record<PullRequestView["checks"], string>> = {
  passing: "Its checks pass.",
  failing: "Its checks fail.",
  unfinished: "Its checks have not finished.",
  none: "It has no checks.",
};
const reviewWords: Readonly<Record<PullRequestView["review"], string>> = {
  approved: "It is approved.",
  "changes-requested": "Its reviewer asks for changes.",
  required: "It needs a review.",
  none: "",
};

export function pullRequestOf(known: PullRequestView | null, url: string, newest: string): CheckResult {
  if (known === null)
    return notMade("Pull request", url === "" ? "It has none." : "Its state was not read from the forge yet.");
  const { number, state, head, base, checks, review, isDraft } = known;
  const isBad = checks === "failing" || review === "changes-requested" || state === "closed";
  const isCurrent = head === newest || newest === "";
  const isGood = state === "merged" || (checks === "passing" && isCurrent);
  const words = [`It is ${isDraft ? "a draft" : state}, into ${base}.`, checkWords[checks], reviewWords[review]];
  return {
    tone: isBad ? "bad" : isGood ? "good" : checks === "none" ? "none" : "warn",
    title: `Pull request #${number}`,
    text: words.filter((each) => each !== "").join(" "),
    commit: head,
    note: isCurrent ? "" : "Its newest commit is another than the task's: it was not pushed yet.",
  };
}

function notMade(title: string, text: string): CheckResult {
  return { tone: "none", title, text, commit: "", note: "" };
}
