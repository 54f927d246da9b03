import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import { processesWith, startStage } from "./stage.ts";

const key = "a-key-that-nobody-else-may-see";

const flow = (mode: "session" | "turn") => `name: flow
version: 1
roles: { worker: { mode: ${mode}, harness: task, permissions: full, window: worker } }
states:
  todo: { waits_for: slot, next: busy }
  busy:
    agent: { role: worker, prompt: work }
    outcomes: [{ then: stuck }]
  stuck: { waits_for: human, next: done }
  done: { terminal: true }
  cancelled: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: busy, to: stuck }
  - { from: any, to: cancelled, by: human, hooks: [kill_session, release_workspace] }
prompts: { work: "Work on {summary}" }
`;

/** All files of a home that contain a text. */
function filesWith(folder: string, text: string): readonly string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found?.isDirectory()) return filesWith(path, text);
    return found?.isFile() && readFileSync(path, "latin1").includes(text) ? [path] : [];
  });
}

/** The token of a live run, from the environment of its program. */
function tokenOf(task: string): string {
  const [pid] = processesWith([`SIGNALBOX_TASK=${task}`, "SIGNALBOX_RUN=worker#1"]).filter((each) =>
    readFileSync(`/proc/${each}/environ`, "latin1").includes(`API_KEY=${key}`),
  );
  const environment = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  return environment.find((each) => each.startsWith("SIGNALBOX_TOKEN="))?.slice("SIGNALBOX_TOKEN=sbr_".length) ?? "";
}

const thinking = `roles: { any: [{ steps: [{ say: "I think." }, { think: 1h }] }] }`;
const started = { variables: ["API_KEY"], env: () => ({ API_KEY: key }) };

for (const mode of ["session", "turn"] as const) {
  test(`an agent's environment is in no file while it runs in a ${mode}, and its token in none after its end`, async () => {
    const stage = await startStage({ flow: flow(mode), script: thinking, ...started });
    const task = await stage.create("a cup");
    await stage.untilRun(({ activity }) => activity === "busy");
    const token = tokenOf(task);
    expect(token).toMatch(/^\w{32,}$/);
    expect(filesWith(stage.home.folder, key)).toEqual([]);
    for (const file of filesWith(stage.home.folder, token)) expect(lstatSync(file).mode & 0o777).toBe(0o600);
    if (mode === "session")
      expect(`${stage.tmux("show-environment", "-g")}${stage.tmux("show-environment")}`).not.toMatch(
        new RegExp(`${key}|${token}`),
      );
    await stage.call(routes.cancelTask, { params: { task }, body: {} });
    await stage.until(task, ({ status }) => status === "cancelled");
    await expect.poll(() => filesWith(stage.home.folder, token), { timeout: 20_000 }).toEqual([]);
    expect(existsSync(join(stage.runFolder(task, "worker#1"), "harness.json"))).toBe(true);
  });
}

const asking = `name: flow
version: 1
roles: { worker: { mode: turn, harness: task, permissions: full } }
schemas: { verdict: { type: object, required: [good], properties: { good: { type: boolean } } } }
states:
  todo: { waits_for: slot, next: busy }
  busy:
    agent: { role: worker, prompt: work, result: verdict }
    outcomes: [{ result: { good: true }, then: done }, { then: stuck }]
  stuck: { waits_for: human, next: done }
  done: { terminal: true }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
prompts: { work: "Work on {summary}" }
`;

test("a run that is asked again gets its environment anew, and leaves none of it behind", async () => {
  const env = (base: string) => ({ API_KEY: key, SEEN: join(base, "seen") });
  const script = `
    echo "$API_KEY $SIGNALBOX_TOKEN $SIGNALBOX_TASK_FILE" >>"$SEEN"
    if [ "$(wc -l <"$SEEN")" -lt 2 ]; then echo '{"good": maybe}'; else echo '{"good": true}'; fi`;
  const config = `harnesses:
  shell:
    title: Shell
    turn: { argv: ["sh", "-c", ${JSON.stringify(script)}, "{prompt}", "{session}"], resume: ["sh", "-c", ${JSON.stringify(script)}, "{session}"] }
`;
  const variables = ["API_KEY", "SEEN"];
  // It writes outside of its workspace.
  const stage = await startStage({ flow: asking, config, harness: "shell", agents: "sandbox: off", variables, env });
  const task = await stage.create("a cup");
  await stage.until(task, ({ status }) => status === "done" || status === "stuck");
  const [first = "", second = ""] = readFileSync(join(stage.base, "seen"), "utf8").trim().split("\n");
  expect(first).toMatch(new RegExp(`^${key} sbr_\\w{32,} `));
  expect(second.split(" ")).toEqual(first.split(" "));
  const token = first.split(" ")[1]?.slice(4) ?? "";
  await expect.poll(() => filesWith(stage.home.folder, token), { timeout: 20_000 }).toEqual([]);
  expect(filesWith(stage.home.folder, key)).toEqual([]);
});

test("a starting daemon removes what an earlier version kept of ended runs", async () => {
  const stage = await startStage({ flow: flow("turn"), script: thinking });
  await stage.killDaemon();
  const folder = join(stage.places.runs, "b1111-1");
  mkdirSync(folder);
  const secret = "0123456789abcdef0123456789abcdef";
  const env = { API_KEY: key, SIGNALBOX_TOKEN: `sbr_${secret}` };
  writeFileSync(join(folder, "token"), secret);
  writeFileSync(join(folder, "order.json"), JSON.stringify({ argv: [], env }));
  writeFileSync(
    join(folder, "harness.json"),
    JSON.stringify({ spec: { mode: "turn" }, order: { run: "b1111-1", env } }),
  );
  writeFileSync(join(folder, "claude-mcp.json"), JSON.stringify({ mcpServers: { signalbox: { env } } }));
  await stage.restart();
  await expect.poll(() => filesWith(stage.home.folder, secret), { timeout: 20_000 }).toEqual([]);
  const { spec, order } = JSON.parse(readFileSync(join(folder, "harness.json"), "utf8"));
  expect([spec, order]).toEqual([{ mode: "turn" }, { run: "b1111-1" }]);
  expect(JSON.parse(readFileSync(join(folder, "claude-mcp.json"), "utf8")).mcpServers.signalbox).toBeDefined();
});
