import { expect, test } from "vitest";
import { forgeStage, human } from "./forge-stage.ts";

type Stage = Awaited<ReturnType<typeof forgeStage>>;

async function stageWithIssue() {
  const stage = await forgeStage();
  const issue = { number: 12, state: "open", title: "Brew", body: "Strong.", labels: ["ready", "bug"] } as const;
  stage.github.state.issues.push({ ...issue, labels: [...issue.labels] });
  await stage.begin("b1111", "12");
  const [found] = stage.github.state.issues;
  if (found === undefined) throw new Error("There is no issue.");
  return { ...stage, issue: found };
}

/** Lets every watch poll once, and waits until the task is as expected. */
async function pollUntil({ rings, until }: Stage, isSo: Parameters<Stage["until"]>[1]) {
  for (const { ring } of rings.splice(0)) ring();
  return until("b1111", isSo);
}

/** Lets every watch poll once, and waits until all of them have planned their next poll. */
async function poll({ rings }: Stage): Promise<void> {
  const count = rings.length;
  for (const { ring } of rings.splice(0)) ring();
  for (let i = 0; i < 1_000 && rings.length < count; i++) await new Promise((resolve) => setTimeout(resolve, 5));
}

test("an issue gets one comment that names the pull request, and is closed when the work is merged", async () => {
  const { move, github, issue, store } = await stageWithIssue();
  github.failNext({ kind: "lost", on: /^POST .*issues\/12\/comments/ });
  expect((await move("b1111", "offered")).held).toBeUndefined();
  await move("b1111", "offered");
  const record = await store.pullRequests.get("b1111");
  if (record !== undefined) await store.pullRequests.put({ ...record, told: {} });
  await move("b1111", "offered");
  const comments = github.state.comments.filter(({ pull }) => pull === 12).map(({ body }) => body.split("\n")[0]);
  expect(comments).toEqual(["Task coffee#1 (b1111) has opened pull request #1: https://github.com/acme/coffee/pull/1"]);
  expect(issue.state).toBe("open");
  const head = github.state.branches.get("signalbox/b1111") ?? "";
  github.state.reviews.push({
    id: 1,
    pull: 1,
    author: "ada",
    association: "OWNER",
    state: "APPROVED",
    body: "",
    commit: head,
  });
  expect(await move("b1111", "joined")).toMatchObject({ status: "served" });
  expect(issue.state).toBe("closed");
  expect(github.state.comments.filter(({ pull }) => pull === 12)).toHaveLength(2);
});

test("a task whose issue is closed elsewhere is held, and continues when it is opened again", async () => {
  const stage = await stageWithIssue();
  const { issue, move, events } = stage;
  await move("b1111", "worked");
  await poll(stage);
  expect(await events("b1111", "task.held")).toEqual([]);
  issue.state = "closed";
  const held = await pollUntil(stage, ({ task }) => task.held !== undefined);
  expect(held).toMatchObject({ status: "worked", held: { word: "ticket" }, runs: {} });
  expect(held.held?.reason).toMatch(
    /^Issue 12 was closed elsewhere, and the task is not done\.\nTo go on all the same: /,
  );
  issue.state = "open";
  const again = await pollUntil(stage, ({ task }) => task.held === undefined);
  expect(Object.keys(again.runs)).toEqual(["scout"]);
  issue.state = "closed";
  await pollUntil(stage, ({ task }) => task.held !== undefined);
  expect(await events("b1111", "task.held")).toHaveLength(2);
});

test("a person who continues a task with a closed issue is not asked again, and gives no other answer by that", async () => {
  const stage = await stageWithIssue();
  const { issue, core, until, events } = stage;
  issue.state = "closed";
  await pollUntil(stage, ({ task }) => task.held !== undefined);
  await core.submit("b1111", { kind: "continue", actor: human });
  expect(await until("b1111", () => true)).toSatisfy(({ status, held }) => status === "busy" && held === undefined);
  await poll(stage);
  await poll(stage);
  expect(await events("b1111", "task.held")).toHaveLength(1);
  expect(await until("b1111", () => true)).toSatisfy(({ status, held }) => status === "busy" && held === undefined);
});
