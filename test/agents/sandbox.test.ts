import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect, test } from "vitest";
import { bubblewrap } from "../../src/adapters/sandbox/bubblewrap.ts";
import { spawnCommands } from "../../src/adapters/system.ts";
import { routes } from "../../src/api/routes.ts";
import { eventually, processesWith, type StageOptions, startStage } from "./stage.ts";

const state = await bubblewrap({ commands: spawnCommands, env: process.env }).detect();

/** One agent without a terminal; `mode: session` for one in a terminal. */
const flowOf = (mode: "turn" | "session", more = "") => `name: flow
version: 1
roles: { worker: { mode: ${mode}, harness: task${more} } }
states:
  todo: { waits_for: slot, next: busy }
  busy: { agent: { role: worker, prompt: work }, ${mode === "turn" ? "outcomes: [{ on: ok, then: done }, { on: failed, then: lost }]" : "next: done"} }
  done: { terminal: true }
  lost: { terminal: true, outcome: failed }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  ${mode === "turn" ? "" : '- { from: busy, to: done, gate: { section: "## Handoff", fields: [DONE] } }\n  - { from: busy, to: lost, by: human }'}
  - { from: any, to: dropped, by: human, hooks: [kill_session, release_workspace] }
prompts: { work: Work }
`;

const script = (...steps: readonly string[]) => `roles: { worker: [{ steps: [${steps.join(", ")}] }] }`;
const shell = (command: string) => `{ run: [sh, -c, ${JSON.stringify(command)}] }`;
const startConfined = (options: StageOptions) =>
  startStage({ workspaces: "clone", ...options, agents: ["sandbox: on", options.agents].filter(Boolean).join(", ") });

