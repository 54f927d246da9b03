import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { edit, load } from "../../test/language/workflow-texts.ts";
import { parseTaskDocument } from "../documents/task-document.ts";
import { createTask } from "./create.ts";
import { decide } from "./decide.ts";
import { apply, type Decision } from "./decision.ts";
import { promisesOf } from "./promises.ts";
import type { Facts, Request } from "./request.ts";
import { blankIdentity, type Task } from "./task.ts";

const folder = join(import.meta.dirname, "..", "..", "test", "language", "broken-promises");
const read = (name: string) => readFileSync(join(folder, `${name}.yaml`), "utf8");

interface Seen {
  readonly head?: string;
  readonly numbers?: Facts["numbers"];
  /** Sections with their authors. */
  readonly sections?: Readonly<Record<string, readonly [author: string, body: string]>>;
}

/** A task of the workflow, and what a request does to it in a world with commits. */
function begin(text: string) {
  const workflow = load(text);
  const facts = ({ head = "c1", numbers = {}, sections = {} }: Seen): Facts => ({
    document: parseTaskDocument(
      Object.entries(sections)
        .map(([heading, [, body]]) => `## ${heading}\n${body}\n`)
        .join("\n"),
    ),
    head,
    artifacts: Object.fromEntries(Object.entries(sections).map(([name, [role]]) => [name, { role, commit: head }])),
    numbers: { workspace: 1, ...numbers },
    taskFileTracked: false,
    poolFull: false,
  });
  const created = createTask(workflow, { ...blankIdentity, id: "t1", summary: "A task" }, facts({}));
  if (created.kind !== "moved") throw new Error("No task was created.");
  let task: Task = created.task;
  const take = (request: Request, seen: Seen = {}): Decision => {
    const decision = decide(workflow, task, request, facts(seen));
    if (decision.kind !== "moved" && decision.kind !== "stayed") return decision;
    expect(decision.events.reduce(apply, task)).toEqual(decision.task);
    task = decision.task;
    return decision;
  };
  const settle = (seen?: Seen) => take({ kind: "settled", entry: task.entry }, seen);
  return {
    now: () => task,
    take,
    settle,
    did: (word = "ok", seen?: Seen) => take({ kind: "did", entry: task.entry, word }, seen),
    tested: (word: string, commit: string) =>
      take({ kind: "edit", actor: { role: "engine" }, set: { tested: { commit, word } } }),
    end: (role: string, answer?: unknown, seen?: Seen) =>
      take({ kind: "ended", run: task.runs[role]?.key ?? "", word: "ok", answer }, seen),
    move: (role: string, to: string, seen?: Seen) =>
      take({ kind: "move", to, actor: { role, ...(task.runs[role] && { run: task.runs[role].key }) } }, seen),
    proceed: () => take({ kind: "continue", actor: { role: "human" } }),
    /** What each promise about this state stands on. */
    standing: (to: string, seen: Seen = {}) =>
      promisesOf(workflow, task, facts(seen))
        .filter(({ promise }) => promise.startsWith(`{ to: ${to}, after:`))
        .map(({ state, evidence }) => `${state}: ${evidence}`),
  };
}

/** Turns up to the state in which the critic judges. */
function beginJudging(text = read("turns"), word = "ok") {
  const life = begin(text);
  life.settle();
  life.take({ kind: "continue", actor: { role: "engine" } });
  life.did();
  life.settle();
  life.end("coder");
  life.did();
  life.settle();
  life.tested(word, "c1");
  life.did();
  life.settle();
  expect(life.now().status).toBe("judge");
  return life;
}

test("a task that keeps its promises goes on, and notes by whom and for which commit", () => {
  const life = beginJudging();
  life.end("critic", { good: true });
  expect(life.now().status).toBe("merging");
  expect(life.now().proofs).toEqual({
    "{ tests: passed }": { role: "engine", commit: "c1" },
    "{ result: { good: true }, by: critic }": { role: "critic", commit: "c1" },
  });
  life.settle();
  life.did();
  expect(life.now()).toMatchObject({ status: "done", held: undefined });
});

test("a verdict about an earlier commit does not count: the move is held, and the promise is named", () => {
  const life = beginJudging();
  life.end("critic", { good: true });
  life.settle();
  life.did("ok", { head: "c2" });
  const { status, held } = life.now();
  expect(status).toBe("merging");
  expect(held).toMatchObject({ word: "promise", again: "do" });
  expect(held?.reason).toContain("{ to: done, after: { result: { good: true }, by: critic } }");
});

