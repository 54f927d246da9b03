import { route } from "./client.ts";
import { moveWire } from "./tasks.ts";
import { boolean, integer, list, nullable, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";
import { graphWire } from "./workflows.ts";

/** What the person has seen of a task. */
const seenWire = record({
  task: text,
  /** The revision that was marked as seen; 0 if none was. */
  revision: integer(0),
  /** The commit that was marked as seen; empty if none was. */
  commit: text,
  unread: boolean,
  snoozedUntil: nullable(text),
});

/** A stay of a task in one state. */
const stayWire = record({
  state: text,
  /** When it entered the state, and when it left it; null for the present one. */
  since: text,
  until: nullable(text),
  /** Who made it enter: a role, `human` or `engine`. */
  by: text,
  /** `created`, `asked`, `rule N`, `escalated`, `migrated` or another cause. */
  cause: text,
  /** Why, in a sentence; empty if nothing more is known. */
  reason: text,
});

const taskGraphWire = record({
  task: text,
  workflow: text,
  hash: text,
  status: text,
  graph: graphWire,
  /** The oldest first; of a very long life only the last stays. */
  path: list(stayWire),
  isCut: boolean,
  /** The ways out of the present state: who may take each, which command does, and what is missing where it is closed. */
  moves: list(moveWire),
});
export type TaskGraph = TypeOf<typeof taskGraphWire>;

/** Something that was said about a task, by an agent or to one. */
const saidWire = record({
  /** Unique in the task. */
  id: text,
  at: text,
  /** agent: its role is in `role`. */
  from: oneOf("agent", "human"),
  role: text,
  /** The run that said it, or that it was said to; empty if that is not known. */
  run: text,
  /**
   * dialogue: in a dialogue with a person. answer: to the question of a state. message: to a run. stage: from a run to later ones.
   * report: a run's last words, when its work was complete. error: why a run failed. comment: in the history.
   */
  kind: oneOf("dialogue", "answer", "message", "stage", "report", "error", "comment"),
  /** At most 20,000 characters. */
  text,
  isCut: boolean,
});
export type SaidView = TypeOf<typeof saidWire>;

const name = shortText(100);
const ofTask = record({}, { project: name });
const numberText = shortText(20);

/** Routes that show one task from further sides, for dashboards. */
export const taskViewRoutes = {
  seeTask: route({
    name: "seeTask",
    method: "PUT",
    path: "/v1/tasks/:task/seen",
    summary: "Record what the person has seen of a task, mark it as unread, or hide it from inboxes until a time",
    access: "person",
    isIdempotent: true,
    // Other pages of the person's learn from it that the task is read.
    isNoted: true,
    query: ofTask,
    /**
     * `revision`: the person has seen the task at this revision. `commit`: and the changes of its work at this commit,
     * which count as reviewed, and as shown when the person approves. `unread`: the person wants to see it again. `snoozedUntil`: an ISO time; empty to end it.
     */
    body: record({}, { revision: integer(1), commit: shortText(64), unread: boolean, snoozedUntil: shortText(40) }),
    answer: seenWire,
  }),
  taskGraph: route({
    name: "taskGraph",
    method: "GET",
    path: "/v1/tasks/:task/graph",
    summary: "Show the graph of a task's workflow, the path that the task has taken in it, and the ways that are open",
    access: "person",
    query: ofTask,
    answer: taskGraphWire,
  }),
  listConversations: route({
    name: "listConversations",
    method: "GET",
    path: "/v1/tasks/:task/conversations",
    summary: "List what agents and people have said about a task, the newest first",
    access: "person",
    query: record({}, { project: name, before: shortText(200), limit: numberText }),
    /** `next`: to be given as `before`; null on the last page. */
    answer: record({ task: text, said: list(saidWire), next: nullable(text) }),
  }),
  getArtifact: route({
    name: "getArtifact",
    method: "GET",
    path: "/v1/tasks/:task/artifacts/:hash",
    summary: "Show a part of the text of a section that passed a gate, or of a document that a run has handed over",
    access: "run",
    /** `from`: the number of the first character. */
    query: record({}, { project: name, from: numberText, limit: numberText }),
    answer: record({
      hash: text,
      section: text,
      role: text,
      run: text,
      commit: text,
      at: text,
      /** Of a document: its type, and the state in which it was handed over; empty for a section. */
      type: text,
      state: text,
      /** How many characters the whole text has. */
      length: integer(0),
      from: integer(0),
      text,
      /** To be given as `from`; null at the end. */
      next: nullable(integer(0)),
    }),
  }),
} as const;
