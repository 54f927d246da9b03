import type { Facts } from "./request.ts";
import type { Judged, Task, WaitProgress } from "./task.ts";
import type { Gate, RunSpec, State, Way, Workflow } from "./workflow.ts";

/**
 * The roles that judge the work of others: they write verdicts, take part in a panel, or give an answer by which rules decide
 * and may change nothing. Each works in a checkout of its own, of the commit that was handed over.
 */
export function judgesOf(
  states: Readonly<Record<string, State>>,
  ways: readonly Way[],
  owners: Readonly<Record<string, readonly string[]>>,
): readonly string[] {
  const all = Object.values(states);
  const artifacts = all.flatMap(({ rules }) => rules.flatMap(({ artifact }) => (isGate(artifact) ? [artifact] : [])));
  const gates = [...ways.flatMap((way) => way.gates), ...artifacts];
  const writersOf = (wanted: (gate: Gate) => boolean) =>
    gates.filter(wanted).flatMap(({ section }) => owners[section] ?? []);
  // A role that also hands work over would judge its own work.
  const handsOver = new Set(writersOf(({ verdict }) => verdict === undefined));
  const verdicts = writersOf(({ verdict }) => verdict !== undefined).filter((role) => !handsOver.has(role));
  const answers = all.flatMap(({ wait, rules }) => {
    if (wait.kind === "panel") return [wait.member.role, wait.judge.role];
    const decides = wait.kind === "agent" && rules.some(({ result }) => result !== undefined);
    return decides && wait.run.permissions === "reduced" ? [wait.run.role] : [];
  });
  return [...new Set([...verdicts, ...answers])].filter((role) => role !== "human" && role !== "engine");
}

function isGate(artifact: Gate | "none" | undefined): artifact is Gate {
  return artifact !== undefined && artifact !== "none";
}

/** The commit that the judges of the present stay are given; empty where no commit is known. */
export function givenCommit({ wait, spent }: Pick<Task, "wait" | "spent">): string {
  return wait.at ?? spent.head;
}

/** The wait of a judge that is started again in the same stay: it is given the present commit. */
export function waitOf(workflow: Workflow, wait: WaitProgress, { role }: RunSpec, { head }: Facts): WaitProgress {
  return head !== "" && workflow.judges.includes(role) ? { ...wait, at: head } : wait;
}

/** Why an answer does not count: the work has moved since its judge was given it. Undefined where it counts. */
export function outdatedAnswer(workflow: Workflow, task: Task, { role }: RunSpec, { head }: Facts): string | undefined {
  const given = givenCommit(task);
  if (!workflow.judges.includes(role) || given === "" || head === "" || given === head) return undefined;
  return `${role} was given ${short(given)}, but the branch is at ${short(head)}.`;
}

/** What an answer is about; empty where its role does not judge. */
export function judgedAnswer(workflow: Workflow, task: Task, { role }: RunSpec): { readonly judged?: Judged } {
  const commit = givenCommit(task);
  return commit === "" || !workflow.judges.includes(role) ? {} : { judged: { commit, role } };
}

/**
 * What a move along this way judges: the commit that its verdict is about or, where a person moves the task to a state that
 * others enter with a PASS, the present commit. Undefined where nothing is judged.
 */
export function judgedBy(workflow: Workflow, way: Way, by: string, facts: Facts): Judged | undefined {
  const gate = way.gates.find(({ verdict }) => verdict !== undefined);
  if (gate === undefined && !(by === "human" && followsPass(workflow, way.to))) return undefined;
  const known = gate !== undefined && Object.hasOwn(facts.artifacts, gate.section);
  const artifact = known ? facts.artifacts[gate.section] : undefined;
  const commit = artifact?.commit || facts.head;
  return commit === "" ? undefined : { commit, role: artifact?.role ?? by };
}

function followsPass({ ways }: Workflow, to: string): boolean {
  return ways.some((way) => way.to === to && way.gates.some(({ verdict }) => verdict === "PASS"));
}

function short(commit: string): string {
  return commit.slice(0, 10);
}
