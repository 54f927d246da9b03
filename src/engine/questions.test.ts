import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { builtIn, drive, loadText } from "../../test/engine/drive.ts";
import { decide } from "./decide.ts";
import { openQuestion, questionId, readQuestionId } from "./questions.ts";
import type { Request } from "./request.ts";

const talk = loadText(`name: talk
version: 1
roles: { host: { mode: dialogue, prompt: ask, result: order, until: { clear: true }, confirm: true } }
states:
  asking: { agent: { role: host }, limits: { attempts: 1 }, next: clear }
  clear: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: human }]
schemas:
  order: { type: object, required: [clear, message], properties: { clear: { type: boolean }, message: { type: string } } }
prompts: { ask: "What is {summary}?" }
`);

const human = { role: "human" };
const unclear = (message: string) => ({ clear: false, message });

/** A dialogue in which the agent has asked its first question. */
function talking() {
  const life = drive(talk);
  life.ended("host", "ok", unclear("Which beans?"));
  return life;
}

const openOf = (life: ReturnType<typeof talking>) => openQuestion(talk, life.task, life.facts().document);

test("a question of a dialogue has an id, the agent's message and the role", () => {
  const life = talking();
  expect(openOf(life)).toEqual({
    ...{ id: `t1.${life.task.entry}.1`, kind: "dialogue", text: "Which beans?", role: "host" },
    ...{ answer: "text", choices: [] },
  });
  expect(life.events.at(-1)).toMatchObject({ type: "dialogue.asked", data: { question: openOf(life)?.id } });
});

test("the next question of a dialogue has another id, and a confirmation says that a yes ends it", () => {
  const life = talking();
  const first = openOf(life)?.id;
  life.reply("Arabica");
  expect(openOf(life)).toBeUndefined();
  life.ended("host", "ok", { clear: true, message: "Arabica, strong" });
  expect(openOf(life)).toMatchObject({ answer: "confirm", text: "Arabica, strong" });
  expect(openOf(life)?.id).not.toBe(first);
});

test("a dialogue that begins again in the same stay does not use an earlier id again", () => {
  const life = talking();
  const first = openOf(life)?.id;
  life.reply("Arabica");
  life.ended("host", "error");
  expect(life.task.held).toBeDefined();
  expect(openOf(life)).toBeUndefined();
  life.request({ kind: "continue", actor: human });
  expect(life.task.wait.round).toBe(0);
  life.ended("host", "ok", unclear("Which beans?"));
  expect(openOf(life)?.id).not.toBe(first);
});

test("an answer names its question in the history, with the chat that it came through", () => {
  const life = talking();
  const question = openOf(life)?.id ?? "";
  life.request({ kind: "reply", actor: human, text: "Arabica", answers: { question, via: "telegram", who: "Ann" } });
  expect(life.events.find(({ type }) => type === "dialogue.answered")?.data).toEqual({
    ...{ text: "Arabica", round: 1, confirmed: false, question, via: "telegram", who: "Ann" },
  });
});

test("a second answer to the same question is refused and changes nothing", () => {
  const life = talking();
  const question = openOf(life)?.id ?? "";
  const second: Request = { kind: "reply", actor: human, text: "Robusta", answers: { question } };
  life.reply("Arabica");
  const late = decide(talk, life.task, second, life.facts());
  expect(late).toMatchObject({ kind: "rejected", reasons: [{ code: "answered" }] });
  life.ended("host", "ok", unclear("How strong?"));
  expect(decide(talk, life.task, second, life.facts())).toMatchObject({ kind: "rejected" });
});

test.each(["yes", "Yes!", "ok.", "LGTM", "go ahead"])("%s alone confirms", (text) => {
  const life = drive(talk);
  life.ended("host", "ok", { clear: true, message: "Strong" });
  life.reply(text);
  expect(life.status).toBe("clear");
});

test.each(["yes, but stronger", "no", "ok?", "not ok"])("%s is feedback, and the agent continues", (text) => {
  const life = drive(talk);
  life.ended("host", "ok", { clear: true, message: "Strong" });
  life.reply(text);
  expect([life.status, life.task.wait.turn]).toEqual(["asking", "agent"]);
});

test("a state asks one question in each stay: the section with questions, or its own text", () => {
  const workflow = builtIn("default");
  const life = drive(workflow);
  const at = (entry: number) => ({ ...life.task, status: "clarification", entry, phase: "waiting" as const });
  const empty = life.facts().document;
  expect(openQuestion(workflow, at(4), empty)).toMatchObject({
    ...{ id: "t1.4", kind: "state", text: "Answer the questions, then continue", role: "", answer: "text" },
  });
  life.write("Questions", "Which beans?");
  expect(openQuestion(workflow, at(6), life.facts().document)).toMatchObject({
    ...{ id: "t1.6", text: "Which beans?", role: "worker" },
  });
  expect(openQuestion(workflow, at(6), life.facts().document, "scout")).toMatchObject({ role: "scout" });
  const held = { reason: "It broke.", word: "error", again: "wait" } as const;
  expect(openQuestion(workflow, { ...at(6), held }, empty)).toBeUndefined();
  expect(openQuestion(workflow, { ...at(6), status: "reviewing" }, empty)).toBeUndefined();
});

test("where an answer can lead to several states, the question lists them", () => {
  const text = readFileSync("workflows/classic.yml", "utf8").replace(
    "  - from: clarification\n    to: working",
    "  - { from: clarification, to: agent-review, by: human, hooks: [] }\n  - from: clarification\n    to: working",
  );
  const workflow = loadText(text);
  const life = drive(workflow);
  const task = { ...life.task, status: "clarification", phase: "waiting" as const };
  expect(openQuestion(workflow, task, life.facts().document)?.choices).toEqual(["agent-review", "working"]);
});

test("an id names its task and its stay", () => {
  const { task } = talking();
  expect(readQuestionId(questionId(task))).toEqual({ task: "t1", entry: task.entry });
  expect(readQuestionId("t1.4")).toEqual({ task: "t1", entry: 4 });
  for (const text of ["", "t1", "t1.", "1.2", "t1.2.3.4", "t1.2.x", "T1.2", "t1.2 yes"])
    expect(readQuestionId(text)).toBeUndefined();
});
