import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { plainRun } from "../../engine/run-spec.ts";
import type { RunSpec } from "../../engine/workflow.ts";
import { type AgentConfig, agentConfig } from "../../home/agent-fields.ts";
import { homePlaces } from "../../home/places.ts";
import type { Harness, HarnessOrder, Launch } from "../../ports/harness.ts";
import type { SandboxPlan, SandboxState } from "../../ports/sandbox.ts";
import type { Project } from "../../ports/store.ts";
import type { Log } from "../../ports/system.ts";
import { createConfine, installFolders, sandboxChoice } from "./confine.ts";

const base = mkdtempSync(join(tmpdir(), "signalbox-confine-"));
afterAll(() => rmSync(base, { recursive: true, force: true }));
const [home, clone, worktree, user] = ["box", "clone", "worktree", "user"].map((name) => join(base, name)) as [
  ...[string, string, string, string],
];
mkdirSync(join(clone, ".git"), { recursive: true });
mkdirSync(worktree);
writeFileSync(join(worktree, ".git"), "gitdir: /elsewhere\n");
mkdirSync(join(user, ".m2", "repository"), { recursive: true });

/** A repository with a linked worktree. */
const shop = join(base, "shop");
mkdirSync(join(shop, ".git", "worktrees", "side"), { recursive: true });
writeFileSync(join(shop, ".git", "worktrees", "side", "gitdir"), `${join(base, "side", ".git")}\n`);

const works: SandboxState = { works: true, path: "/usr/bin/bwrap", version: "0.8.0" };
const broken: SandboxState = { works: false, reason: "It is not installed.", fix: "Install it." };

interface Stage {
  readonly state?: SandboxState;
  readonly config?: Partial<AgentConfig>;
}

function stageOf({ state = works, config = {} }: Stage) {
  const plans: SandboxPlan[] = [];
  const warnings: string[] = [];
  const log = { warn: (text: string) => warnings.push(text) } as unknown as Log;
  const confine = createConfine({
    ...{ home, log, places: homePlaces(home), config: () => agentConfig(config) },
    store: { listProjects: async () => [shop, join(user, "opened")].map((path) => ({ path }) as Project) },
    sandbox: {
      detect: async () => state,
      async wrap(plan) {
        plans.push(plan);
        return ["bwrap", ...plan.argv];
      },
    },
  });
  const run = (change: Partial<RunSpec> = {}, folder = clone, more: Partial<Harness> = {}) => {
    const spec = { ...plainRun("worker"), ...change };
    const runFolder = join(home, "runs", "t-1");
    const env = { HOME: user, PATH: "/usr/bin", SSH_AUTH_SOCK: "/run/ssh", TMPDIR: join(base, "tmp") };
    const server = { MODEL_BASE_URL: "https://models.example.org:8443/v1" };
    const order = {
      ...{ folder, runFolder, permissions: spec.permissions, taskFile: join(folder, "TASK.md") },
      env: { ...env, ...server, SIGNALBOX_EVENTS: join(runFolder, "hooks", "events") },
    } as unknown as HarnessOrder;
    const launch = { argv: ["agent"], env: order.env, input: "", message: "", session: "" } as Launch;
    const harness = { title: "Agent", ...more } as Harness;
    return confine({ project: "coffee", spec, harness, order, launch });
  };
  return { run, plans, warnings };
}

test("the user's on holds; otherwise the workflow's word counts before the user's", () => {
  const choices = (["auto", "on", "off"] as const).map((agentsSandbox) =>
    ([undefined, "auto", "on", "off"] as const).map((sandbox) => sandboxChoice({ agentsSandbox }, { sandbox })),
  );
  expect(choices).toEqual([
    ["auto", "auto", "on", "off"],
    ["on", "on", "on", "on"],
    ["off", "auto", "on", "off"],
  ]);
});

test("where a sandbox works, a run in a clone gets one", async () => {
  const { run, plans } = stageOf({});
  const { argv, env, isConfined } = await run();
  expect([argv, isConfined]).toEqual([["bwrap", "agent"], true]);
  expect(env.SSH_AUTH_SOCK).toBeUndefined();
  expect(plans[0]).toMatchObject({
    folder: clone,
    work: "write",
    home: user,
    closed: home,
    network: "open",
    nests: false,
  });
});

