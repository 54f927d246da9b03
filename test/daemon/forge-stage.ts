import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { createGithubClient } from "../../src/adapters/github/client.ts";
import { githubForge } from "../../src/adapters/github/github.ts";
import { httpTransport } from "../../src/adapters/github/transport.ts";
import { noneForge } from "../../src/adapters/no-forge.ts";
import { systemClock } from "../../src/adapters/system.ts";
import { createCore } from "../../src/daemon/create-core.ts";
import { askedPullRequests } from "../../src/daemon/forge/pull-request.ts";
import { createForges } from "../../src/daemon/forge/push-task.ts";
import { createTicketsOf, noTickets } from "../../src/daemon/project.ts";
import { createTask } from "../../src/engine/create.ts";
import { loadWorkflow } from "../../src/engine/language/load.ts";
import { blankIdentity } from "../../src/engine/task.ts";
import { makePrivateFolder } from "../../src/home/make-folder.ts";
import { homePlaces } from "../../src/home/places.ts";
import type { Project, StoredTask } from "../../src/ports/store.ts";
import type { Log } from "../../src/ports/system.ts";
import { createMemoryStore } from "../memory-store/memory-store.ts";
import { realWorkspaces } from "../real-workspaces.ts";
import { removeFolder } from "../remove-folder.ts";
import { startScriptedGithub } from "../scripted-github/server.ts";
import { human, isAtRest } from "./git-core.ts";

export { human };

/** People move it; each of its states does one thing with the forge. The panel's runs are ended by the test. */
const flow = `
version: 1
roles: { any: { mode: turn, permissions: reduced }, scout: { prompt: look }, judge: { prompt: judge } }
states:
  todo: { waits_for: human, next: busy }
  busy: { waits_for: human, next: pushed }
  pushed: { do: [push_branch], next: resting }
  offered: { do: [{ action: create_pr, title: "Brew: {summary}" }], next: resting }
  said: { do: [{ action: post_comment, message: "It is in {status}." }], next: resting }
  reviewed:
    panel:
      members: { role: scout, model: small, prompt: look, result: reports }
      judge: { role: judge, prompt: judge, result: review }
      tools: [stage_message]
    do: [post_comment]
    next: resting
  repeated: { do: [post_comment], next: resting }
  joined: { do: [merge_pr], next: served }
  proved: { do: [run_tests, merge_pr], next: served }
  worked: { agent: { role: scout, prompt: look }, next: resting }
  swept: { do: [delete_remote_branch], next: resting }
  synced: { do: [sync_repo], next: resting }
  resting: { waits_for: human, next: served }
  guarded: { waits_for: human, next: served }
  served: { terminal: true, outcome: done }
  dropped: { terminal: true, outcome: cancelled }
transitions:
  - { from: todo, to: busy, hooks: [acquire_workspace] }
  - { from: [todo, busy, pushed, offered, said, reviewed, repeated, joined, proved, swept, resting], to: [pushed, offered, said, reviewed, repeated, joined, proved, swept, synced, guarded, worked], by: human }
  - { from: [resting, joined], to: served, hooks: [close_ticket] }
  - { from: guarded, to: served, by: human }
  - { from: any, to: dropped, by: human, hooks: [release_workspace] }
schemas:
  reports: { type: object, required: [findings], properties: { findings: { type: array } } }
  review: { type: object, required: [findings], properties: { findings: { type: array } } }
prompts:
  look: Look.
  judge: "Judge {reports}. Known: {findings} {reason}"
`;

const token = "ghp_verysecretindeed0123456789";
/** Longer timers are fired by the test. */
const interval = 3_600;

export interface ForgeStageOptions {
  /** none: the project has a remote, but no forge. alone: it has no remote either. */
  readonly place?: "github" | "none" | "alone";
}

