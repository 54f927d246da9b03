import { expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { eventually, type Stage, startStage } from "./stage.ts";

const flow = `name: flow
version: 1
states:
  todo: { waits_for: slot, next: naming }
  naming: { do: [acquire_workspace, { action: name_branch, model: small }], next: named }
  named: { waits_for: human, next: done }
  done: { terminal: true }
`;

const script = `roles:
  namer:
    - { when: { prompt: Weak }, steps: [{ usage: { input: 40, output: 4, cost: 0.01 } }, { say: strong-morning-cup }] }
    - { when: { prompt: Dots }, steps: [{ say: strong..cup }] }
    - { when: { prompt: Spaces }, steps: [{ say: strong morning cup }] }
    - { when: { prompt: Upper }, steps: [{ say: Strong-Morning-Cup }] }
    - { when: { prompt: Single }, steps: [{ say: cup }] }
    - { when: { prompt: Long }, steps: [{ say: ${"strong-".repeat(42)}cup }] }
    - { when: { prompt: Talk }, steps: [{ say: "Here is a name: strong-morning-cup" }] }
    - { when: { prompt: Error }, steps: [{ error: { kind: server, message: No } }] }
    - { when: { prompt: Crash }, steps: [{ crash: SIGKILL }] }
    - { when: { prompt: Slow }, steps: [{ count: asked }, { sleep: 3s }, { say: slow-but-sure }] }
    - { when: { prompt: Hang }, steps: [hang] }
`;

async function named(stage: Stage, summary: string, labels: readonly string[] = []): Promise<string> {
  const body = { project: "coffee", summary, labels, workflow: "flow" };
  const { task } = await stage.call(routes.createTask, { body });
  return (await stage.until(task.id, ({ status }) => status === "named")).branch;
}

test("a model names the branch, its usage is counted, and a name that is taken gets a suffix", async () => {
  const stage = await startStage({ flow, script, poolSize: 12 });
  expect(await named(stage, "Weak coffee", ["bug"])).toBe("fix/strong-morning-cup");
  expect(await named(stage, "Weak coffee again", ["bug"])).toBe("fix/strong-morning-cup-2");
  expect(await named(stage, "Weak tea", ["docs"])).toBe("docs/strong-morning-cup");
  const { tasks } = await stage.call(routes.listTasks, { query: {} });
  const first = tasks.find(({ summary }) => summary === "Weak coffee");
  const runs = (await stage.runs(true)).filter(({ task }) => task === first?.id);
  expect(runs).toMatchObject([{ key: "namer#0", model: "small", word: "ok", usage: { cost: 0.01, inputTokens: 40 } }]);
});

test("a branch gets the summary's words where the model gives no usable name", async () => {
  const stage = await startStage({ flow, script, poolSize: 12 });
  const wanted = {
    "Dots in it": "feature/dots-in-it",
    "Spaces in it": "feature/spaces-in-it",
    "Upper case": "feature/upper-case",
    "Single word": "feature/single-word",
    "Long name": "feature/long-name",
    "Talk about it": "feature/talk-about-it",
    "Error of the server": "feature/error-of-the-server",
    "Crash of the program": "feature/crash-of-the-program",
    "Nothing is said": "feature/nothing-is-said",
  };
  const found: Record<string, string> = {};
  for (const summary of Object.keys(wanted)) found[summary] = await named(stage, summary);
  expect(found).toEqual(wanted);
});

test("a model that does not answer in time delays the task for no longer than the limit", async () => {
  const stage = await startStage({ flow, script });
  const begun = Date.now();
  expect(await named(stage, "Hang on")).toBe("feature/hang-on");
  expect(Date.now() - begun).toBeGreaterThan(19_000);
  expect(Date.now() - begun).toBeLessThan(40_000);
}, 60_000);

test("a model is asked once, also if the daemon is killed while it answers", async () => {
  const stage = await startStage({ flow, script });
  const body = { project: "coffee", summary: "Slow coffee", workflow: "flow" };
  const { task } = await stage.call(routes.createTask, { body });
  const isAsked = () => stage.processesOf(task.id, "namer#0").length > 0;
  await eventually(async () => (isAsked() ? true : undefined));
  await stage.killDaemon();
  await stage.restart();
  expect((await stage.until(task.id, ({ status }) => status === "named")).branch).toBe("feature/slow-but-sure");
  expect((await stage.runs(true)).map(({ key }) => key)).toEqual(["namer#0"]);
});
