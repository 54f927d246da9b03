import { renameSync } from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { routes } from "../../src/api/routes.ts";
import type { EventView } from "../../src/api/tasks.ts";
import { beginCommand, beginTalking, beginWithInput, command, type Running } from "./command.ts";
import { createAsk, type Daemon, killDaemons, startDaemon } from "./daemon.ts";
import { createHome, type Home } from "./home.ts";
import { clientsOf, connectionsTo, until } from "./look-at-system.ts";

const workflows = () => ({
  pair: `name: pair
version: 1
roles: { worker: { prompt: work }, reviewer: { prompt: review } }
states:
  todo: { waits_for: human, next: working }
  working: { agent: { role: worker, keep: true } }
  reviewing: { agent: { role: reviewer } }
  over: { terminal: true }
transitions:
  - { from: todo, to: working, by: human }
  - { from: [working, reviewing], to: reviewing, by: [worker, human] }
  - { from: reviewing, to: over, by: human }
prompts: { work: Work, review: Review }
`,
  pack: `name: pack
version: 1
roles: { packer: { mode: turn, prompt: pack, tools: [work_complete] } }
states:
  packing:
    agent: { role: packer }
    outcomes: [{ on: ok, when: documents > 0, then: packed }]
  packed: { waits_for: human, next: over }
  over: { terminal: true }
initial: packing
prompts: { pack: Pack }
`,
});

let home: Home;
let daemon: Daemon;
let task: string;
/** The home with the environment of the task's agent. */
let agents: Home;

beforeEach(async () => {
  home = createHome(workflows);
  daemon = await startDaemon(home);
  const ask = createAsk(home);
  await ask(routes.addProject, { body: { name: "coffee", path: home.repository, workflow: "pair" } });
  // No agent is started, and no start fails: the run is queued.
  await ask(routes.pause, { body: { all: true } });
  const created = { project: "coffee", summary: "Stronger", harness: "scripted", allowFullPermissions: true };
  task = (await ask(routes.createTask, { body: created })).task.id;
  const params = { task };
  await ask(routes.moveTask, { params, body: { to: "working" } });
  const { token } = await ask(routes.registerRun, { params, body: { role: "worker" } });
  agents = { ...home, env: { ...home.env, SIGNALBOX_TOKEN: token } };
});
afterEach(async () => {
  await killDaemons();
  home.remove();
});

const people = [
  { who: "a person", from: () => home, by: "human" },
  { who: "an agent", from: () => agents, by: "worker" },
];
/** The fast path of `task update` knows no --json. */
const ways = [
  { way: "the fast path", flags: [] },
  { way: "the ordinary path", flags: ["--json"] },
];
const cases = people.flatMap((asker) => ways.map((way) => ({ ...asker, ...way })));

test.each(cases)(
  "a move of $who by $way is made once if the daemon is killed before it reads the request",
  async ({ from, by, flags }) => {
    const asked = await askFrozen(() =>
      beginCommand(from(), "task", "update", task, "--status", "reviewing", ...flags),
    );
    await daemon.kill();
    const { code, stdout, stderr } = await asked.ran;
    expect([code, stderr]).toEqual([0, ""]);
    expect(moveIn(stdout)).toBe("working → reviewing");
    expect(await movesTo("reviewing")).toMatchObject([{ by, data: { from: "working" } }]);
  },
);

test.each(cases)(
  "a move of $who by $way that was saved is reported if the daemon is killed before it answers",
  async ({ from, by, flags }) => {
    const answer = await askThroughProxy(() =>
      beginCommand(from(), "task", "update", task, "--status", "reviewing", ...flags),
    );
    expect(answer.lost).toContain("200 OK");
    const { code, stdout, stderr } = await answer.asked.ran;
    expect([code, stderr]).toEqual([0, ""]);
    expect(moveIn(stdout)).toBe("working → reviewing");
    expect(await movesTo("reviewing")).toMatchObject([{ by, data: { from: "working" } }]);
  },
);

test("a move that was made before the command began is not taken for the command's own", async () => {
  await command(home, "task", "update", task, "--status", "reviewing");
  const asked = await askFrozen(() => beginCommand(home, "task", "update", task, "--status", "reviewing"));
  await daemon.kill();
  expect(await asked.ran).toMatchObject({ code: 0, stdout: "reviewing → reviewing\n", stderr: "" });
  expect(await movesTo("reviewing")).toMatchObject([{ data: { from: "working" } }, { data: { from: "reviewing" } }]);
});

