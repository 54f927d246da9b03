import { route } from "./client.ts";
import { changeWire, mergeWire } from "./tasks.ts";
import { any, boolean, integer, list, nullable, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const name = shortText(100);
const ofTask = record({}, { project: name });
const said = shortText(200_000);
/** The fingerprint of a plan. */
export const fingerprint = shortText(64);

export const saidFields = {
  change: changeWire,
  section: text,
  /** message: a live agent is told. start: an agent is started with it. Null if no agent continues now. */
  told: nullable(record({ run: text, how: oneOf("message", "start") })),
};

/** The result of a person's text: the task's move, the section it was written into, and the agent that is told. */
const saidWire = record(saidFields);
export type SaidView = TypeOf<typeof saidWire>;

const findingWire = record({
  /** `F1`, `F2`, …: unique in the task. */
  id: text,
  state: oneOf("open", "approved", "dismissed", "fixed", "noted"),
  severity: oneOf("critical", "high", "medium", "low", "info"),
  file: text,
  /** 0 if it is not known. */
  line: integer(0),
  title: text,
  evidence: text,
  /** The commit that it was last reported or closed for; empty if none is known. */
  commit: text,
  /** The review that found it. */
  round: integer(0),
  /** The role that brought it into this state, or `human`. */
  by: text,
  /** What the reviewer said when it closed the finding. */
  reason: text,
  /** What the person said about it; no review replaces it. Empty if nothing was said. */
  note: text,
});

/**
 * `round`: how many reviews there were. `quiet`: how many in a row, up to the last, changed neither branch nor findings. `said`:
 * the last reviewer's own words. `parts`: those parts of the task that were reviewed.
 */
const findingsWire = record({
  task: text,
  round: integer(0),
  quiet: integer(0),
  said: text,
  findings: list(findingWire),
  parts: list(record({ task: text, item: text, round: integer(0), open: integer(0), found: integer(0) })),
});
export type FindingsView = TypeOf<typeof findingsWire>;

const planWire = record({
  task: text,
  items: list(
    record({
      id: text,
      title: text,
      description: text,
      needs: list(text),
      files: list(text),
      size: oneOf("S", "M", "L"),
    }),
  ),
  /** Identifies the items: an approval or a change that names it is refused once the plan is another one. Empty without a plan. */
  fingerprint: text,
  /** Whether a person can change it now; if not, `why` says why. */
  canChange: boolean,
  why: text,
});
export type PlanView = TypeOf<typeof planWire>;

/** What people tell a task, its plan, and the findings that they decide about. */
export const personRoutes = {
  listFindings: route({
    name: "listFindings",
    method: "GET",
    path: "/v1/tasks/:task/findings",
    summary: "List the findings of a task's reviews",
    access: "run",
    query: ofTask,
    answer: findingsWire,
  }),
  decideFindings: route({
    name: "decideFindings",
    method: "POST",
    path: "/v1/tasks/:task/findings",
    summary: "Approve findings, so that they are fixed, or dismiss them; all that are named, or none",
    access: "person",
    query: ofTask,
    body: record(
      { findings: list(shortText(20)), state: oneOf("approved", "dismissed") },
      { reason: shortText(2_000) },
    ),
    answer: findingsWire,
  }),
  addFinding: route({
    name: "addFinding",
    method: "POST",
    path: "/v1/tasks/:task/findings/own",
    summary:
      "Add a finding of a person's, which is approved with that: an agent fixes it, and a reviewer says whether it is fixed",
    access: "person",
    query: ofTask,
    /** `text`: what is wrong; its first line is the title. */
    body: record(
      { file: shortText(10_000), text: shortText(20_000) },
      { line: integer(0), severity: oneOf("critical", "high", "medium", "low", "info") },
    ),
    answer: findingsWire,
  }),
  requestChanges: route({
    name: "requestChanges",
    method: "POST",
    path: "/v1/tasks/:task/request-changes",
    summary: "Write feedback into the task file, and move the task back to a state in which an agent works",
    access: "person",
    query: ofTask,
    body: record({ text: said }, { to: name }),
    answer: saidWire,
  }),
  approveTask: route({
    name: "approveTask",
    method: "POST",
    path: "/v1/tasks/:task/approve",
    summary: "Approve what the task asks of a person, for one commit; merge the work first if the workflow requires it",
    access: "person",
    query: ofTask,
    /** `plan`: the fingerprint of the plan that the person was shown; without it, of the one that was shown last. */
    body: record({}, { commit: shortText(64), unreviewed: boolean, plan: fingerprint }),
    answer: record({
      commit: text,
      change: nullable(changeWire),
      merge: nullable(mergeWire),
      /** The workflow merges next, and the task's branch has no commit of its own. */
      empty: boolean,
      /** The workflow merges next: whether it succeeds is known once the work of the task's state has ended. */
      merges: boolean,
      /** What that merge does besides, and what is left open, as sentences. */
      warnings: list(text),
    }),
  }),
  getPlan: route({
    name: "getPlan",
    method: "GET",
    path: "/v1/tasks/:task/plan",
    summary: "Show the plan of a task: the items that become its children",
    access: "person",
    /** `shown`: the answer is shown to a person, whose approval is then for this plan. */
    query: record({}, { project: name, shown: oneOf("true") }),
    answer: planWire,
  }),
  putPlan: route({
    name: "putPlan",
    method: "PUT",
    path: "/v1/tasks/:task/plan",
    summary: "Change the plan of a task that waits for a person before its children start",
    access: "person",
    query: ofTask,
    /** `replaces`: the fingerprint of the plan that the person was shown; without it, of the one that was shown last. */
    body: record({ items: any }, { replaces: fingerprint }),
    answer: planWire,
  }),
} as const;
