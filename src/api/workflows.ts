import { route } from "./client.ts";
import { boolean, integer, list, nullable, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

/** A workflow as a list shows it. */
const listedWorkflowWire = record({
  name: text,
  /** gone: only open tasks still have it. */
  from: oneOf("built-in", "user", "project", "gone"),
  /** The project whose repository it is from; empty unless `from` is project. */
  project: text,
  file: text,
  /** Of the present text; empty if that cannot be read. */
  hash: text,
  /** Open tasks that follow it, and how many of them are pinned to another text than the present one. */
  openTasks: integer(0),
  otherText: integer(0),
  /** Whether its tasks may run: a repository's file must be trusted first. */
  trusted: boolean,
});
export type ListedWorkflow = TypeOf<typeof listedWorkflowWire>;

const stateWire = record({
  name: text,
  /** A task can be created in it; the first such state is the default. */
  initial: boolean,
  terminal: boolean,
  outcome: nullable(oneOf("done", "failed", "cancelled")),
  /** What it waits for: as one word, and as a phrase. */
  kind: oneOf("none", "open", "agent", "panel", "fan_out", "human", "slot", "time"),
  waits: text,
  /** The role of its agent; empty if it has none. */
  role: text,
  /** What a person's yes does, in the author's words; empty if the author says nothing. */
  ask: text,
  /** The engine's own work after the wait, by the names of the actions. */
  does: list(text),
});

const gateWire = record({ section: text, fields: list(text), verdict: nullable(oneOf("PASS", "FAIL")) });

const wayWire = record({
  from: text,
  to: text,
  /** Who may ask, gates and guards, as on the arrow of a drawing. */
  label: text,
  /** The roles that may ask; empty if every actor of the task may. */
  by: list(text),
  gates: list(gateWire),
  /** The guards, as in the file. */
  when: list(text),
  /** The actions that belong to the way. */
  hooks: list(text),
  /** rule: the engine takes it by a rule only. escalation: the engine takes it after failures. Null for a transition of the file. */
  implied: nullable(oneOf("rule", "escalation")),
  /** The same way leaves every state that is not an end. */
  everywhere: boolean,
});

/** The states and ways of a workflow, in the order of its file. Who draws it decides about positions. */
export const graphWire = record({ states: list(stateWire), ways: list(wayWire) });
export type GraphView = TypeOf<typeof graphWire>;

const problemWire = record({
  level: oneOf("error", "warning"),
  line: integer(0),
  column: integer(0),
  message: text,
  fix: text,
});

const findingWire = record({
  level: oneOf("error", "warning", "note"),
  code: text,
  state: text,
  message: text,
  fix: text,
  /** The shortest example: the states that it passes, and its steps; empty if there is none. */
  route: list(text),
  steps: list(text),
});

const proofWire = record({
  /** none: the workflow does not load, so there is nothing to prove. running: ask again. */
  state: oneOf("none", "running", "done", "failed"),
  /** Why it failed; empty otherwise. */
  reason: text,
  result: nullable(
    record({
      proved: boolean,
      positions: integer(0),
      steps: integer(0),
      variants: integer(0),
      findings: list(findingWire),
    }),
  ),
});
export type WorkflowProof = TypeOf<typeof proofWire>;

const workflowWire = record({
  name: text,
  from: oneOf("built-in", "user", "project", "gone"),
  file: text,
  hash: text,
  description: text,
  text,
  trusted: boolean,
  /** The command that makes a person trust it; empty if it is trusted. An untrusted text is not loaded. */
  trust: text,
  /** What loading found, with lines. */
  problems: list(problemWire),
  /** Null if it does not load. */
  graph: nullable(graphWire),
  proof: proofWire,
});
export type WorkflowView = TypeOf<typeof workflowWire>;

const name = shortText(100);

/** The routes about workflows. */
export const workflowRoutes = {
  listWorkflows: route({
    name: "listWorkflows",
    method: "GET",
    path: "/v1/workflows",
    summary: "List the workflows: built-in ones, the user's, and those of projects",
    access: "person",
    query: record({}, { project: name }),
    answer: record({ workflows: list(listedWorkflowWire) }),
  }),
  getWorkflow: route({
    name: "getWorkflow",
    method: "GET",
    path: "/v1/workflows/:workflow",
    summary: "Show a workflow's text, what loading and verify say about it, and its graph",
    access: "person",
    /** `project`: a workflow of its repository comes first. `hash`: this text, which a task is pinned to. */
    query: record({}, { project: name, hash: shortText(64) }),
    answer: workflowWire,
  }),
} as const;
