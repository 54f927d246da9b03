import { route } from "./route.ts";
import { changeWire, mergeWire } from "./task-wires.ts";
import { nullable, oneOf, record, shortText, type TypeOf, text } from "./wire.ts";

const name = shortText(100);
const ofTask = record({}, { project: name });
const said = shortText(200_000);

/** What somebody's words did: where the task went, where they stand now, and who learns of them. */
const saidWire = record({
  change: changeWire,
  section: text,
  /** message: a live agent is told. start: one is started with it. Null where no agent goes on now. */
  told: nullable(record({ run: text, how: oneOf("message", "start") })),
});
export type SaidView = TypeOf<typeof saidWire>;

/** What only people can say about a task. */
export const personRoutes = {
  answerTask: route({
    name: "answerTask",
    method: "POST",
    path: "/v1/tasks/:task/answer",
    summary: "Write an answer into the task file, end the person's wait, and let the agent know",
    access: "human",
    query: ofTask,
    body: record({ text: said }, { to: name }),
    answer: saidWire,
  }),
  requestChanges: route({
    name: "requestChanges",
    method: "POST",
    path: "/v1/tasks/:task/request-changes",
    summary: "Write feedback into the task file, and send the task back to where an agent works",
    access: "human",
    query: ofTask,
    body: record({ text: said }, { to: name }),
    answer: saidWire,
  }),
  approveTask: route({
    name: "approveTask",
    method: "POST",
    path: "/v1/tasks/:task/approve",
    summary: "Say yes to what a person is asked, for a commit; what has to be merged for it is merged",
    access: "human",
    query: ofTask,
    body: record({}, { commit: shortText(64) }),
    answer: record({ commit: text, change: nullable(changeWire), merge: nullable(mergeWire) }),
  }),
} as const;