test("nothing is merged on the way to a state whose promise the work cannot keep", () => {
  const text = edit(
    edit(
      read("turns"),
      "merging: { do: [merge, release_workspace]",
      "merging: { waits_for: human, do: [merge, release_workspace]",
    ),
    "  - { to: merging, after: { result: { good: true }, by: critic } }\n",
    "",
  );
  const life = beginJudging(text);
  life.end("critic", { good: true });
  life.settle();
  // A person has committed something that nobody has judged.
  const approved = life.take({ kind: "continue", actor: { role: "human" } }, { head: "c2" });
  expect(approved).toMatchObject({ kind: "rejected", reasons: [{ code: "promise" }] });
  expect(approved).toMatchObject({
    reasons: [{ text: expect.stringMatching(/^Merging in "merging" would break the promise .*by: critic/) }],
  });
  expect(life.take({ kind: "continue", actor: { role: "human" } }, { head: "c1" })).toMatchObject({
    kind: "stayed",
    effects: [{ action: "merge" }, { action: "release_workspace" }],
  });
});

test("a state merges where one of the states that it may lead to asks for nothing that is missing", () => {
  const text = edit(
    edit(
      edit(
        read("turns"),
        "merging: { do: [merge, release_workspace], next: done }",
        "merging: { waits_for: human, do: [merge], outcomes: [{ when: visits < 2, then: done }, { then: recheck }] }\n  recheck: { waits_for: human, ask: Look again, next: done }",
      ),
      "  - { to: merging, after: { result: { good: true }, by: critic } }\n",
      "",
    ),
    "  - { to: merging, after: { tests: passed } }\n",
    "",
  );
  const life = beginJudging(text);
  life.end("critic", { good: true });
  life.settle();
  expect(life.take({ kind: "continue", actor: { role: "human" } }, { head: "c2" })).toMatchObject({
    kind: "stayed",
    effects: [{ action: "merge" }],
  });
});

test("a run that has ended is ended although the move after it is held", () => {
  const text = edit(
    read("turns"),
    "agent: { role: coder }, do: [harvest_uncommitted]",
    "agent: { role: coder }, limits: { time: 5m }, outcomes: [{ on: time, then: merging }], do: [harvest_uncommitted]",
  );
  const life = begin(text);
  life.settle();
  life.take({ kind: "continue", actor: { role: "engine" } });
  life.did();
  life.settle();
  const { entry, runs } = life.now();
  const run = runs.coder?.key;
  const late = life.take({ kind: "limit", word: "time", entry });
  expect(late).toMatchObject({ kind: "stayed", effects: [{ action: "kill_agent", params: { run } }] });
  expect(life.now()).toMatchObject({ status: "build", runs: {}, held: { word: "promise" } });
});

test("tests count for the commit that they ran on, although the work has moved before they ended", () => {
  const life = begin(read("turns"));
  life.settle();
  life.take({ kind: "continue", actor: { role: "engine" } });
  life.did();
  life.settle();
  life.end("coder");
  life.did();
  life.settle();
  life.tested("ok", "c1");
  life.did("ok", { head: "c2" });
  life.settle({ head: "c2" });
  life.end("critic", { good: true }, { head: "c2" });
  expect(life.now()).toMatchObject({ status: "judge", held: { word: "promise" } });
  expect(life.now().held?.reason).toContain("{ to: merging, after: { tests: passed } }: no tests have passed");
});

test("a later answer takes an earlier one back", () => {
  const life = beginJudging(
    edit(read("turns"), "visits < 3, then: build }]\n  merging", "visits < 3, then: merging }]\n  merging"),
  );
  const no = life.end("critic", { good: false });
  expect(no).toMatchObject({ kind: "stayed", effects: [] });
  expect(life.now()).toMatchObject({ status: "judge", held: { word: "promise" } });
});

test("tests of which none was found have not passed, whatever the work ended with", () => {
  const life = beginJudging(read("turns"), "untested");
  life.end("critic", { good: true });
  expect(life.now().held?.reason).toContain("{ to: merging, after: { tests: passed } }: no tests have passed");
});

