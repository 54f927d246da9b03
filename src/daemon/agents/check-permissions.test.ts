import { expect, test } from "vitest";
import { loadText } from "../../../test/engine/drive.ts";
import { command } from "../../adapters/harness/command/command.ts";
import { scripted } from "../../adapters/harness/scripted.ts";
import { spawnCommands } from "../../adapters/system.ts";
import type { Harness } from "../../ports/harness.ts";
import { areAllowed, areConfined, fullPermissionRuns } from "./harnesses.ts";

const definition = { name: "oracle", title: "The Oracle", turn: { argv: ["oracle"] } };
const all: readonly Harness[] = [
  command(definition, { commands: spawnCommands, env: {} }),
  scripted({ program: ["node", "agent.js"], version: "1", state: "/s", script: "" }),
];
const harnesses = () => new Map(all.map((each) => [each.name, each]));

const workflow = loadText(`name: flow
version: 1
states:
  plan: { agent: { role: planner, mode: turn, prompt: work, tools: [Read, Grep, WebSearch] }, next: build }
  build: { agent: { role: builder, mode: turn, prompt: work }, next: mend }
  mend: { agent: { role: mender, mode: turn, prompt: work, tools: [Read, Edit] }, next: look }
  look: { agent: { role: looker, mode: turn, prompt: work, harness: review, permissions: reduced }, next: end }
  end: { terminal: true }
prompts: { work: "Work on {summary}." }
`);

test("a run that may write or execute has full permissions, a run that may only read has not", () => {
  const task = { harness: "oracle", reviewHarness: "oracle" };
  expect(fullPermissionRuns(harnesses, workflow, task)).toEqual([
    { harness: "oracle", title: "The Oracle", roles: ["builder", "mender"] },
  ]);
});

test("neither the scripted agent nor an unknown harness has full permissions", () => {
  for (const harness of ["scripted", "unheard-of"])
    expect(fullPermissionRuns(harnesses, workflow, { harness, reviewHarness: "oracle" })).toEqual([]);
});

test("runs with full permissions are confined unless the user or the workflow turns the sandbox off", () => {
  const task = { harness: "oracle", reviewHarness: "oracle" };
  const free = loadText(`name: free
version: 1
states:
  look: { agent: { role: looker, mode: turn, prompt: work, permissions: reduced }, next: build }
  build: { agent: { role: builder, mode: turn, prompt: work, sandbox: off }, next: end }
  end: { terminal: true }
prompts: { work: "Work on {summary}." }
`);
  const confined = (flow: typeof free, agentsSandbox: "auto" | "on" | "off") =>
    areConfined(harnesses, flow, task, { agentsSandbox });
  expect([confined(workflow, "auto"), confined(workflow, "off")]).toEqual([true, false]);
  expect([confined(free, "auto"), confined(free, "on")]).toEqual([false, true]);
});

test("full permissions are allowed for one project or for all", () => {
  const allowed = (agentsFullPermissions: "allow" | "ask", fullPermissions?: "allow" | "ask") =>
    areAllowed({ agentsFullPermissions }, fullPermissions === undefined ? {} : { fullPermissions });
  expect([allowed("ask"), allowed("ask", "ask"), allowed("ask", "allow"), allowed("allow", "ask")]).toEqual([
    ...[false, false, true, true],
  ]);
  expect(areAllowed({ agentsFullPermissions: "ask" }, undefined)).toBe(false);
});