test("an agent whose credential was revoked meanwhile learns that its run is over, and asks for nothing more", async () => {
  const { lost, asked } = await askThroughProxy(
    () => beginCommand(agents, "task", "update", "--status", "reviewing"),
    () => createAsk(home)(routes.registerRun, { params: { task }, body: { role: "worker" } }),
  );
  expect(lost).toContain("200 OK");
  const { code, stderr } = await asked.ran;
  expect(code).toBe(1);
  expect(stderr).toContain("The daemon ended before it answered. This run is over.");
  expect(await movesTo("reviewing")).toHaveLength(1);
  expect((await history()).filter(({ type }) => type === "request.rejected")).toEqual([]);
});

test("a comment is made once, whether the daemon is killed before it reads the request or before it answers", async () => {
  const asked = await askFrozen(() => beginCommand(agents, "task", "comment", ".", "It is bitter."));
  await daemon.kill();
  expect((await asked.ran).code).toBe(0);
  await command(home, "down");
  daemon = await startDaemon(home);
  const { lost, asked: again } = await askThroughProxy(() =>
    beginCommand(agents, "task", "comment", ".", "It is sour.", "--json"),
  );
  expect(lost).toContain("200 OK");
  const { code, stdout } = await again.ran;
  expect([code, JSON.parse(stdout)]).toEqual([0, { task, at: expect.any(String) }]);
  const comments = (await history()).filter(({ type }) => type === "task.commented");
  expect(comments.map(({ data }) => data.text)).toEqual(["It is bitter.", "It is sour."]);
});

test("fields and the task file are written although the daemon is killed before it answers", async () => {
  const asked = await askFrozen(() => beginCommand(home, "task", "update", "coffee#1", "--summary", "Much stronger"));
  await daemon.kill();
  expect((await asked.ran).code).toBe(0);
  await command(home, "down");
  daemon = await startDaemon(home);
  const { lost, asked: again } = await askThroughProxy(() =>
    beginWithInput(agents, "## Handoff\n\nDONE: all\n", "task", "update", "--file", "-"),
  );
  expect(lost).toContain("200 OK");
  expect((await again.ran).code).toBe(0);
  const ask = createAsk(home);
  expect((await ask(routes.getTask, { params: { task } })).task.summary).toBe("Much stronger");
  expect((await ask(routes.getDocument, { params: { task } })).text).toContain("DONE: all");
});

const line = (id: number, method: string, params: object) =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
const toolCall = (id: number, name: string, args: object) => line(id, "tools/call", { name, arguments: args });
/** The results of the MCP server's replies, without that of the list. */
const resultsIn = (stdout: string) =>
  stdout
    .trimEnd()
    .split("\n")
    .slice(1)
    .map((each) => JSON.parse(each).result);

test("the tools of the MCP server move the task and comment once", async () => {
  const calls = toolCall(1, "task_update", { status: "reviewing" }) + toolCall(2, "comment", { text: "It is ready." });
  const server = await beginTalking(agents, line(0, "tools/list", {}), "mcp");
  const { lost, asked } = await askThroughProxy(() => {
    server.child.stdin?.end(calls);
    return server;
  });
  expect(lost).toContain("200 OK");
  const answers = resultsIn((await asked.ran).stdout);
  expect(answers.map(({ isError }) => isError)).toEqual([false, false]);
  expect(answers[0].content[0].text).toBe("working → reviewing");
  expect(await movesTo("reviewing")).toHaveLength(1);
});

describe("work that an agent completes over MCP", () => {
  const document = { type: "spec", title: "The brew", text: "Hot." };
  const completed = async (id: string) =>
    (await createAsk(home)(routes.listEvents, { query: { task: id } })).events.filter(
      ({ type }) => type === "work.completed",
    );

  /** A task whose packer is live, and a server that has listed the packer's tools. */
  async function packing() {
    const ask = createAsk(home);
    const body = { project: "coffee", workflow: "pack", summary: "Pack", harness: "scripted" };
    const { id } = (await ask(routes.createTask, { body: { ...body, allowFullPermissions: true } })).task;
    const { token } = await ask(routes.registerRun, { params: { task: id }, body: { role: "packer" } });
    const env = { ...home.env, SIGNALBOX_TOKEN: token };
    return { id, server: await beginTalking({ ...home, env }, line(0, "tools/list", {}), "mcp") };
  }
  const complete = toolCall(1, "work_complete", { summary: "Packed.", documents: [document] });

  test("is saved once if the daemon is killed before it answers, and counts though the run then fails", async () => {
    const { id, server } = await packing();
    const { lost, asked } = await askThroughProxy(() => {
      server.child.stdin?.end(complete);
      return server;
    });
    expect(lost).toContain("200 OK");
    const [answer] = resultsIn((await asked.ran).stdout);
    expect(answer).toMatchObject({ isError: false, content: [{ text: expect.stringContaining("The brew") }] });
    expect(await completed(id)).toHaveLength(1);
    // The next daemon knows the report, and the program's error does not count.
    const ask = createAsk(home);
    await ask(routes.endRun, { params: { task: id, run: "packer#1" }, body: { word: "error", reason: "It crashed." } });
    expect((await ask(routes.getTask, { params: { task: id } })).task.status).toBe("packed");
    const { documents } = await ask(routes.listHandedOver, {
      params: { task: id },
      query: { path: ".signalbox/documents/spec-the-brew.md" },
    });
    expect(documents).toMatchObject([{ text: "Hot.", state: "packing", role: "packer" }]);
  });

  test("is saved once if the daemon is killed before it reads the request", async () => {
    const { id, server } = await packing();
    const asked = await askFrozen(() => {
      server.child.stdin?.end(complete);
      return server;
    });
    await daemon.kill();
    const [answer] = resultsIn((await asked.ran).stdout);
    expect(answer).toMatchObject({ isError: false });
    expect(await completed(id)).toHaveLength(1);
  });
});

