import { isJsonObject } from "../json.ts";
import { cutText, oneLine, sentences } from "../text.ts";
import { asksForFindings, type Finding, isUnsettled, type Ledger, severities } from "./findings.ts";
import type { Task } from "./task.ts";
import type { RunSpec, State, Workflow } from "./workflow.ts";

const maxWords = 600;
const maxListed = 5;

/**
 * What a judge's answer said, for a task that it brings to a bad end, or to a person: how often the work was reviewed, what is
 * open, and the judge's own words. `to` is undefined where no rule covers the answer. Empty where no judge answered, and where
 * the work goes on.
 */
export function verdictWords(
  workflow: Workflow,
  state: State,
  task: Task,
  answer: unknown,
  to: State | undefined,
): string {
  const isEnd = to?.terminal === true && to.outcome !== "done";
  if (answer === undefined || !(to === undefined || isEnd || to.wait.kind === "human")) return "";
  const spec = judgeOf(workflow, state);
  if (spec === undefined) return "";
  // The reviews in the ledger are those of other judges than one who answers without findings.
  const ledger = asksForFindings(workflow, spec) ? task.ledger : undefined;
  const rounds = ledger?.round ?? 0;
  const times = rounds === 1 ? "1 review" : `${rounds} reviews`;
  const rejected = rounds === 0 ? `Rejected by ${spec.role}.` : `Rejected in ${times}.`;
  const reviewed = rounds === 0 ? "" : `It had ${times}.`;
  return sentences([isEnd ? rejected : reviewed, openFindings(ledger), quoted(workflow, spec, answer)]);
}

/**
 * The words of the last review that the task keeps; empty where there is none, or where it had nothing to say. Where judges answer
 * with findings, those of other judges, such as of a specification, are about something else.
 */
export function lastReview(workflow: Workflow, task: Task): string {
  const judges = Object.values(workflow.states).flatMap((state) => judgeOf(workflow, state) ?? []);
  const finders = judges.filter((spec) => asksForFindings(workflow, spec));
  for (const spec of (finders.length > 0 ? finders : judges).toReversed()) {
    const words = wordsOf(workflow, spec, task.results[spec.result ?? ""]);
    if (words !== "") return words;
  }
  return "";
}

/** That the last tests failed, and how often that sent the task back, for a person whose turn it is; empty where they did not. */
export function failedTests({ states }: Workflow, { tested, counters }: Task): string {
  if (tested?.word !== "tests") return "";
  const rules = Object.values(states).flatMap((state) => state.rules.filter(({ on }) => on?.includes("tests")));
  const [limit] = rules.flatMap(({ when }) => when.filter(({ source, op }) => source === "counter" && op === "<"));
  const times = limit === undefined ? 0 : (counters[limit.field] ?? 0);
  const sent = times === 0 ? "" : ` The task was sent back for that: ${times} of ${limit?.written}.`;
  return `The last tests failed, on ${tested.commit.slice(0, 10)}.${sent}`;
}

/** The run whose answers judge the work of a state; undefined where the state waits for no judge. */
function judgeOf(workflow: Workflow, { wait }: State): RunSpec | undefined {
  const spec = wait.kind === "agent" ? wait.run : wait.kind === "panel" ? wait.judge : undefined;
  return spec?.result !== undefined && workflow.judges.includes(spec.role) ? spec : undefined;
}

/** The open findings, for a reason. */
export function openFindings(ledger: Ledger | undefined): string {
  const open = (ledger?.findings ?? []).filter(({ state }) => isUnsettled(state));
  if (open.length === 0) return (ledger?.round ?? 0) === 0 ? "" : "No finding is open.";
  const rank = ({ severity }: Finding) => severities.indexOf(severity);
  const listed = open.toSorted((a, b) => rank(a) - rank(b)).slice(0, maxListed);
  const rest = open.length - listed.length;
  return `Open: ${listed.map(named).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
}

function named({ id, title, file, line }: Finding): string {
  return `${id} ${title.replace(/\.$/, "")} (${file}${line > 0 ? `:${line}` : ""})`;
}

function quoted(workflow: Workflow, spec: RunSpec, answer: unknown): string {
  const words = wordsOf(workflow, spec, answer);
  return words === "" ? "" : `The reviewer's last words: ${words}`;
}

/** The texts of an answer that are no choices of its schema, such as the field `feedback`. */
function wordsOf(workflow: Workflow, { result = "" }: RunSpec, answer: unknown): string {
  if (!isJsonObject(answer)) return "";
  const texts = Object.entries(workflow.schemas[result]?.properties ?? {}).flatMap(
    ([name, { type, enum: choices }]) => {
      const value = Object.hasOwn(answer, name) ? answer[name] : undefined;
      return type === "string" && choices === undefined && typeof value === "string" ? [oneLine(value, maxWords)] : [];
    },
  );
  return cutText(sentences(texts), maxWords);
}
