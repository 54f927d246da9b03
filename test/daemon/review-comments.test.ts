import { expect, test } from "vitest";
import { forgeStage, human } from "./forge-stage.ts";

const cold = { title: "It is cold", file: "cup.md", line: 3, severity: "high", evidence: "20 degrees in the cup" };
const lid = { title: "No lid", file: "lid.md" };

function firstLines(comments: readonly { readonly body: string }[]): readonly string[] {
  return comments.map(({ body }) => body.replace(/\n\n<!--.*$/s, ""));
}

test("each review has one comment, which lists what it found and what it closed", async () => {
  const { begin, move, review, github, events } = await forgeStage();
  await begin();
  await move("b1111", "offered");
  expect((await review("b1111", [cold, lid])).status).toBe("resting");
  await review("b1111", [
    { id: "F1", state: "fixed" },
    { id: "F2" },
    { title: "Rim", file: "cup.md", severity: "low" },
  ]);
  expect(firstLines(github.state.comments)).toEqual([
    "The review found:\n\n- F1 **high** It is cold (`cup.md:3`)\n\n  20 degrees in the cup\n\n- F2 **medium** No lid (`lid.md`)",
    "The review found:\n\n- F2 **medium** No lid (`lid.md`)\n\nOnly noted:\n\n- F3 **low** Rim (`cup.md`)\n\nFixed: F1.",
  ]);
  const posted = await events("b1111", "pr.commented");
  expect(posted.map(({ data }) => data)).toMatchObject([
    { number: 1, round: 1, comment: "b1111:round:1" },
    { number: 1, round: 2, comment: "b1111:round:2" },
  ]);
});

test("messages for the gate follow the findings, each trimmed, with a rule between them, and only in their round", async () => {
  const { begin, move, review, github } = await forgeStage();
  await begin();
  await move("b1111", "offered");
  await review("b1111", [lid], "  The cup is new.\n", "Mind the steam.");
  await review("b1111", [{ id: "F1" }], "It is still hot.");
  expect(firstLines(github.state.comments)).toEqual([
    "The review found:\n\n- F1 **medium** No lid (`lid.md`)\n\n---\n\n> The cup is new.\n\n---\n\n> Mind the steam.",
    "The review found:\n\n- F1 **medium** No lid (`lid.md`)\n\n---\n\n> It is still hot.",
  ]);
});

test("nothing that an agent writes hides what others say to the person", async () => {
  const { begin, move, review, github } = await forgeStage();
  await begin();
  await move("b1111", "offered");
  const open = { ...lid, evidence: "It has none.\n<!--" };
  await review("b1111", [open], "All is fine.\n\n<!--", "```\nIt leaks.", "It deletes files.");
  const [comment = ""] = firstLines(github.state.comments);
  expect(comment).toBe(
    [
      "The review found:\n\n- F1 **medium** No lid (`lid.md`)\n\n  It has none.\n  &lt;!--",
      "> All is fine.\n>\n> &lt;!--",
      "> ```\n> It leaks.",
      "> It deletes files.",
    ].join("\n\n---\n\n"),
  );
});

test("a review's comment is posted once and keeps its text, however often the action is repeated", async () => {
  const { begin, move, review, github, events, core, store, until } = await forgeStage();
  await begin();
  await move("b1111", "offered");
  // The forge refuses it: the task is held, and the person decides about a finding before it continues.
  github.failNext({ kind: "answer", on: /^POST .*comments/, status: 422, message: "No", times: 1 });
  expect((await review("b1111", [cold, lid])).held?.reason).toMatch(/No/);
  expect(github.state.comments).toEqual([]);
  await core.submit("b1111", { kind: "finding", actor: human, findings: ["F2"], state: "dismissed", reason: "" });
  await core.submit("b1111", { kind: "continue", actor: human });
  await until("b1111", ({ task }) => task.status === "resting");
  expect(firstLines(github.state.comments)).toEqual([expect.stringContaining("- F2 **medium** No lid")]);
  await move("b1111", "repeated");
  // As after a daemon that was killed before it recorded that the comment was posted.
  const record = await store.pullRequests.get("b1111");
  if (record !== undefined) await store.pullRequests.put({ ...record, told: {} });
  await move("b1111", "repeated");
  expect(github.state.comments).toHaveLength(1);
  expect(await events("b1111", "pr.commented")).toHaveLength(1);
  // People may delete it: it is not posted again.
  github.state.comments.length = 0;
  await move("b1111", "repeated");
  expect(github.state.comments).toEqual([]);
});

test("a lost answer of the forge leads to no second comment", async () => {
  const { begin, move, review, github, events } = await forgeStage();
  await begin();
  await move("b1111", "offered");
  github.failNext({ kind: "lost", on: /^POST .*comments/ });
  expect((await review("b1111", [])).held).toBeUndefined();
  expect(firstLines(github.state.comments)).toEqual(["The review found nothing."]);
  expect(await events("b1111", "pr.commented")).toHaveLength(1);
});

test.each(["none", "alone"] as const)(
  "without a forge (%s) a review's comment is recorded, and holds no task",
  async (place) => {
    const { begin, move, review, github, store, events } = await forgeStage({ place });
    await begin();
    // No pull request was asked for.
    expect((await review("b1111", [cold])).held).toBeUndefined();
    expect((await move("b1111", "offered")).held).toBeUndefined();
    await move("b1111", "repeated");
    await review("b1111", [{ id: "F1", state: "fixed" }]);
    const [record, ...others] = await store.pullRequests.list({});
    expect(others).toEqual([]);
    expect(record?.comments).toEqual({
      "b1111:round:1": expect.stringContaining("F1 **high** It is cold"),
      "b1111:round:2": "The review found nothing.\n\nFixed: F1.",
    });
    expect(await events("b1111", "pr.commented")).toHaveLength(2);
    expect(github.requests).toEqual([]);
  },
);