/** Begins a command while the daemon is suspended; resolves when the command has connected. */
async function askFrozen(begin: () => Running): Promise<Running> {
  // A suspended daemon would keep the connections of earlier requests.
  await until(() => clientsOf(home.places.socket) === 0);
  daemon.child.kill("SIGSTOP");
  const asked = begin();
  await connectionsTo(home.places.socket, 1);
  return asked;
}

/**
 * Puts a proxy in the place of the daemon's socket. It keeps the answer to the first request for itself, lets `meanwhile`
 * happen, kills the daemon, and hangs up.
 */
async function askThroughProxy(begin: () => Running, meanwhile: () => Promise<unknown> = async () => {}) {
  const { socket } = home.places;
  const real = join(home.base, "real.sock");
  // A connection of an earlier request would go past the proxy, and wait for a suspended daemon.
  await until(() => clientsOf(socket) === 0);
  // Otherwise the daemon would notice that its socket is gone, and make another before the command asks.
  daemon.child.kill("SIGSTOP");
  renameSync(socket, real);
  let first: Socket | undefined;
  let lost = "";
  const proxy = createServer();
  const answered = new Promise<void>((done) => {
    const keepAnswer = (client: Socket) => {
      const sent: Buffer[] = [];
      let inside: Socket | undefined;
      const ask = (path: string) => {
        const here = connect(path);
        inside = here;
        for (const each of sent) here.write(each);
        here.setEncoding("utf8").on("data", (chunk: string) => {
          lost += chunk;
          if (lost.includes("\r\n\r\n")) done();
        });
        here.on("error", () => here.destroy());
        // A daemon that was suspended for a second makes its socket again, and does not accept who waited at the old one.
        here.on("close", () => {
          if (lost === "") setTimeout(() => ask(path === real ? socket : real), 20);
        });
      };
      client.on("data", (chunk: Buffer) => {
        sent.push(chunk);
        inside?.write(chunk);
      });
      client.on("error", () => client.destroy());
      ask(real);
    };
    proxy.on("connection", (client) => {
      if (first === undefined) {
        first = client;
        daemon.child.kill("SIGCONT");
        return keepAnswer(client);
      }
      const inside = connect(real);
      for (const each of [client, inside]) each.on("error", () => each.destroy());
      // Without this, a request that was under way when the daemon was killed would wait for ever.
      inside.on("close", () => client.destroy());
      return client.pipe(inside).pipe(client);
    });
  });
  await new Promise<void>((done) => proxy.listen(socket, done));
  onTestFinished(() => void proxy.close());
  const asked = begin();
  await answered;
  await meanwhile();
  await daemon.kill();
  // Deletes the socket too, so that the command finds none.
  proxy.close();
  first?.destroy();
  return { lost, asked };
}

/** The move that a command reports, as text or as JSON. */
function moveIn(stdout: string): string {
  if (!stdout.startsWith("{")) return stdout.trimEnd();
  const { move } = JSON.parse(stdout);
  expect(move).toMatchObject({ kind: "moved", why: "", entry: 3, effects: ["spawn_agent"] });
  return `${move.from} → ${move.task.status}`;
}

async function history(): Promise<readonly EventView[]> {
  return (await createAsk(home)(routes.listEvents, { query: { task } })).events;
}

async function movesTo(status: string): Promise<readonly EventView[]> {
  return (await history()).filter(({ type, data }) => type === "task.moved" && data.to === status);
}