test("an agent's request is held for a person, and a person's is refused", () => {
  const life = begin(read("worker-straight-to-done"));
  life.settle();
  life.take({ kind: "continue", actor: { role: "engine" } });
  life.did();
  life.settle();
  expect(life.move("human", "done")).toMatchObject({ kind: "rejected", reasons: [{ code: "promise" }] });
  expect(life.now().held).toBeUndefined();
  const asked = life.move("worker", "done");
  expect(asked).toMatchObject({ kind: "stayed", effects: [] });
  expect(life.now().status).toBe("working");
  expect(life.now().held?.reason).toContain("{ to: done, after: { merged: true } }: the work was not merged");
  expect(life.move("human", "done", { numbers: { merged: 1 } }).kind).toBe("moved");
});

test("a verdict counts by its author: a person may write it in the reviewer's place, and the worker may not", () => {
  const text = edit(
    read("sessions"),
    'by: reviewer, gate: { section: "## Review", verdict: PASS }',
    'by: [reviewer, worker], gate: { section: "## Review", verdict: PASS }',
  );
  const review = (author: string) => ({ sections: { Review: [author, "Verdict: PASS"] as const } });
  const judging = () => {
    const life = begin(text);
    life.settle();
    life.take({ kind: "continue", actor: { role: "engine" } });
    life.did();
    life.settle();
    life.move("worker", "agent-review", { sections: { Handoff: ["worker", "Done."] } });
    life.settle();
    return life;
  };
  const own = judging();
  own.move("worker", "reviewing", review("worker"));
  expect(own.now()).toMatchObject({ status: "agent-review", held: { word: "promise" } });
  for (const author of ["reviewer", "human"]) {
    const life = judging();
    expect(life.move("reviewer", "reviewing", review(author)).kind).toBe("moved");
    expect(life.move("human", "done", { numbers: { merged: 1 }, head: "c2" }).kind).toBe("moved");
  }
});

test("what a promise is kept by says what happened, and to which commit", () => {
  const life = begin(read("sessions"));
  const merged = { numbers: { merged: 1 } };
  life.settle();
  expect(life.standing("done")).toEqual([
    "open: So far the work was not merged.",
    "open: So far no gate with PASS in ## Review by reviewer or human was passed.",
  ]);
  life.take({ kind: "continue", actor: { role: "engine" } });
  life.did();
  life.settle();
  life.move("worker", "agent-review", { sections: { Handoff: ["worker", "Done."] } });
  life.settle();
  life.move("reviewer", "reviewing", { sections: { Review: ["reviewer", "Verdict: PASS"] } });
  expect(life.standing("done")[1]).toBe("kept: reviewer wrote ## Review with PASS for c1.");
  expect(life.standing("done", { head: "c2" })[1]).toMatch(/^open: /);
  life.settle();
  life.move("human", "done", merged);
  // A person ended the task; the reviewer has judged it.
  expect(life.standing("done", merged)).toEqual([
    "kept: The target branch has every commit of the work, which is at c1.",
    "kept: reviewer wrote ## Review with PASS for c1.",
  ]);
});

test("a person who decides in a judge's place is named, and a cancelled task has no promises about its work", () => {
  const life = begin(read("sessions"));
  life.settle();
  life.take({ kind: "continue", actor: { role: "engine" } });
  life.did();
  life.settle();
  life.move("human", "stuck");
  life.settle();
  life.move("human", "working");
  expect(life.standing("done")[1]).toMatch(/^kept: A person decided for c1\.$/);
  life.settle();
  life.move("human", "cancelled", { numbers: { merged: 1 } });
  expect(life.standing("done")).toEqual([]);
  expect(life.standing("reviewing")).toEqual([]);
});

test("visits are counted since a person last moved the task", () => {
  const life = begin(edit(read("sessions"), "within: 3", "within: 1"));
  life.settle();
  life.take({ kind: "continue", actor: { role: "engine" } });
  life.did();
  life.settle();
  const handOver = (round: string) => life.move("worker", "agent-review", { sections: { Handoff: ["worker", round] } });
  handOver("1");
  life.settle();
  life.move("reviewer", "working", { sections: { Review: ["reviewer", "Verdict: FAIL"] } });
  life.settle();
  handOver("2");
  expect(life.now().status).toBe("working");
  expect(life.now().held?.reason).toContain("{ within: 1, of: agent-review }");
  life.move("human", "stuck");
  life.settle();
  life.move("human", "working");
  life.settle();
  handOver("3");
  expect(life.now().status).toBe("agent-review");
});
