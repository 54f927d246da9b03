/** The entry `signalbox/engine`: loads, proves and simulates workflows, and decides about tasks. Pure. */
export { parseTaskDocument, type TaskDocument } from "../documents/task-document.ts";
export { type Creation, createTask } from "./create.ts";
export { decide } from "./decide.ts";
export { apply, type Decision, type Effect, type Reason, type TaskEvent } from "./decision.ts";
export { type Loaded, loadWorkflow } from "./language/load.ts";
export { formatProblem, type Problem } from "./language/problem.ts";
export { buildPrompt } from "./prompt.ts";
export type { Actor, Facts, Request } from "./request.ts";
export { follow, type Simulation, simulate } from "./simulate/simulate.ts";
export { blankIdentity, type Task, type TaskIdentity } from "./task.ts";
export type { Example, Finding } from "./verify/finding.ts";
export { type Verification, verify } from "./verify/verify.ts";
export type { State, Way, Workflow } from "./workflow.ts";