if (!state.works) {
  test("where no sandbox can be made, a run that must have one is held with the reason", async () => {
    const stage = await startConfined({ flow: flowOf("turn"), script: script("{ say: Hello }") });
    const { held } = await stage.until(await stage.create("a cup"), (task) => task.held !== null);
    expect(held?.reason).toContain(state.reason);
  });
} else {
  test("an agent in a sandbox changes its workspace, commits, and reaches the daemon", async () => {
    const stage = await startConfined({
      flow: flowOf("turn"),
      script: script(
        "{ write: { file: cup.txt, text: hot } }",
        "{ commit: A cup }",
        shell("git log --oneline >>log.txt && git fsck >>log.txt 2>&1"),
        "{ cli: [task, update, --summary, A hot cup] }",
      ),
    });
    const id = await stage.create("a cup");
    await stage.until(id, ({ status, summary }) => status === "done" && summary === "A hot cup");
    const [run] = await stage.runs(true);
    expect(run?.sandbox).toBe(true);
    expect((await stage.events(id)).find(({ type }) => type === "agent.started")?.data.sandbox).toBe(true);
  });

  test("an agent in a sandbox finds no secret, no terminal server, no other workspace and no other process", async () => {
    const stage = await startConfined({ flow: flowOf("turn"), script: script(shell(exploration), "{ think: 1h }") });
    writeFileSync(join(stage.base, "secret.txt"), "secret");
    mkdirSync(join(stage.places.workspaces, "coffee", "other"), { recursive: true });
    writeFileSync(join(stage.places.workspaces, "coffee", "other", "work.txt"), "theirs");
    const id = await stage.create("a cup");
    const folder = (await stage.until(id, ({ workspace }) => workspace !== "")).workspace;
    const found = await eventually(async () => {
      const text = existsSync(join(folder, "found.txt")) ? readFileSync(join(folder, "found.txt"), "utf8") : "";
      return text.includes("THE END") ? text : undefined;
    });
    const own = stage.runFolder(id, "worker#1");
    for (const hidden of [
      ...[stage.places.humanToken, stage.places.config, stage.places.database, stage.places.terminal],
      ...[stage.places.agents, stage.places.surroundings, join(stage.base, "secret.txt"), stage.repository],
      ...[join(stage.places.workspaces, "coffee", "other"), join(stage.places.control, "coffee.git", "HEAD")],
    ])
      expect(found, hidden).not.toContain(`${hidden}\n`);
    expect(found).toContain(`${stage.places.socket}\n`);
    // It can read its own order, and change nothing of it.
    expect(found).toContain(`${join(own, "harness.json")}\n`);
    for (const place of [own, dirname(stage.places.socket), stage.places.bin, "/usr", "/etc"])
      expect(found).toContain(`cannot write ${place}\n`);
    for (const place of ["/tmp", folder]) expect(found).toContain(`can write ${place}\n`);
    const processes = /processes: (.*)/.exec(found)?.[1]?.trim().split(" ") ?? [];
    expect(processes.length).toBeLessThan(10);
    expect(found).not.toMatch(/^root:[^:*!]/m);
    expect(existsSync("/tmp/left-by-sandbox")).toBe(false);
  });

  /** Lists what is visible of the home, tries to write, and lists processes. */
  const exploration = `
cd "$(pwd)"; exec >found.txt 2>/dev/null
find "$SIGNALBOX_HOME" "$(dirname "$SIGNALBOX_HOME")" /tmp -not -path '*/objects/*' | sort -u
for place in "$(dirname "$(dirname "$SIGNALBOX_EVENTS")")" "$SIGNALBOX_HOME/run/api" "$SIGNALBOX_HOME/bin" /usr /etc /tmp "$(pwd)"; do
  if touch "$place/left-by-sandbox"; then echo "can write $place"; else echo "cannot write $place"; fi
done
echo processes: $(ls /proc | grep -E '^[0-9]+$')
cat /etc/shadow
echo THE END
`;

  test.runIf(process.getuid?.() === 0)("an ordinary user's agents have sandboxes too, and end with them", async () => {
    const stage = await startConfined({
      flow: flowOf("session"),
      uid: 65_534,
      script: script(
        "{ write: { file: cup.txt, text: hot } }",
        "{ commit: A cup }",
        shell("setsid sleep 600 >/dev/null 2>&1 & id -u >uid.txt; signalbox task update --summary 'A hot cup'"),
        "{ think: 1h }",
      ),
    });
    const id = await stage.create("a cup");
    const { workspace } = await stage.until(id, ({ summary }) => summary === "A hot cup");
    expect(readFileSync(join(workspace, "uid.txt"), "utf8")).toBe("65534\n");
    expect((await stage.runs()).map(({ sandbox }) => sandbox)).toEqual([true]);
    const began = performance.now();
    await stage.call(routes.cancelTask, { params: { task: id }, body: {} });
    await eventually(async () => (processesWith([`SIGNALBOX_TASK=${id}`]).length === 0 ? true : undefined), 20_000);
    expect(performance.now() - began).toBeLessThan(5_000);
  });

  test("an agent in a sandbox reaches a daemon that was started again, and the daemon adopts it", async () => {
    const stage = await startConfined({
      flow: flowOf("session"),
      script: script(
        shell("until [ -e go ]; do sleep 0.1; done; signalbox task update --summary 'Still here'"),
        "{ think: 1h }",
      ),
    });
    const id = await stage.create("a cup");
    const { pid } = await stage.untilRun(({ activity }) => activity === "busy");
    const { workspace } = await stage.task(id);
    await stage.killDaemon();
    await stage.restart();
    await stage.untilRun((run) => run.pid === pid && run.activity === "busy");
    writeFileSync(join(workspace, "go"), "");
    await stage.until(id, ({ summary }) => summary === "Still here");
    expect((await stage.runs()).map((run) => run.pid)).toEqual([pid]);
  });

  test("children of an agent in a sandbox die when its program ends by itself", async () => {
    const stage = await startConfined({
      flow: flowOf("turn"),
      script: script(shell("setsid sleep 600 >/dev/null 2>&1 </dev/null & sleep 0.3")),
    });
    const id = await stage.create("a cup");
    await stage.until(id, ({ status }) => status === "done");
    await eventually(async () => (processesWith([`SIGNALBOX_TASK=${id}`]).length === 0 ? true : undefined), 5_000);
  });

  test("a run with reduced permissions changes only its task file", async () => {
    const stage = await startConfined({
      flow: flowOf("turn", ", permissions: reduced"),
      script: script("{ section: { heading: '## Review', text: 'Verdict: PASS' } }", "{ say: done }", "{ think: 1h }"),
    });
    const id = await stage.create("a cup");
    const { workspace } = await stage.until(id, ({ workspace }) => workspace !== "");
    const file = join(workspace, "TASK.md");
    await eventually(async () => (readFileSync(file, "utf8").includes("Verdict: PASS") ? true : undefined));
    const inside = ["recipe.md", ".git/config", ".git/HEAD", ".git/new", "TASK.md"].map((name) =>
      join(workspace, name),
    );
    // In the mounts of the agent: its process is the youngest.
    const agent = String(Math.max(...processesWith([`SIGNALBOX_TASK=${id}`])));
    const results = inside.map(
      (path) =>
        spawnSync("nsenter", ["-t", agent, "-U", "-m", "--preserve-credentials", "sh", "-c", `echo >>'${path}'`])
          .status === 0,
    );
    expect(results).toEqual([false, false, false, false, true]);
  });

  test("a workspace of kind worktree gets no sandbox: auto does without, and on holds the task", async () => {
    const stage = await startStage({ workspaces: "worktree", flow: flowOf("turn"), script: script("{ say: Hello }") });
    await stage.until(await stage.create("a cup"), ({ status }) => status === "done");
    expect((await stage.runs(true)).map(({ sandbox }) => sandbox)).toEqual([false]);
    const strict = await startConfined({
      workspaces: "worktree",
      flow: flowOf("turn"),
      script: script("{ say: Hello }"),
    });
    const { held } = await strict.until(await strict.create("a cup"), (task) => task.held !== null);
    expect(held?.reason).toContain("worktree");
    expect(held?.reason).toContain("signalbox project update");
  });

  test("without the network, an agent reaches the daemon and nothing else", async () => {
    const stage = await startConfined({
      flow: flowOf("turn", ", network: off"),
      script: script(
        shell("ls /sys/class/net >nets.txt; cat /proc/net/route >>nets.txt"),
        "{ commit: Nets }",
        "{ cli: [task, update, --summary, Alone] }",
        "{ think: 1h }",
      ),
    });
    const id = await stage.create("a cup");
    const { workspace } = await stage.until(id, ({ summary }) => summary === "Alone");
    expect(readFileSync(join(workspace, "nets.txt"), "utf8")).not.toMatch(/eth0\s+0/);
  });
}
