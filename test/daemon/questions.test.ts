import { expect, test } from "vitest";
import type { QuestionView } from "../../src/api/questions.ts";
import { type Asked, createHandlers } from "../../src/daemon/handlers.ts";
import type { Store } from "../../src/ports/store.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { coreStage } from "./core-stage.ts";

/** A host asks in a dialogue, and then the task waits in a state for an answer. */
const talk = `name: talk
version: 1
roles:
  host: { mode: dialogue, prompt: ask, result: order, until: { clear: true }, confirm: true }
  cook: { mode: turn, prompt: ask }
unclear: unsure
states:
  todo: { waits_for: slot, next: asking }
  asking: { agent: { role: host }, next: unsure }
  unsure: { waits_for: human, ask: Which cup?, next: brewing }
  brewing: { agent: { role: cook }, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions: [{ from: any, to: dropped, by: human }]
schemas:
  order: { type: object, required: [clear, message], properties: { clear: { type: boolean }, message: { type: string } } }
prompts: { ask: "What is {summary}?" }
`;

async function begin(store: Store = createMemoryStore()) {
  const stage = await coreStage(talk, 9, store);
  const { core } = stage;
  const handlers = createHandlers(core);
  const ask = async <T>(route: string, { task = "", query = {}, body = {} }): Promise<T> => {
    const about = { params: { task }, query, body, caller: { kind: "human" }, folder: "", lastEvent: "" };
    return (await handlers[route]?.(about as unknown as Asked<never, never>, undefined as never)) as T;
  };
  return {
    ...stage,
    ask,
    open: async (query: object = {}) =>
      (await ask<{ questions: readonly QuestionView[] }>("listQuestions", { query })).questions,
    /** The agent's turn ends with this message. */
    async says(task: string, message: string, clear = false) {
      const run = Object.values((await core.store.getTask(task))?.task.runs ?? {})[0]?.key ?? "";
      await core.submit(task, { kind: "ended", run, word: "ok", answer: { clear, message } });
      await stage.rest();
    },
    reply: (task: string, body: object) => ask("replyTask", { task, body }),
    answer: (task: string, body: object) => ask("answerTask", { task, body }),
  };
}

const refusedWith = (text: string) =>
  expect.objectContaining({ reasons: [expect.objectContaining({ text: expect.stringContaining(text) })] });

test("open questions are listed with their task, by project and in pages", async () => {
  const { create, rest, says, open, ask, core } = await begin();
  for (const id of ["t1", "t2", "t3"]) await create(id);
  await rest();
  expect(await open()).toEqual([]);
  for (const id of ["t1", "t3"]) await says(id, `Which beans, ${id}?`);
  expect(await open()).toMatchObject([
    { id: "t3.2.1", task: "t3", text: "Which beans, t3?" },
    {
      ...{ id: "t1.2.1", task: "t1", project: "coffee", number: 1, summary: "Brew", kind: "dialogue", role: "host" },
      ...{ answer: "text", choices: [], since: new Date(1_000_000).toISOString() },
      command: 'signalbox task reply t1 "Your answer"',
    },
  ]);
  const page: { questions: readonly QuestionView[]; next: number } = await ask("listQuestions", {
    query: { limit: "1" },
  });
  expect(page.questions.map(({ task }) => task)).toEqual(["t3"]);
  const last: typeof page = await ask("listQuestions", { query: { limit: "1", before: String(page.next) } });
  expect([last.questions.map(({ task }) => task), last.next]).toEqual([["t1"], null]);
  expect(await ask("listQuestions", { query: { limit: "2" } })).toMatchObject({ questions: [{}, {}], next: null });
  expect(await open({ project: "tea" })).toEqual([]);
  expect((await open({ task: "t1" })).map(({ id }) => id)).toEqual(["t1.2.1"]);
  await core.close();
});

test("a restart gives the same ids, and the next question another", async () => {
  const store = createMemoryStore();
  const first = await begin(store);
  await first.create("t1");
  await first.rest();
  await first.says("t1", "Which beans?");
  const [before] = await first.open();
  await first.core.close();
  const second = await begin(store);
  expect(await second.open()).toEqual([before]);
  await second.reply("t1", { text: "Arabica", question: before?.id });
  await second.says("t1", "How strong?");
  expect((await second.open())[0]?.id).not.toBe(before?.id);
  await second.core.close();
});

