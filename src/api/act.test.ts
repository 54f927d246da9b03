import { expect, test } from "vitest";
import { acts, commandWith, dangerOf } from "./act.ts";
import { type Call, pathOf } from "./client.ts";
import type { ActionView } from "./tasks.ts";

const action = (name: string, more: Partial<ActionView> = {}): ActionView => ({
  ...{
    name,
    label: name,
    key: "",
    to: "",
    consequence: "none",
    allowed: true,
    why: "",
    command: `signalbox task ${name} k2m4p`,
  },
  ...more,
});

/** What the daemon is asked when the action is done at revision 7. */
async function requestOf(taken: ActionView, input: Parameters<(typeof acts)[string]["send"]>[3] | object = {}) {
  const requests: { request: string; body: unknown }[] = [];
  const call: Call = async (route, given = {}) => {
    requests.push({ request: `${route.method} ${pathOf(route, given)}`, body: given.body });
    const task = { status: "working" };
    const move = { kind: "moved", task, why: "", warnings: [] };
    return { ...move, change: move, merge: null, told: null, left: [], files: [], to: "", waitsFor: "" } as never;
  };
  await acts[taken.name]?.send(call, "k2m4p", taken, { revision: 7, ...input });
  expect(requests).toHaveLength(1);
  return requests[0];
}

const post = (path: string, body: unknown) => ({ request: `POST /v1/tasks/k2m4p/${path}?revision=7`, body });

test("an answer names the question that was shown, and the state that the person chose", async () => {
  expect(await requestOf(action("answer"), { text: "Two", question: "q1", to: "planning" })).toEqual(
    post("answer", { text: "Two", question: "q1", to: "planning" }),
  );
  expect(await requestOf(action("answer"), { text: "Two" })).toEqual(post("answer", { text: "Two" }));
  expect(await requestOf(action("reply"), { text: "yes", question: "q1" })).toEqual(
    post("reply", { text: "yes", question: "q1" }),
  );
});

test("an approval names the commit that was shown, and none where none was", async () => {
  expect(await requestOf(action("approve"), { commit: "c0ffee" })).toEqual(post("approve", { commit: "c0ffee" }));
  expect(await requestOf(action("approve"), { commit: "" })).toEqual(post("approve", {}));
});

test("changes are asked for in the state that the action's command names", async () => {
  const said = 'signalbox task request-changes k2m4p -m "What should change"';
  const body = { text: "Smaller" };
  expect(await requestOf(action("request-changes", { command: said }), body)).toEqual(post("request-changes", body));
  expect(await requestOf(action("request-changes", { command: `${said} --status building` }), body)).toEqual(
    post("request-changes", { ...body, to: "building" }),
  );
});

test("a task is continued without an answer only if that is what the action offers", async () => {
  expect(await requestOf(action("continue"))).toEqual(post("continue", {}));
  expect(await requestOf(action("continue", { command: "signalbox task continue k2m4p --yes" }))).toEqual(
    post("continue", { unanswered: true }),
  );
});

test("a move goes where its action leads, and the run that is ended is the one of its action", async () => {
  expect(await requestOf(action("move", { to: "stuck" }))).toEqual(post("move", { to: "stuck" }));
  const kill = await requestOf(action("kill", { command: "signalbox agent kill coffee#1/worker#2" }));
  expect(kill?.request).toMatch(/^POST .*k2m4p.*worker%232.*revision=7$/);
});

test("each action is one request for the revision that was on the screen", async () => {
  for (const name of Object.keys(acts)) {
    const sent = await requestOf(action(name));
    expect(sent?.request, name).toContain("k2m4p");
    expect(sent?.request, name).toContain("revision=7");
  }
});

test("the command that is shown after an action has the person's words as they were written", () => {
  const command = 'signalbox task answer k2m4p -m "Your answer"';
  expect(commandWith({ command }, "It's $1")).toBe("signalbox task answer k2m4p -m 'It'\\''s $1'");
  expect(commandWith({ command: "signalbox task reply k2m4p yes" }, "no, smaller")).toBe(
    "signalbox task reply k2m4p 'no, smaller'",
  );
  expect(commandWith({ command }, undefined)).toBe(command);
});

test("whatever leads to a merge, a push or the end of a task asks first, and what only moves it on does not", () => {
  for (const name of ["approve", "continue", "retry", "spawn"] as const) {
    expect([name, dangerOf(action(name))]).toEqual([name, undefined]);
    expect(dangerOf(action(name, { consequence: "merge" }))).toMatch(/is merged/);
    expect(dangerOf(action(name, { consequence: "push" }))).toMatch(/pushed/);
    expect(dangerOf(action(name, { consequence: "end" }))).toMatch(/the task ends/);
  }
  expect(dangerOf(action("move", { consequence: "merge" }))).toMatch(/by your word.* is merged/);
  expect(dangerOf(action("merge", { consequence: "merge" }))).toBe(acts.merge?.danger);
});

test("after an approval with which the workflow merges, a person is told what is pushed and how to undo it", async () => {
  const change = { kind: "moved", task: { status: "joining" }, why: "" };
  const call: Call = async () => ({ change, merge: null, warnings: ["It also pushes."] }) as never;
  const said = (taken: ActionView) => acts.approve?.send(call, "k2m4p", taken, { revision: 7 });
  expect(await said(action("approve", { consequence: "merge" }))).toEqual({
    text: "It is in joining now.\nTo undo the merge: signalbox task merge k2m4p --undo\nIt also pushes.",
    tone: "good",
  });
  expect(await said(action("approve"))).toMatchObject({ text: "It is in joining now.\nIt also pushes." });
});