test("a run with reduced permissions may change only its task file, and has caches apart from those of workers", async () => {
  const { run, plans } = stageOf({});
  await run();
  await run({ permissions: "reduced" });
  expect(plans[1]?.work).toEqual({ files: [join(clone, "TASK.md")] });
  const froms = plans.map(({ placed }) => placed.map(({ from }) => from));
  expect(froms[0]?.filter((from) => froms[1]?.includes(from))).toEqual([]);
  expect(plans[0]?.placed.map(({ at }) => at)).toContain(join(user, ".m2", "repository"));
});

test("auto does without a sandbox where none can be made, and warns once for each reason", async () => {
  const { run, warnings } = stageOf({ state: broken });
  for (let i = 0; i < 3; i++) expect(await run()).toMatchObject({ argv: ["agent"], isConfined: false });
  expect(warnings).toEqual(["Agents run without a sandbox: It is not installed. Install it."]);
  const clones = stageOf({});
  expect((await clones.run({}, worktree)).isConfined).toBe(false);
  expect(clones.warnings.join()).toContain("worktree");
});

test("on refuses a run that cannot have a sandbox, with the reason and what to do", async () => {
  const config = { agentsSandbox: "on" } as const;
  await expect(stageOf({ state: broken, config }).run()).rejects.toMatchObject({
    code: "sandbox.missing",
    message: expect.stringContaining("It is not installed."),
    hint: expect.stringContaining("Install it."),
  });
  await expect(stageOf({ config }).run({ sandbox: "off" }, worktree)).rejects.toMatchObject({
    code: "sandbox.missing",
  });
  await expect(stageOf({}).run({ sandbox: "on" }, worktree)).rejects.toMatchObject({ code: "sandbox.missing" });
});

test("the network is closed only in a sandbox, and only to a harness that can do without", async () => {
  const { run, plans } = stageOf({});
  await run({ network: "off" });
  expect(plans[0]?.network).toBe("closed");
  await expect(run({ network: "off" }, worktree)).rejects.toMatchObject({ code: "sandbox.network" });
  await expect(run({ network: "off" }, clone, { needsNetwork: true })).rejects.toMatchObject({
    code: "sandbox.network",
  });
});

test("the user's paths are added, but none of Signalbox's own home", async () => {
  const config = {
    agentsSandboxRead: ["~/.gitconfig", `${home}/human.token`, home],
    agentsSandboxWrite: ["/srv/data"],
  };
  const { run, plans } = stageOf({ config });
  await run();
  expect(plans[0]?.read).toContain(join(user, ".gitconfig"));
  expect(plans[0]?.read).not.toContain(home);
  expect(plans[0]?.read).not.toContain(`${home}/human.token`);
  expect(plans[0]?.write).toContain("/srv/data");
});

test("a program brings its folder and its packages, and never the user's home", () => {
  const packages = "/home/me/tools/node_modules";
  expect(installFolders(`${packages}/.bin/agent`, "/home/me")).toEqual([`${packages}/.bin`, packages]);
  expect(installFolders("/home/me/agent", "/home/me")).toEqual([]);
  expect(installFolders("/home/me/.local/bin/agent", "/home/me")).toEqual(["/home/me/.local/bin"]);
  const nodes = join(base, "node");
  mkdirSync(join(nodes, "lib", "node_modules"), { recursive: true });
  expect(installFolders(join(nodes, "bin", "agent"), user)).toEqual([join(nodes, "bin"), nodes]);
});

test("with a proxy, a run reaches what its harness needs, the user's servers and the user's list", async () => {
  const { run, plans } = stageOf({ config: { agentsNetworkAllow: ["registry.npmjs.org", "api.example.org"] } });
  await run({ network: "proxy" }, clone, { needsNetwork: true, hosts: ["api.example.org"] });
  expect(plans[0]?.network).toEqual({
    folder: join(home, "runs", "t-1", "proxy"),
    hosts: ["api.example.org", "models.example.org:8443", "registry.npmjs.org"],
  });
});

test("a proxy needs a sandbox, and a harness that works through one", async () => {
  const { run } = stageOf({});
  await expect(run({ network: "proxy" }, worktree)).rejects.toMatchObject({
    ...{ code: "sandbox.network", hint: expect.stringContaining("network: proxy") },
  });
  await expect(run({ network: "proxy" }, clone, { needsNetwork: true })).rejects.toThrow(
    "Agent cannot work through a proxy.",
  );
});

test("a sandbox conceals all projects with their linked worktrees, unless the user opens a folder around them", async () => {
  const { run, plans } = stageOf({ config: { agentsSandboxRead: ["~/opened"] } });
  await run();
  expect(plans[0]?.concealed).toEqual(expect.arrayContaining([shop, join(base, "side")]));
  expect(plans[0]?.concealed).not.toContain(join(user, "opened"));
});
