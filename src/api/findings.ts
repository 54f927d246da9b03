import { route } from "./client.ts";
import { integer, list, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

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
  reason: text,
});

/** `round`: how many reviews there were. `quiet`: how many in a row, up to the last, changed neither branch nor findings. */
const findingsWire = record({ task: text, round: integer(0), quiet: integer(0), findings: list(findingWire) });
export type FindingsView = TypeOf<typeof findingsWire>;

const ofTask = record({}, { project: shortText(100) });

/** The routes about the findings of a task's reviews. */
export const findingRoutes = {
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
} as const;
