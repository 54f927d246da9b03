import { afterAll, expect, test } from "vitest";
import { seedDocuments } from "../language/workflow-texts.ts";
import { openScenes } from "./scenes.ts";
import { build, handoff, review, type Step } from "./steps.ts";

const [ofDefault = "", ofMinimal = ""] = seedDocuments();

/** The two workflow files of the seed, unchanged, as a user's own. Their prompts call the command line `orange`. */
const scenes = await openScenes("classic", { workflows: { seeded: ofDefault, small: ofMinimal } });
afterAll(scenes.close);

/** Runs the command exactly as the prompt has it. */
const obey = (words: string): Step => ({
  run: ["sh", "-c", 'command=$(printf "%s" "$1" | grep -o "$0") && exec $command', words, "{prompt}"],
});

test.concurrent("the seed's default.yml lives a whole life, by the commands that its prompts give", async () => {
  const part = {
    worker: [
      {
        when: { prompt: "# Fixing Issues" },
        steps: [...build("two"), handoff("two"), obey("orange task update --status agent-review")],
      },
      {
        steps: [
          { run: ["git", "branch", "-m", "meaningful-name"] },
          obey("orange task update --branch"),
          { write: { file: "cup.md", text: "one\n" } },
          { commit: "one" },
          { try: [obey("orange task update --status agent-review")] },
          handoff("one"),
          obey("orange task update --status agent-review"),
        ],
      },
    ],
    reviewer: [
      {
        when: { task: { review_round: "1" } },
        steps: [review("FAIL"), { cli: ["task", "update", "--status", "working"] }],
      },
      { steps: [review("PASS"), { cli: ["task", "update", "--status", "reviewing"] }] },
    ],
  };
  scenes.teach("meaningful-name", part);
  const life = await scenes.begin("first-name", part, { workflow: "seeded" });
  const { branch, workflow } = await life.reaches("reviewing");
  expect([branch, workflow]).toEqual(["meaningful-name", "seeded"]);
  expect(await life.refusals(), await life.story()).toEqual(["worker agent-review: gate-missing"]);
  await life.does("merge");
  expect((await life.reaches("done")).outcome).toBe("done");
  expect(await life.moves()).toEqual([
    "pending → working (engine asked)",
    "working → agent-review (worker asked)",
    "agent-review → working (reviewer asked)",
    "working → agent-review (worker asked)",
    "agent-review → reviewing (reviewer asked)",
    "reviewing → done (human asked)",
  ]);
  await life.gaveBack();
  await life.onlyAlive();
  expect(scenes.git(scenes.repository, "show", "main:cup.md")).toBe("one");
  expect(scenes.git(scenes.repository, "show", "main:meaningful-name.md")).toBe("two");
});

test.concurrent("so does its minimal.yml", async () => {
  const part = {
    worker: [{ steps: [...build("small"), handoff("small"), obey("orange task update --status reviewing")] }],
  };
  const life = await scenes.begin("small-cup", part, { workflow: "small" });
  await life.reaches("reviewing");
  await life.onlyAlive();
  await life.does("merge");
  expect((await life.reaches("done")).outcome).toBe("done");
  expect(scenes.git(scenes.repository, "show", "main:small-cup.md")).toBe("small");
});
