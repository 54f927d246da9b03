import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { bubblewrap } from "../../src/adapters/sandbox/bubblewrap.ts";
import { spawnCommands } from "../../src/adapters/system.ts";
import { routes } from "../../src/api/routes.ts";
import { eventually, processesWith, startStage } from "./stage.ts";

const state = await bubblewrap({ commands: spawnCommands, env: process.env }).detect();

const flow = (mode: "session" | "turn") => `name: ${mode}s
version: 1
roles: { worker: { mode: ${mode}, harness: task, network: proxy } }
states:
  todo: { waits_for: slot, next: busy }
  busy: { agent: { role: worker, prompt: work }, outcomes: [{ then: over }] }
  over: { waits_for: human, next: done }
  done: { terminal: true }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: any, to: dropped, by: human, hooks: [kill_session, release_workspace] }
prompts: { work: Work }
`;

async function serve(words: string): Promise<number> {
  const server = createServer((_, answer) => answer.end(words)).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as AddressInfo).port;
}

/** Asks for the listed server, for the other one, and for the listed one past the proxy; notes what came of it. */
const asking = (listed: number, other: number, file: string) => `
const { connect } = require("node:net"), { get } = require("node:http"), { appendFileSync } = require("node:fs");
const note = (words) => appendFileSync("${file}", words + "\\n");
const proxy = new URL(process.env.HTTP_PROXY);
const plain = (url) => new Promise((done) => get({ host: proxy.hostname, port: proxy.port, path: url, agent: false }, (answer) => {
  let text = "";
  answer.on("data", (part) => { text += part; }).on("end", () => done(answer.statusCode + " " + text.trim()));
}));
const tunnel = (url) => fetch(url).then(async (answer) => answer.status + " " + await answer.text(), () => "refused");
const direct = new Promise((done) => connect(${listed}, "127.0.0.1").on("connect", () => done("connected")).on("error", ({ code }) => done(code)));
const [listed, other] = ["http://127.0.0.1:${listed}/", "http://127.0.0.1:${other}/"];
(async () => {
  for (const said of [plain(listed), tunnel(listed), plain(other), tunnel(other), direct]) note(await said);
  note("end");
})();`;

if (!state.works) {
  test("where no sandbox can be made, a run with a proxy is held with the reason", async () => {
    const stage = await startStage({ flow: flow("turn"), script: "roles: {}", workspaces: "clone" });
    const { held } = await stage.until(await stage.create("a cup"), (task) => task.held !== null);
    expect(held?.reason).toContain(state.reason);
  });
} else {
  test.each(["session", "turn"] as const)(
    "with a proxy, a %s reaches listed hosts only, also after the daemon was killed, and nothing of it is left at its end",
    async (mode) => {
      const [listed, other] = [await serve("coffee"), await serve("tea")];
      const node = (file: string) => `{ run: [node, -e, ${JSON.stringify(asking(listed, other, file))}] }`;
      const wait = '{ run: [sh, -c, "until [ -e go ]; do sleep 0.05; done"] }';
      const stage = await startStage({
        ...{ flow: flow(mode), workspaces: "clone", agents: `sandbox: on, network_allow: ["127.0.0.1:${listed}"]` },
        script: `roles: { worker: [{ steps: [${node("one.txt")}, ${wait}, ${node("two.txt")}, { cli: [task, update, --summary, Reached] }, { think: 1h }] }] }`,
      });
      const id = await stage.create("a cup");
      const { workspace } = await stage.until(id, ({ workspace }) => workspace !== "");
      const noted = (file: string) =>
        eventually(
          async () => {
            const lines = existsSync(join(workspace, file)) ? readFileSync(join(workspace, file), "utf8") : "";
            return lines.endsWith("end\n") ? lines.trim().split("\n") : undefined;
          },
          60_000,
          async () => JSON.stringify(await stage.events(id)),
        );
      const expected = [
        "200 coffee",
        "200 coffee",
        `403 signalbox: 127.0.0.1:${other} is not on the list of hosts that this agent may reach. A person can add it to agents.network_allow.`,
        "refused",
        "ECONNREFUSED",
        "end",
      ];
      expect(await noted("one.txt")).toEqual(expected);
      const { blocked } = await stage.call(routes.explainTask, { params: { task: id } });
      expect(blocked.map(({ reason }) => reason)).toContain(
        `The proxy of worker#1 has refused: 127.0.0.1:${other} (2 times).`,
      );
      await stage.killDaemon();
      writeFileSync(join(workspace, "go"), "");
      expect(await noted("two.txt")).toEqual(expected);
      await stage.restart();
      await stage.until(id, ({ summary }) => summary === "Reached");
      const socket = join(stage.runFolder(id, "worker#1"), "proxy", "socket");
      expect(existsSync(socket)).toBe(true);
      await stage.call(routes.cancelTask, { params: { task: id }, body: {} });
      await eventually(async () => (processesWith([`SIGNALBOX_TASK=${id}`]).length === 0 ? true : undefined), 20_000);
    },
  );

  test("the end of an agent with a proxy is its own, as without one", async () => {
    const stage = await startStage({
      ...{ flow: flow("turn"), workspaces: "clone", agents: "sandbox: on" },
      script: `roles: { worker: [{ when: { prompt: "Work" }, steps: [{ crash: SIGSEGV }] }] }`,
    });
    const id = await stage.create("a cup");
    await stage.until(id, ({ status }) => status === "over");
    const reasons = (await stage.events(id)).map(({ data }) => String(data.reason ?? ""));
    expect(reasons.join()).toContain("exit code 139");
    expect(existsSync(join(stage.runFolder(id, "worker#1"), "proxy", "socket"))).toBe(false);
  });
}
