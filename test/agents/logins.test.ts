import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { eventually, startStage } from "./stage.ts";

const flow = (mode: "session" | "turn") => `name: flow
version: 1
roles: { worker: { mode: ${mode}, harness: task, permissions: full, window: worker, keep: true } }
states:
  todo: { waits_for: slot, next: busy }
  busy:
    agent: { role: worker, prompt: work }
    respawn_prompt: work
    outcomes: [{ then: done }, { action: crash, stuck_after: 9 }]
  stuck: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: done, gate: { section: "## Handoff", fields: [DONE] } }
prompts: { work: "Work on {summary}" }
`;

/** Works only once a person has logged in, and knows only sessions that it has started. It keeps both outside of its workspace. */
const script = (otherwise: string) =>
  `[ -e "$SIGNALBOX_HOME/login" ] || { printf '\\033[31mNot logged in.\\033[0m Please run: oracle login\\n'; ${otherwise}; }; ` +
  `[ "$0" = new ] || [ -e "$SIGNALBOX_HOME/$1" ] || { echo "No such session"; exit 3; }; ` +
  `touch "$SIGNALBOX_HOME/$1"; echo working; sleep 1000`;
const oracle = (otherwise: string) => `harnesses:
  oracle:
    title: The Oracle
    session:
      argv: [sh, -c, ${JSON.stringify(script(otherwise))}, new, "{session}", "{prompt}"]
      resume: [sh, -c, ${JSON.stringify(script(otherwise))}, old, "{session}", "{prompt}"]
      busy: working
    turn:
      argv: [sh, -c, ${JSON.stringify(script(otherwise))}, new, "{session}", "{prompt}"]
      resume: [sh, -c, ${JSON.stringify(script(otherwise))}, old, "{session}", "{prompt}"]
    errors: { authentication: "Not logged in", session-unknown: "No such session" }
`;

for (const mode of ["session", "turn"] as const)
  for (const again of ["continueTask", "respawnTask"] as const)
    test(`an agent in mode ${mode} that ended before its session existed is restarted without a session by ${again}`, async () => {
      const stage = await startStage({
        agents: "sandbox: off",
        flow: flow(mode),
        config: oracle("exit 1"),
        harness: "oracle",
      });
      const id = await stage.create("a cup");
      const { held } = await stage.until(id, (task) => task.held !== null);
      expect(held?.reason).toMatch(/The Oracle is not logged in\./);
      expect(held?.reason).toContain("Please run: oracle login");
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not get through
      expect(held?.reason).not.toMatch(/[\u0000-\u001f]/);
      writeFileSync(join(stage.home.folder, "login"), "");
      await stage.call(routes[again], { params: { task: id }, body: {} });
      const run = await stage.untilRun(({ key, pid }) => key === "worker#2" && pid > 0);
      await eventually(async () =>
        stage.processesOf(id, run.key).length > 1 && (await stage.task(id)).held === null ? true : undefined,
      );
      expect(
        (await stage.events(id)).find(({ type, data }) => type === "agent.started" && data.run === run.key)?.data
          .resumed,
      ).toBe(false);
    });

test("every view of a task shows that its agent waits for a login", async () => {
  const stage = await startStage({
    agents: "sandbox: off",
    flow: flow("session"),
    config: oracle("sleep 1000"),
    harness: "oracle",
  });
  const id = await stage.create("a cup");
  const run = await stage.untilRun(({ raised }) => raised !== "");
  expect(run).toMatchObject({ activity: "asks", raised: expect.stringContaining("The Oracle is not logged in.") });
  expect((await stage.task(id)).needsPerson).toBe(true);
  const explained = await stage.call(routes.explainTask, { params: { task: id } });
  expect(JSON.stringify(explained.blocked)).toContain("The Oracle is not logged in.");
});
