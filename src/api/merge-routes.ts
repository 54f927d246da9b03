import { route } from "./route.ts";
import { givenBackWire, mergeWire, pullRequestWire, taskWire } from "./task-wires.ts";
import { boolean, integer, list, nullable, oneOf, record, shortText, text } from "./wire.ts";

const nothing = record({});
const name = shortText(100);
const line = shortText(2_000);

/** How a task's work gets to where others have it. */
export const mergeRoutes = {
  mergeTask: route({
    name: "mergeTask",
    method: "POST",
    path: "/v1/tasks/:task/merge",
    summary: "Merge a task's work, check that it has arrived, and move the task to where it is done",
    access: "ask",
    query: record({}, { project: name }),
    body: record({}, { strategy: oneOf("merge", "ff"), local: boolean, dryRun: boolean, giveBack: boolean }),
    answer: mergeWire,
  }),
  undoMerge: route({
    name: "undoMerge",
    method: "POST",
    path: "/v1/tasks/:task/merge/undo",
    summary: "Take back what a task brought into the default branch, with one commit more",
    access: "human",
    query: record({}, { project: name }),
    body: nothing,
    answer: mergeWire,
  }),
  syncTask: route({
    name: "syncTask",
    method: "POST",
    path: "/v1/tasks/:task/sync",
    summary: "Bring what is new in the default branch into the task's branch",
    access: "ask",
    query: record({}, { project: name }),
    body: record({}, { from: name, giveBack: boolean }),
    answer: record({
      from: text,
      commit: text,
      commits: integer(0),
      /** What conflicts; the branch is where it was then. */
      files: list(text),
      givenBack: nullable(givenBackWire),
      task: taskWire,
    }),
  }),
  openPullRequest: route({
    name: "openPullRequest",
    method: "POST",
    path: "/v1/tasks/:task/pull-request",
    summary: "Push the task's branch and open its pull request, or bring the one it has up to date",
    access: "ask",
    query: record({}, { project: name }),
    body: record({}, { title: line, body: text, draft: boolean }),
    answer: pullRequestWire,
  }),
} as const;