test("an answer to a question that is no longer open is refused with who answered what, and changes nothing", async () => {
  const { create, rest, says, open, reply, answer, core, store } = await begin();
  await create("t1");
  await rest();
  await says("t1", "Which beans?");
  const [{ id: question = "" } = {}] = await open();
  expect(await reply("t1", { text: "Arabica", question })).toMatchObject({
    question: { id: question, text: "Which beans?" },
  });
  const answered = `The question ${question} was answered by a person at 1970-01-01 00:16:40 UTC: "Arabica".`;
  const late = { text: "Robusta", question };
  await expect(reply("t1", late)).rejects.toEqual(refusedWith(`${answered} Your answer was not passed on.`));
  // Without an id, the present question is meant, and there is none.
  await expect(reply("t1", { text: "Robusta" })).rejects.toEqual(refusedWith(answered));
  await says("t1", "How strong?");
  const before = await store.getTask("t1");
  await expect(reply("t1", late)).rejects.toEqual(refusedWith(answered));
  await expect(answer("t1", late)).rejects.toEqual(refusedWith(answered));
  await expect(reply("t1", { text: "x", question: "t2.1" })).rejects.toEqual(
    refusedWith('"t2.1" is not a question of this task.'),
  );
  await expect(reply("t1", { text: "x", question: "t1.9.9" })).rejects.toEqual(refusedWith("t1.9.9 is not open."));
  await expect(reply("t1", { text: " " })).rejects.toEqual(refusedWith("The text is empty."));
  expect(await store.getTask("t1")).toEqual(before);
  await core.close();
});

test("of two answers at the same moment one counts, and the other is told so", async () => {
  const { create, rest, says, reply, core, store } = await begin();
  await create("t1");
  await rest();
  await says("t1", "Which beans?");
  const both = await Promise.allSettled([reply("t1", { text: "Arabica" }), reply("t1", { text: "Robusta" })]);
  const refused = both.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  expect(refused).toEqual([refusedWith("was answered by a person")]);
  expect((await store.getTask("t1"))?.task.log.filter(({ from }) => from === "human")).toHaveLength(1);
  await core.close();
});

test("a state's question is answered once, says what was answered, and what became of it if nobody answered", async () => {
  const { create, rest, says, open, reply, answer, core, store } = await begin();
  for (const id of ["t1", "t2"]) {
    await create(id);
    await rest();
    await says(id, "Strong.", true);
    await reply(id, { text: "yes" });
  }
  const [two, one] = await open();
  expect(one).toMatchObject({ kind: "state", text: "Which cup?", role: "", answer: "text" });
  await answer("t1", { text: "The blue one", question: one?.id });
  await rest();
  const answered = `The question ${one?.id} was answered by a person`;
  await expect(answer("t1", { text: "The red one", question: one?.id })).rejects.toEqual(refusedWith(answered));
  const said = 'UTC: "The blue one". Your answer was not passed on.';
  await expect(answer("t1", { text: "The red one", question: one?.id })).rejects.toEqual(refusedWith(said));
  await expect(answer("t1", { text: "The red one" })).rejects.toEqual(refusedWith(answered));
  await core.submit("t2", { kind: "continue", actor: { role: "human" } });
  await expect(answer("t2", { text: "Red", question: two?.id })).rejects.toEqual(
    refusedWith(`The question ${two?.id} is not open. The task was moved to "brewing" by a person`),
  );
  expect((await store.getDocument("t1")).text).not.toContain("red");
  await core.close();
});

test("of two answers to a state's question at the same moment one counts, and the other is told whose", async () => {
  const { create, rest, says, reply, answer, core, store } = await begin();
  await create("t1");
  await rest();
  await says("t1", "Strong.", true);
  await reply("t1", { text: "yes" });
  const both = await Promise.allSettled(["Blue", "Red"].map((text) => answer("t1", { text })));
  const refused = both.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
  expect(refused).toEqual([refusedWith("was answered by a person")]);
  expect((await store.getDocument("t1")).text.match(/Blue|Red/g)).toHaveLength(1);
  await core.close();
});