/** The whole core over real git, with a bare repository as the remote and a scripted GitHub that knows its branches. */
export async function forgeStage({ place = "github" }: ForgeStageOptions = {}) {
  // In memory if possible: git fsyncs everything, and disks are slow at that.
  const base = realpathSync(mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "signalbox-forge-")));
  const [repository, remote, userHome] = [join(base, "coffee"), join(base, "remote.git"), join(base, "user")];
  mkdirSync(userHome);
  writeFileSync(join(userHome, ".gitconfig"), "[user]\n\tname = Ada\n\temail = ada@example.org\n");
  const env = { PATH: process.env.PATH ?? "", HOME: userHome, GIT_CONFIG_NOSYSTEM: "1" };
  const git = (folder: string, ...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, ...args], { encoding: "utf8", env, stdio: ["ignore", "pipe", "ignore"] }).trim();
  const remoteAt = (branch: string) => {
    try {
      return git(remote, "rev-parse", "--verify", `refs/heads/${branch}`);
    } catch {
      return undefined;
    }
  };
  execFileSync("git", ["init", "-q", "-b", "main", repository], { env });
  writeFileSync(join(repository, "recipe.md"), "beans\n");
  git(repository, "add", "-A");
  git(repository, "commit", "-qm", "first");
  execFileSync("git", ["clone", "-q", "--bare", repository, remote], { env });
  if (place !== "alone") git(repository, "remote", "add", "origin", `file://${remote}`);

  const github = await startScriptedGithub({ token });
  const { branches } = github.state;
  branches.get = remoteAt;
  branches.has = (name) => remoteAt(name) !== undefined;
  branches.delete = (name) => {
    const isThere = branches.has(name);
    if (isThere) git(remote, "update-ref", "-d", `refs/heads/${name}`);
    return isThere;
  };

  const home = join(base, "home");
  const places = homePlaces(home);
  for (const folder of [home, places.run, places.workspaces, places.control]) makePrivateFolder(folder);
  const { git: gitPort, workspacesOf } = realWorkspaces(places, env);
  const store = createMemoryStore();
  const rings: { readonly milliseconds: number; readonly ring: () => void }[] = [];
  let ahead = 0;
  const clock = {
    now: () => systemClock.now() + ahead,
    after(milliseconds: number, run: () => void) {
      if (milliseconds < 100_000) return systemClock.after(milliseconds, run);
      const timer = { milliseconds, ring: run };
      rings.push(timer);
      return () => {
        if (rings.includes(timer)) rings.splice(rings.indexOf(timer), 1);
      };
    },
  };
  const forge = githubForge({
    repository: { host: "github.com", owner: "acme", name: "coffee" },
    client: createGithubClient(httpTransport({ apiUrl: github.url, token }), clock.now),
  });
  const forgeOf = createForges({
    git: gitPort,
    choice: () => (place === "github" ? "auto" : "none"),
    github: async () => forge,
    none: ({ name }) => noneForge(askedPullRequests({ store, clock }, name)),
  });
  const complaints: unknown[] = [];
  const notes: string[] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (message, fields) => complaints.push([message, fields]),
    with: () => log,
    close: async () => {},
  };
  const core = createCore({
    version: "1.0.0",
    home,
    store,
    clock,
    ids: { task: () => "bbbbb", secret: () => "0".repeat(48) },
    log,
    commands: { run: async () => ({ code: 0, timedOut: false, output: "" }) },
    humanToken: "sbh_x",
    performers: () => ({
      spawn_agent: async () => {},
      notify: async ({ params }) => void notes.push(String(params.message)),
      // A test sets which commit they ran on.
      run_tests: async () => {},
    }),
    git: gitPort,
    workspacesOf,
    forgeOf,
    ticketsOf: createTicketsOf({
      ...{ clock, forgeOf, files: noTickets },
      choice: () => ({ tickets: "github", ticketsLabel: "ready" }),
    }),
    config: () => ({ values: { forgeInterval: interval }, problems: [] }),
    stop: () => {},
  });
  onTestFinished(async () => {
    await core.close();
    await github.close();
    removeFolder(base);
  });
  const { workflow, problems } = loadWorkflow(flow, "flow.yml");
  if (workflow === undefined) throw new Error(JSON.stringify(problems));
  const settings = {
    workflow: "",
    harness: "",
    reviewHarness: "",
    branchPrefix: "",
    workspaces: "clone",
    createdAt: 0,
  } as const;
  await store.addProject({ name: "coffee", path: repository, defaultBranch: "main", poolSize: 2, ...settings });
  await core.workflows.keep(workflow, flow);
  const until = async (id: string, isSo: (stored: StoredTask) => boolean) => {
    for (let i = 0; i < 2_000; i++) {
      const stored = await store.getTask(id);
      if (stored !== undefined && isSo(stored)) return stored.task;
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`It did not come to that: ${JSON.stringify((await store.getTask(id))?.task)}`);
  };
  const create = async (id: string, ticket = "") => {
    const facts = { ...(await core.factsOf({ ...blankIdentity, id, project: "coffee" } as never)), poolFull: false };
    const stored = await core.store.createTask("coffee", (number) => {
      const named = { id, project: "coffee", number, summary: "Brew", branch: `signalbox/${id}`, ticket };
      const given = { ...blankIdentity, ...named };
      const decision = createTask(workflow, given, facts);
      if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
      const { task, events, effects } = decision;
      return { task, document: { text: "", authors: {} }, events, effects, at: clock.now() };
    });
    core.changed(stored);
    return until(id, isAtRest);
  };
  const stage = {
    repository,
    remote,
    store,
    core,
    github,
    git,
    remoteAt,
    notes,
    complaints,
    rings,
    until,
    project: async () => (await store.getProject("coffee")) as Project,
    control: async () => (await workspacesOf(await stage.project())).control,
    /** Ports of the forge, which the core has. */
    ports() {
      if (core.forge === undefined) throw new Error("There is no forge.");
      return core.forge;
    },
    pass(milliseconds: number) {
      ahead += milliseconds;
    },
    /** A task with a workspace and one commit of its own. */
    async begin(id = "b1111", ticket = "") {
      await create(id, ticket);
      await core.submit(id, { kind: "continue", actor: human });
      const task = await until(id, (each) => each.task.status === "busy" && isAtRest(each));
      stage.commit(task.workspace, "brewed\n");
      return task;
    },
    /** A task without a workspace: the user's repository has its branch, with one commit of its own. */
    async beginHere(id = "b1111") {
      git(
        repository,
        "branch",
        `signalbox/${id}`,
        git(repository, "commit-tree", "-p", "main", "-m", id, "main^{tree}"),
      );
      return create(id);
    },
    commit(folder: string, text: string): string {
      writeFileSync(join(folder, "cup.md"), text);
      git(folder, "add", "cup.md");
      git(folder, "commit", "-qm", "cup");
      return git(folder, "rev-parse", "HEAD");
    },
    /** Moves the task, and waits until it has settled. */
    async move(id: string, to: string) {
      const { decision } = await core.submit(id, { kind: "move", to, actor: human });
      if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
      return until(id, isAtRest);
    },
    /** Has the task reviewed by a panel whose judge answers with these findings, and waits until it has settled. */
    async review(id: string, findings: readonly object[], ...messages: readonly string[]) {
      const { decision } = await core.submit(id, { kind: "move", to: "reviewed", actor: human });
      if (decision.kind !== "moved") throw new Error(JSON.stringify(decision));
      for (const role of ["scout/1", "judge"]) {
        const { runs } = await until(id, ({ task }) => task.runs[role] !== undefined && task.phase === "waiting");
        for (const text of role === "judge" ? messages : [])
          await core.submit(id, {
            ...{ kind: "message", actor: { role: "judge", run: `${runs[role]?.key}` } },
            ...{ to: "resting", priority: "normal", text },
          });
        await core.submit(id, { kind: "ended", run: `${runs[role]?.key}`, word: "ok", answer: { findings } });
      }
      return until(id, isAtRest);
    },
    /** Lets the watch poll once, and waits until it has. */
    async look() {
      // The watch sets its next timer after it has recorded what it saw.
      for (let i = 0; i < 1_000 && rings.length === 0; i++) await new Promise((resolve) => setTimeout(resolve, 5));
      const [timer] = rings.splice(0, 1);
      if (timer === undefined) throw new Error("Nobody is going to look.");
      const records = () => store.pullRequests.list({});
      const seenBefore = (await records()).map(({ seenAt }) => seenAt).join();
      ahead += 1;
      timer.ring();
      for (let i = 0; i < 2_000 && rings.length === 0; i++) {
        const now = await records();
        if (now.map(({ seenAt }) => seenAt).join() !== seenBefore) break;
        // Then there is nothing to wait for.
        if (i > 10 && now.every(({ state }) => state !== "open")) break;
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      // The record is written before the last event.
      await new Promise((resolve) => setTimeout(resolve, 20));
    },
    events: async (id: string, type: string) =>
      (await store.listEvents({ task: id }, 0, 500)).map(({ event }) => event).filter((event) => event.type === type),
  };
  return stage;
}
